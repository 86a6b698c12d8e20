"""Triggers that lock what a started study holds: its batches, their sets, examples and gold.

A batch is held once it has its gold version, which the start gives it. What it holds is neither
changed nor deleted, whoever asks; gold is corrected by adding a version, and a task may get new
sets and examples. Refusals surface in Django as IntegrityError.

The conditions name other tables, and SQLite remakes no table that a trigger names: so the locks
are lifted while a migration runs, and made again after it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from annotation.models.benchmark import HELD_FIELDS
from annotation.models.triggers import FINAL_TABLES, missing_triggers, present_triggers
from annotation.models.triggers import REFUSAL as FINAL

REFUSAL = "What a started study holds, and what was paid in it, is never changed or deleted."
# By its key, in the way of SQLite's REPLACE.
REPLACED = "A row with this key is there already, and it is final: no other takes its place."

_HELD_TASK = """EXISTS (
    SELECT 1 FROM annotation_batch
    WHERE task_id = {id} AND gold_version_id IS NOT NULL)"""
_HELD_SET = """EXISTS (
    SELECT 1 FROM annotation_batch
    WHERE (training_set_id = {id} OR test_set_id = {id}) AND gold_version_id IS NOT NULL)"""
_HELD_EXAMPLE = """EXISTS (
    SELECT 1 FROM annotation_item JOIN annotation_batch
        ON training_set_id = item_set_id OR test_set_id = item_set_id
    WHERE example_id = {id} AND gold_version_id IS NOT NULL)"""
_HELD_GOLD = """EXISTS (
    SELECT 1 FROM annotation_goldversion AS mine JOIN annotation_batch
        ON annotation_batch.task_id = mine.task_id
    WHERE mine.id = {id} AND gold_version_id IS NOT NULL)"""
# A version that a started study shows, or one before it: gold in it would change what was shown.
_SHOWN_VERSION = """EXISTS (
    SELECT 1 FROM annotation_batch JOIN annotation_goldversion AS shown
        ON shown.id = gold_version_id
    WHERE shown.task_id = {row}.task_id AND shown.number >= {row}.number)"""
_SHOWN_GOLD = """EXISTS (
    SELECT 1 FROM annotation_goldversion AS mine
    JOIN annotation_goldversion AS shown
        ON shown.task_id = mine.task_id AND shown.number >= mine.number
    JOIN annotation_batch ON gold_version_id = shown.id
    WHERE mine.id = {row}.version_id)"""
_STARTED_STUDY = """EXISTS (
    SELECT 1 FROM annotation_study WHERE id = {row}.study_id AND state <> 'draft')"""
# The one kind of study whose judgements the database lets go: of simulated annotators alone.
_REHEARSAL = """EXISTS (
    SELECT 1 FROM annotation_study WHERE id = {row}.study_id AND is_rehearsal)"""
_OF_REHEARSAL = """EXISTS (
    SELECT 1 FROM annotation_assignment JOIN annotation_study
        ON annotation_study.id = annotation_assignment.study_id
    WHERE annotation_assignment.id = {row}.assignment_id AND is_rehearsal)"""
_PERSON_IN_REHEARSAL = (
    _REHEARSAL
    + """ AND NOT EXISTS (
    SELECT 1 FROM annotation_annotator JOIN annotation_channel
        ON annotation_channel.id = annotation_annotator.channel_id
    WHERE annotation_annotator.id = {row}.annotator_id AND is_simulated)"""
)
_JUDGED = """EXISTS (
    SELECT 1 FROM annotation_judgement WHERE assignment_id = {id})"""


@dataclass(frozen=True)
class Lock:
    """A verb that is refused on the rows of a table for which the condition holds; {row} stands
    for such a row."""

    table: str
    verb: str
    condition: str
    # For UPDATE: refused if one of these columns changes. Empty means any update at all.
    columns: Sequence[str] = ()
    # For UPDATE: refused too if the condition holds afterwards, as another row may move there.
    after: bool = False
    refusal: str = REFUSAL

    @property
    def name(self) -> str:
        return f"{self.table}_held_{self.verb.lower()}"


def _of(condition: str, column: str) -> str:
    return condition.format(id=f"{{row}}.{column}")


_BATCH_HELD = "{row}.gold_version_id IS NOT NULL"
# More places may be wanted, and a link may be renewed.
_BATCH_COLUMNS = [
    *("id", "study_id", "task_id", "training_set_id", "test_set_id"),
    *("chain", "description", "gold_version_id"),
]
_TASK_COLUMNS = ("id", "benchmark_id", *sorted(HELD_FIELDS))
_WHOSE_COLUMNS = ["id", "annotator_id", "batch_id", "study_id", "exposure_key", "order_seed"]

LOCKS = (
    Lock("annotation_batch", "INSERT", _STARTED_STUDY),
    Lock("annotation_batch", "UPDATE", _BATCH_HELD, _BATCH_COLUMNS),
    Lock("annotation_batch", "DELETE", f"{_BATCH_HELD} AND NOT {_REHEARSAL}"),
    Lock("annotation_task", "UPDATE", _of(_HELD_TASK, "id"), _TASK_COLUMNS),
    Lock("annotation_task", "DELETE", _of(_HELD_TASK, "id")),
    Lock("annotation_example", "UPDATE", _of(_HELD_EXAMPLE, "id")),
    Lock("annotation_example", "DELETE", _of(_HELD_EXAMPLE, "id")),
    Lock("annotation_itemset", "UPDATE", _of(_HELD_SET, "id")),
    Lock("annotation_itemset", "DELETE", _of(_HELD_SET, "id")),
    Lock("annotation_item", "INSERT", _of(_HELD_SET, "item_set_id")),
    Lock("annotation_item", "UPDATE", _of(_HELD_SET, "item_set_id"), after=True),
    Lock("annotation_item", "DELETE", _of(_HELD_SET, "item_set_id")),
    Lock("annotation_goldversion", "INSERT", _SHOWN_VERSION),
    Lock("annotation_goldversion", "UPDATE", _of(_HELD_TASK, "task_id"), after=True),
    Lock("annotation_goldversion", "DELETE", _of(_HELD_TASK, "task_id")),
    Lock("annotation_gold", "INSERT", _SHOWN_GOLD),
    Lock("annotation_gold", "UPDATE", _of(_HELD_GOLD, "version_id"), after=True),
    Lock("annotation_gold", "DELETE", _of(_HELD_GOLD, "version_id")),
    Lock("annotation_study", "UPDATE", "{row}.id IS NOT NULL", ["id", "is_rehearsal"]),
    Lock("annotation_study", "DELETE", "{row}.state <> 'draft' AND NOT {row}.is_rehearsal"),
    Lock("annotation_judgement", "DELETE", f"NOT {_OF_REHEARSAL}", refusal=FINAL),
    Lock("annotation_assignment", "INSERT", _PERSON_IN_REHEARSAL),
    Lock("annotation_assignment", "UPDATE", _of(_JUDGED, "id"), _WHOSE_COLUMNS),
    Lock("annotation_assignment", "DELETE", _of(_JUDGED, "id")),
    # The ledger of payments is only ever added to.
    Lock("annotation_paymentline", "UPDATE", "1 = 1"),
    Lock("annotation_paymentline", "DELETE", "1 = 1"),
)
LOCKED_TABLES = tuple(dict.fromkeys(lock.table for lock in LOCKS))
# On PostgreSQL; those of triggers.py have a trigger for this already.
_NEVER_EMPTIED = tuple(table for table in LOCKED_TABLES if table not in FINAL_TABLES)
# The keys by which SQLite's REPLACE would push a row out without asking the locks.
KEYS: dict[str, Sequence[Sequence[str]]] = {
    "annotation_study": (["slug"], ["join_token"]),
    "annotation_judgement": (["assignment_id", "example_id"], ["assignment_id", "step"]),
    "annotation_batch": (["join_token"], ["study_id", "training_set_id", "test_set_id"]),
    "annotation_task": (["benchmark_id", "slug"],),
    "annotation_example": (["task_id", "identity"],),
    "annotation_itemset": (["task_id", "name"],),
    "annotation_item": (["item_set_id", "position"], ["item_set_id", "example_id"]),
    "annotation_goldversion": (["task_id", "number"],),
    "annotation_gold": (["example_id", "version_id"],),
    "annotation_assignment": (["resume_token"],),
    "annotation_paymentline": (["assignment_id", "purpose", "correction"],),
}
# The same for constraints with a condition, which holds for both rows alike.
PARTIAL_KEYS: dict[str, Sequence[tuple[Sequence[str], str]]] = {
    "annotation_batch": ((["study_id", "test_set_id"], "{row}.training_set_id IS NULL"),),
    "annotation_assignment": (
        (["annotator_id", "exposure_key"], "{row}.outcome <> 'declined'"),
        (["annotator_id", "study_id"], "{row}.outcome = ''"),
    ),
}


def create_locks(connection: BaseDatabaseWrapper) -> None:
    of_vendor = {"sqlite": _sqlite_statements, "postgresql": _postgres_statements}
    with connection.cursor() as cursor:
        for statement in of_vendor[connection.vendor]():
            cursor.execute(statement)


def drop_locks(connection: BaseDatabaseWrapper) -> None:
    present = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        for name, table in _names(connection.vendor).items():
            if table in present:
                on_table = "" if connection.vendor == "sqlite" else f" ON {table}"
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}{on_table}")


def missing_locks(connection: BaseDatabaseWrapper) -> list[str]:
    present = present_triggers(connection)
    return [name for name in _names(connection.vendor) if name not in present]


def lift_locks(
    sender: AppConfig, using: str, plan: Sequence[object] = (), **kwargs: object
) -> None:
    """Before a migration, where the database needs it."""
    if plan and connections[using].vendor == "sqlite":
        drop_locks(connections[using])


def restore_locks(sender: AppConfig, using: str, **kwargs: Any) -> None:
    """After a migration: as this version of the application wants them."""
    connection = connections[using]
    tables = set(connection.introspection.table_names())
    if not {*LOCKED_TABLES, *KEYS} <= tables:
        return
    drop_locks(connection)
    create_locks(connection)
    if missing := missing_locks(connection):
        raise RuntimeError(f"The database refused to make the triggers {', '.join(missing)}.")


def _names(vendor: str) -> dict[str, str]:
    """Every trigger with its table."""
    names = {lock.name: lock.table for lock in LOCKS}
    if vendor == "sqlite":
        return names | {
            f"{table}_replaced_by_{verb}": table for table in KEYS for verb in ("insert", "update")
        }
    return names | {f"{table}_held_truncate": table for table in _NEVER_EMPTIED}


# SQLite


def _sqlite_statements() -> list[str]:
    return [
        *(
            _sqlite_trigger(
                lock.name, lock.verb, lock.table, _refused(lock, "IS NOT"), lock.refusal
            )
            for lock in LOCKS
        ),
        *(statement for table in KEYS for statement in _sqlite_guards(table)),
    ]


def _sqlite_trigger(
    name: str, event: str, table: str, condition: str, refusal: str = REFUSAL
) -> str:
    return (
        f"CREATE TRIGGER IF NOT EXISTS {name} BEFORE {event} ON {table} FOR EACH ROW "
        f"WHEN {condition} BEGIN SELECT RAISE(ABORT, '{refusal}'); END"
    )


def _refused(lock: Lock, differs: str) -> str:
    rows = ["NEW"] if lock.verb == "INSERT" else ["OLD", "NEW"] if lock.after else ["OLD"]
    held = " OR ".join(f"({lock.condition.format(row=row)})" for row in rows)
    if not lock.columns:
        return held
    changed = " OR ".join(f"OLD.{column} {differs} NEW.{column}" for column in lock.columns)
    return f"({changed}) AND ({held})"


def _sqlite_guards(table: str) -> list[str]:
    """REPLACE deletes what is in its way, and without recursive_triggers asks no trigger."""
    same = [_same(table, key) for key in KEYS[table]]
    same += [_same(table, *partial) for partial in PARTIAL_KEYS.get(table, ())]
    inserted = " OR ".join(f"EXISTS ({rows})" for rows in [_same(table, ["id"]), *same])
    moved = " OR ".join(f"EXISTS ({rows} AND present.id <> OLD.id)" for rows in same)
    return [
        _sqlite_trigger(f"{table}_replaced_by_{verb}", verb, table, condition, REPLACED)
        for verb, condition in (("insert", inserted), ("update", f"NEW.id <> OLD.id OR {moved}"))
    ]


def _same(table: str, key: Sequence[str], condition: str = "") -> str:
    equal = [f"present.{column} = NEW.{column}" for column in key]
    if condition:
        equal += [condition.format(row=row) for row in ("present", "NEW")]
    return f"SELECT 1 FROM {table} AS present WHERE {' AND '.join(equal)}"


# PostgreSQL

_POSTGRES_FUNCTION = """
CREATE OR REPLACE FUNCTION {name}() RETURNS trigger AS $$
BEGIN
    IF {condition} THEN RAISE EXCEPTION '{refusal}' USING ERRCODE = 'restrict_violation'; END IF;
    RETURN COALESCE(NEW, OLD);
END
$$ LANGUAGE plpgsql
"""


def _postgres_statements() -> list[str]:
    statements = [statement for lock in LOCKS for statement in _postgres_lock(lock)]
    for table in _NEVER_EMPTIED:
        name = f"{table}_held_truncate"
        statements += [
            _POSTGRES_FUNCTION.format(name=name, condition="TRUE", refusal=REFUSAL),
            f"CREATE OR REPLACE TRIGGER {name} BEFORE TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {name}()",
        ]
    return statements


def _postgres_lock(lock: Lock) -> list[str]:
    if lock.verb == "INSERT":
        # Per statement: per row, an import takes noticeably longer.
        moment, rows = "AFTER", "REFERENCING NEW TABLE AS added FOR EACH STATEMENT"
        condition = f"EXISTS (SELECT 1 FROM added WHERE {lock.condition.format(row='added')})"
    else:
        moment, rows = "BEFORE", "FOR EACH ROW"
        condition = _refused(lock, "IS DISTINCT FROM")
    function = _POSTGRES_FUNCTION.format(name=lock.name, condition=condition, refusal=lock.refusal)
    return [
        function,
        f"CREATE OR REPLACE TRIGGER {lock.name} {moment} {lock.verb} ON {lock.table} {rows} "
        f"EXECUTE FUNCTION {lock.name}()",
    ]


@register(Tags.database)
def judgements_are_final(
    databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    errors: list[CheckMessage] = []
    for alias in databases or []:
        connection = connections[alias]
        if not set(FINAL_TABLES) <= set(connection.introspection.table_names()):
            continue  # not migrated yet
        errors += [
            Warning(
                f"The trigger {name} is missing: judgements could be changed.",
                hint="Run manage.py migrate.",
                id="annotation.W001",
            )
            for name in missing_triggers(connection)
        ]
        errors += [
            Warning(
                f"The trigger {name} is missing: what a started study holds could be changed.",
                hint="Run manage.py migrate.",
                id="annotation.W002",
            )
            for name in missing_locks(connection)
        ]
    return errors

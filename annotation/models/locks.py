"""Triggers that lock what is final and what a started study holds: its batches, their sets,
examples and gold.

A judgement is never changed, whoever asks, nor deleted outside of rehearsals. A batch is held once
it has its gold version, which the start gives it. What it holds is neither changed nor deleted;
gold is corrected by adding a version, and a task may get new sets and examples. Refusals surface in
Django as IntegrityError.

The conditions name other tables, and SQLite remakes no table that a trigger names: so the locks
are lifted while a migration runs, and made again after it. The triggers that never let a judgement
change name no other table, and stay.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from annotation.models.benchmark import HELD_FIELDS
from annotation.models.study import COMPARISON

FINAL = "A judgement is final: it is never changed or deleted."
REFUSAL = "What a started study holds, and what was paid in it, is never changed or deleted."
LOGGED = "The log of changes is only ever added to."
# By its key, in the way of SQLite's REPLACE.
REPLACED = "A row with this key is there already, and it is final: no other takes its place."

_TASK_IS_HELD = """(EXISTS (
    SELECT 1 FROM annotation_batch
    WHERE task_id = {task} AND gold_version_id IS NOT NULL)
    OR EXISTS (
    SELECT 1 FROM annotation_batch JOIN annotation_itemset
        ON annotation_itemset.id = check_set_id
    WHERE annotation_itemset.task_id = {task} AND gold_version_id IS NOT NULL))"""
_HELD_TASK = _TASK_IS_HELD.replace("{task}", "{id}")
_HELD_SET = """EXISTS (
    SELECT 1 FROM annotation_batch
    WHERE {id} IN (check_set_id, training_set_id, test_set_id) AND gold_version_id IS NOT NULL)"""
_HELD_EXAMPLE = """EXISTS (
    SELECT 1 FROM annotation_item JOIN annotation_batch
        ON item_set_id IN (check_set_id, training_set_id, test_set_id)
    WHERE example_id = {id} AND gold_version_id IS NOT NULL)"""
_HELD_GOLD = f"""EXISTS (
    SELECT 1 FROM annotation_goldversion AS mine
    WHERE mine.id = {{id}} AND {_TASK_IS_HELD.format(task="mine.task_id")})"""
# A version that a started study shows, or one before it: gold in it would change what was shown.
_SHOWN_VERSION = """EXISTS (
    SELECT 1 FROM annotation_batch JOIN annotation_goldversion AS shown
        ON shown.id IN (gold_version_id, check_gold_version_id)
    WHERE shown.task_id = {row}.task_id AND shown.number >= {row}.number)"""
_SHOWN_GOLD = """EXISTS (
    SELECT 1 FROM annotation_goldversion AS mine
    JOIN annotation_goldversion AS shown
        ON shown.task_id = mine.task_id AND shown.number >= mine.number
    JOIN annotation_batch ON shown.id IN (gold_version_id, check_gold_version_id)
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
_PERSON_AMONG_SIMULATED = (
    _REHEARSAL.replace("is_rehearsal", "(is_rehearsal OR is_demonstration)")
    + """ AND NOT EXISTS (
    SELECT 1 FROM annotation_annotator JOIN annotation_channel
        ON annotation_channel.id = annotation_annotator.channel_id
    WHERE annotation_annotator.id = {row}.annotator_id AND is_simulated)"""
)
_OF_HELD_BENCHMARK = """EXISTS (
    SELECT 1 FROM annotation_task JOIN annotation_batch ON task_id = annotation_task.id
    WHERE benchmark_id = {row}.benchmark_id AND gold_version_id IS NOT NULL)"""
_FROM_ELSEWHERE = """EXISTS (
    SELECT 1 FROM annotation_assignment JOIN annotation_study
        ON annotation_study.id = annotation_assignment.study_id
    WHERE annotation_assignment.id = {row}.assignment_id AND source <> '')"""
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
    # The end of its name; by the verb, unless it has one of its own.
    called: str = ""

    @property
    def name(self) -> str:
        return f"{self.table}_{self.called or f'held_{self.verb.lower()}'}"


def _of(condition: str, column: str) -> str:
    return condition.format(id=f"{{row}}.{column}")


_BATCH_HELD = "{row}.gold_version_id IS NOT NULL"
# More places may be wanted, and a link may be renewed.
_BATCH_COLUMNS = [
    *("id", "study_id", "task_id", "training_set_id", "test_set_id", "check_set_id"),
    *("pool_id", "chain"),
    *("description", "gold_version_id", "check_description", "check_gold_version_id"),
]
# What is claimed was named before; and nobody's items change places.
_NAMED_COLUMNS = [
    *(*COMPARISON, "known_people", "min_check_score", "shuffle_by", "shuffle_options"),
    *("unanswerable_reason", "screening_reason", "has_decoy"),
]
_POOL_COLUMNS = ["id", "study_id", "slug", "name", "about", "min_check_score"]
_TASK_COLUMNS = ("id", "benchmark_id", *sorted(HELD_FIELDS))
_LOG_COLUMNS = ["id", "study_id", "benchmark_id", "token", "action", "before", "after", "at"]
_WHOSE_COLUMNS = ["id", "annotator_id", "batch_id", "study_id", "exposure_key", "order_seed"]

LOCKS = (
    Lock("annotation_batch", "INSERT", _STARTED_STUDY),
    Lock("annotation_batch", "UPDATE", _BATCH_HELD, _BATCH_COLUMNS),
    Lock("annotation_batch", "DELETE", f"{_BATCH_HELD} AND NOT {_REHEARSAL}"),
    Lock("annotation_pool", "INSERT", _STARTED_STUDY),
    Lock("annotation_pool", "UPDATE", _STARTED_STUDY, _POOL_COLUMNS, after=True),
    Lock("annotation_pool", "DELETE", f"{_STARTED_STUDY} AND NOT {_REHEARSAL}"),
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
    Lock(
        *("annotation_study", "UPDATE", "{row}.id IS NOT NULL"),
        ["id", "is_rehearsal", "is_demonstration", "source"],
    ),
    Lock(
        *("annotation_study", "UPDATE", "{row}.state <> 'draft'", _NAMED_COLUMNS),
        called="held_update_named",
    ),
    Lock("annotation_study", "DELETE", "{row}.state <> 'draft' AND NOT {row}.is_rehearsal"),
    Lock("annotation_judgement", "DELETE", f"NOT {_OF_REHEARSAL}", refusal=FINAL),
    # People who work here are scored by their answers alone.
    Lock("annotation_givenscore", "INSERT", f"NOT {_FROM_ELSEWHERE}"),
    Lock("annotation_givenscore", "UPDATE", "1 = 1", refusal=FINAL),
    Lock("annotation_givenscore", "DELETE", "1 = 1", refusal=FINAL),
    Lock("annotation_assignment", "INSERT", _PERSON_AMONG_SIMULATED),
    Lock("annotation_assignment", "UPDATE", _of(_JUDGED, "id"), _WHOSE_COLUMNS),
    Lock("annotation_assignment", "DELETE", _of(_JUDGED, "id")),
    # Paid time only grows, until the work ends.
    Lock(
        *("annotation_assignment", "UPDATE"),
        "OLD.outcome <> '' OR NEW.paid_ms < OLD.paid_ms",
        ["paid_ms"],
        called="held_update_paid",
    ),
    # A user who goes leaves what they did.
    Lock("annotation_change", "UPDATE", "1 = 1", _LOG_COLUMNS, refusal=LOGGED),
    Lock(
        *("annotation_change", "DELETE"),
        f"({_STARTED_STUDY} AND NOT {_REHEARSAL}) OR {_OF_HELD_BENCHMARK}",
        refusal=LOGGED,
    ),
    # The ledger of payments is only ever added to.
    Lock("annotation_paymentline", "UPDATE", "1 = 1"),
    Lock("annotation_paymentline", "DELETE", "1 = 1"),
)
LOCKED_TABLES = tuple(dict.fromkeys(lock.table for lock in LOCKS))
JUDGEMENTS = "annotation_judgement"
# The keys by which SQLite's REPLACE would push a row out without asking the locks.
KEYS: dict[str, Sequence[Sequence[str]]] = {
    "annotation_study": (["slug"], ["join_token"]),
    "annotation_judgement": (["assignment_id", "example_id"], ["assignment_id", "step"]),
    "annotation_givenscore": (["assignment_id", "example_id"],),
    "annotation_batch": (["join_token"], ["pool_id", "training_set_id", "test_set_id"]),
    "annotation_pool": (["join_token"], ["study_id", "slug"], ["study_id", "name"]),
    "annotation_task": (["benchmark_id", "slug"],),
    "annotation_example": (["task_id", "identity"],),
    "annotation_itemset": (["task_id", "name"],),
    "annotation_item": (["item_set_id", "position"], ["item_set_id", "example_id"]),
    "annotation_goldversion": (["task_id", "number"],),
    "annotation_gold": (["example_id", "version_id"],),
    "annotation_assignment": (["resume_token"],),
    "annotation_change": (),
    "annotation_paymentline": (["assignment_id", "purpose", "correction"],),
}
# The same for constraints with a condition, which holds for both rows alike.
PARTIAL_KEYS: dict[str, Sequence[tuple[Sequence[str], str]]] = {
    "annotation_batch": (
        (["study_id", "training_set_id", "test_set_id"], "{row}.pool_id IS NULL"),
        (["study_id", "test_set_id"], "{row}.training_set_id IS NULL AND {row}.pool_id IS NULL"),
        (["pool_id", "test_set_id"], "{row}.training_set_id IS NULL"),
    ),
    "annotation_assignment": (
        (["annotator_id", "exposure_key"], "{row}.outcome <> 'declined'"),
        (["annotator_id", "study_id"], "{row}.outcome = ''"),
    ),
}


# By name its table, and the statements that make it.
Triggers = dict[str, tuple[str, list[str]]]


def create_locks(connection: BaseDatabaseWrapper, triggers: Triggers | None = None) -> None:
    """All of this room, if none are named; on the tables that there are."""
    with connection.cursor() as cursor:
        for _table, statements in _chosen(connection, triggers).values():
            for statement in statements:
                cursor.execute(statement)


def drop_locks(connection: BaseDatabaseWrapper, triggers: Triggers | None = None) -> None:
    with connection.cursor() as cursor:
        for name, (table, _statements) in _chosen(connection, triggers).items():
            on_table = "" if connection.vendor == "sqlite" else f" ON {table}"
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}{on_table}")


@contextmanager
def unlocked(table: str) -> Iterator[None]:
    """While rows go whose time is over, in one transaction, as old lines of the log of changes."""
    triggers = held_triggers(connection.vendor)
    lifted = {name: trigger for name, trigger in triggers.items() if trigger[0] == table}
    with transaction.atomic():
        drop_locks(connection, lifted)
        yield
        create_locks(connection, lifted)


def _chosen(connection: BaseDatabaseWrapper, triggers: Triggers | None) -> Triggers:
    present = set(connection.introspection.table_names())
    chosen = _all_triggers(connection) if triggers is None else triggers
    return {name: trigger for name, trigger in chosen.items() if trigger[0] in present}


def missing_locks(connection: BaseDatabaseWrapper) -> list[str]:
    source = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
        "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'",
    }[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(source)
        present = {row[0] for row in cursor.fetchall()}
    return [name for name in _all_triggers(connection) if name not in present]


def lift_locks(
    sender: AppConfig, using: str, plan: Sequence[object] = (), **kwargs: object
) -> None:
    """Drop the locks before a migration, where the database needs it."""
    connection = connections[using]
    if plan and connection.vendor == "sqlite":
        drop_locks(connection, held_triggers(connection.vendor))


def restore_locks(sender: AppConfig | None, using: str, **kwargs: Any) -> None:
    """Make the locks that this version of the application wants, after a migration, which may have
    dropped some."""
    connection = connections[using]
    if not _is_migrated(connection):
        return
    drop_locks(connection, held_triggers(connection.vendor))
    create_locks(connection)
    if missing := missing_locks(connection):
        raise RuntimeError(f"The database refused to make the triggers {', '.join(missing)}.")


@register(Tags.database)
def judgements_are_final(
    databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    return [
        message
        for connection in map(connections.__getitem__, databases or [])
        if _is_migrated(connection)
        for message in map(_missing, missing_locks(connection))
    ]


def _missing(name: str) -> CheckMessage:
    is_final = name.startswith(f"{JUDGEMENTS}_no_")
    rows, number = ("judgements", 1) if is_final else ("what a started study holds", 2)
    return Warning(
        f"The trigger {name} is missing: {rows} could be changed.",
        hint="Run manage.py migrate.",
        id=f"annotation.W00{number}",
    )


def _is_migrated(connection: BaseDatabaseWrapper) -> bool:
    return {*LOCKED_TABLES, *KEYS} <= set(connection.introspection.table_names())


def _all_triggers(connection: BaseDatabaseWrapper) -> Triggers:
    return final_triggers(connection.vendor) | held_triggers(connection.vendor)


def final_triggers(vendor: str) -> Triggers:
    """Those that keep every judgement as it is."""
    verbs = {"no_update": "UPDATE"}
    if vendor != "sqlite":
        verbs = {"no_change": "UPDATE", "no_truncate": "TRUNCATE"}
    locks = [
        Lock(JUDGEMENTS, verb, "1 = 1", refusal=FINAL, called=called)
        for called, verb in verbs.items()
    ]
    return triggers_of(locks, vendor)


def held_triggers(vendor: str) -> Triggers:
    """Those of the locks, and what each database needs besides."""
    if vendor == "sqlite":
        return triggers_of(LOCKS, vendor) | _sqlite_guards()
    # No table with a lock is ever emptied; the judgements' has its own trigger for it.
    emptied = [Lock(table, "TRUNCATE", "1 = 1") for table in LOCKED_TABLES if table != JUDGEMENTS]
    return triggers_of([*LOCKS, *emptied], vendor)


def triggers_of(locks: Iterable[Lock], vendor: str) -> Triggers:
    statements_of = _on_sqlite if vendor == "sqlite" else _on_postgres
    return {lock.name: (lock.table, statements_of(lock)) for lock in locks}


def _refused(lock: Lock, differs: str) -> str:
    rows = ["NEW"] if lock.verb == "INSERT" else ["OLD", "NEW"] if lock.after else ["OLD"]
    holds = " OR ".join(f"({lock.condition.format(row=row)})" for row in rows)
    if not lock.columns:
        return holds
    changed = " OR ".join(f"OLD.{column} {differs} NEW.{column}" for column in lock.columns)
    return f"({changed}) AND ({holds})"


# SQLite


def _on_sqlite(lock: Lock) -> list[str]:
    refused = _refused(lock, "IS NOT")
    return [_sqlite_trigger(lock.name, lock.verb, lock.table, refused, lock.refusal)]


def _sqlite_trigger(name: str, event: str, table: str, condition: str, refusal: str) -> str:
    return (
        f"CREATE TRIGGER IF NOT EXISTS {name} BEFORE {event} ON {table} FOR EACH ROW "
        f"WHEN {condition} BEGIN SELECT RAISE(ABORT, '{refusal}'); END"
    )


def _sqlite_guards() -> Triggers:
    """REPLACE deletes what is in its way, and without recursive_triggers asks no trigger."""
    triggers: Triggers = {}
    for table, keys in KEYS.items():
        same = [_same(table, key) for key in keys]
        same += [_same(table, *partial) for partial in PARTIAL_KEYS.get(table, ())]
        inserted = " OR ".join(f"EXISTS ({rows})" for rows in [_same(table, ["id"]), *same])
        elsewhere = [f"EXISTS ({rows} AND present.id <> OLD.id)" for rows in same]
        moved = " OR ".join(["NEW.id <> OLD.id", *elsewhere])
        conditions = {"insert": inserted, "update": moved}
        for verb, condition in conditions.items():
            name = f"{table}_replaced_by_{verb}"
            triggers[name] = (table, [_sqlite_trigger(name, verb, table, condition, REPLACED)])
    return triggers


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


def _on_postgres(lock: Lock) -> list[str]:
    """A function that refuses, and the trigger that asks it: a trigger's own WHEN takes no
    subquery."""
    if lock.verb == "INSERT":
        # Per statement: per row, an import takes noticeably longer.
        moment, rows = "AFTER INSERT", "REFERENCING NEW TABLE AS added FOR EACH STATEMENT"
        condition = f"EXISTS (SELECT 1 FROM added WHERE {lock.condition.format(row='added')})"
    else:
        each = "STATEMENT" if lock.verb == "TRUNCATE" else "ROW"
        moment, rows = f"BEFORE {lock.verb}", f"FOR EACH {each}"
        condition = _refused(lock, "IS DISTINCT FROM")
    name, on = lock.name, f"{moment} ON {lock.table} {rows}"
    return [
        _POSTGRES_FUNCTION.format(name=name, condition=condition, refusal=lock.refusal),
        f"CREATE OR REPLACE TRIGGER {name} {on} EXECUTE FUNCTION {name}()",
    ]

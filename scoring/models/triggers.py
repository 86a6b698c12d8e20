"""Triggers that make complete runs and frozen claims final: the database itself refuses changes.

A whole run can be deleted, unless frozen claims rest on it; its predictions cannot be edited or
added to. Frozen claims go with their rehearsal alone. The refusals surface in Django as
IntegrityError.

Conditions name other tables, and SQLite remakes no table that a trigger names: so they are lifted
while a migration runs, and made again after it.
"""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

REFUSAL = "A complete run is final: import another file as another run."
FROZEN = "What a study claims was frozen: it is never changed or deleted."

_OF_REHEARSAL = """EXISTS (
    SELECT 1 FROM annotation_study WHERE id = OLD.study_id AND is_rehearsal)"""
_RUN_OF_REHEARSAL = """EXISTS (
    SELECT 1 FROM scoring_frozenclaims JOIN annotation_study
        ON annotation_study.id = scoring_frozenclaims.study_id
    WHERE scoring_frozenclaims.id = OLD.claims_id AND is_rehearsal)"""

# Name, event and table, and when it is refused; {added} stands for the inserted rows.
RULES = (
    ("scoring_run_no_change", "UPDATE ON scoring_run", "OLD.state = 'complete'"),
    ("scoring_prediction_no_change", "UPDATE ON scoring_prediction", ""),
    ("scoring_reply_no_change", "UPDATE ON scoring_reply", ""),
    (
        "scoring_prediction_no_addition",
        "INSERT ON scoring_prediction",
        "(SELECT state FROM scoring_run WHERE id = {added}.run_id) = 'complete'",
    ),
    ("scoring_frozenclaims_no_change", "UPDATE ON scoring_frozenclaims", ""),
    (
        "scoring_frozenclaims_no_deletion",
        "DELETE ON scoring_frozenclaims",
        f"NOT {_OF_REHEARSAL}",
    ),
    ("scoring_frozenrun_no_change", "UPDATE ON scoring_frozenrun", ""),
    ("scoring_frozenrun_no_deletion", "DELETE ON scoring_frozenrun", f"NOT {_RUN_OF_REHEARSAL}"),
    # Also for programs that don't look at references.
    (
        "scoring_run_no_deletion_if_frozen",
        "DELETE ON scoring_run",
        "EXISTS (SELECT 1 FROM scoring_frozenrun WHERE run_id = OLD.id)",
    ),
)

# SQLite's REPLACE deletes what is in its way, and without recursive_triggers asks no trigger.
RULES_OF_SQLITE = (
    (
        "scoring_run_no_replacement",
        "INSERT ON scoring_run",
        "EXISTS (SELECT 1 FROM scoring_run AS present WHERE present.state = 'complete' "
        "AND (present.id = NEW.id OR present.checksum = NEW.checksum))",
    ),
    (
        "scoring_run_no_replacement_by_update",
        "UPDATE ON scoring_run",
        "NEW.id <> OLD.id OR EXISTS (SELECT 1 FROM scoring_run AS present "
        "WHERE present.state = 'complete' AND present.checksum = NEW.checksum "
        "AND present.id <> OLD.id)",
    ),
    (
        "scoring_frozenclaims_no_replacement",
        "INSERT ON scoring_frozenclaims",
        "EXISTS (SELECT 1 FROM scoring_frozenclaims AS present WHERE present.id = NEW.id "
        "OR (present.study_id = NEW.study_id AND present.version = NEW.version))",
    ),
    (
        "scoring_frozenrun_no_replacement",
        "INSERT ON scoring_frozenrun",
        "EXISTS (SELECT 1 FROM scoring_frozenrun AS present WHERE present.id = NEW.id "
        "OR (present.claims_id = NEW.claims_id AND present.run_id = NEW.run_id))",
    ),
)

RULES_OF_POSTGRES = tuple(
    (f"{table}_no_truncate", f"TRUNCATE ON {table}", "")
    for table in ("scoring_frozenclaims", "scoring_frozenrun")
)

_POSTGRES_FUNCTION = """
CREATE OR REPLACE FUNCTION {name}() RETURNS trigger AS $$
BEGIN
    IF {condition} THEN RAISE EXCEPTION '{refusal}' USING ERRCODE = 'restrict_violation'; END IF;
    RETURN COALESCE(NEW, OLD);
END
$$ LANGUAGE plpgsql
"""


def create_triggers(connection: BaseDatabaseWrapper) -> None:
    create = _create_on_sqlite if connection.vendor == "sqlite" else _create_on_postgres
    with connection.cursor() as cursor:
        for name, event, condition in _rules(connection):
            for statement in create(name, event, condition):
                cursor.execute(statement)


def lift_triggers(
    sender: AppConfig, using: str, plan: Sequence[object] = (), **kwargs: Any
) -> None:
    """Before a migration, where the database needs it."""
    if plan and connections[using].vendor == "sqlite":
        drop_triggers(connections[using])


def restore_triggers(sender: AppConfig, using: str, **kwargs: Any) -> None:
    create_triggers(connections[using])


def drop_triggers(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        for name, event, _ in _rules(connection):
            on_table = "" if connection.vendor == "sqlite" else f" ON {event.split()[-1]}"
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}{on_table}")
            if connection.vendor == "postgresql":
                cursor.execute(f"DROP FUNCTION IF EXISTS {name}()")


def _rules(connection: BaseDatabaseWrapper) -> Sequence[tuple[str, str, str]]:
    """Those of the tables that there are: a table may be younger than the first triggers."""
    rules = (*RULES, *(RULES_OF_SQLITE if connection.vendor == "sqlite" else RULES_OF_POSTGRES))
    tables = set(connection.introspection.table_names())
    return [rule for rule in rules if rule[1].split()[-1] in tables]


def _refusal(name: str) -> str:
    return FROZEN if "frozen" in name else REFUSAL


def _create_on_sqlite(name: str, event: str, condition: str) -> list[str]:
    when = f"WHEN {condition.format(added='NEW')} " if condition else ""
    return [
        f"CREATE TRIGGER IF NOT EXISTS {name} BEFORE {event} FOR EACH ROW "
        f"{when}BEGIN SELECT RAISE(ABORT, '{_refusal(name)}'); END"
    ]


def _create_on_postgres(name: str, event: str, condition: str) -> list[str]:
    moment, rows = "BEFORE", "FOR EACH STATEMENT" if "TRUNCATE" in event else "FOR EACH ROW"
    if event.startswith("INSERT"):
        # Per statement: per row, storing predictions took a sixth longer.
        moment, rows = "AFTER", "REFERENCING NEW TABLE AS added FOR EACH STATEMENT"
        condition = f"EXISTS (SELECT 1 FROM added WHERE {condition.format(added='added')})"
    # The condition is in the function: a trigger's own WHEN takes no subquery.
    function = _POSTGRES_FUNCTION.format(
        name=name, condition=condition or "TRUE", refusal=_refusal(name)
    )
    trigger = f"CREATE OR REPLACE TRIGGER {name} {moment} {event} {rows} EXECUTE FUNCTION {name}()"
    return [function, trigger]

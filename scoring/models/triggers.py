"""Triggers that make complete runs final: the database itself refuses later changes.

A whole run can be deleted; its predictions cannot be edited or added to. The refusals surface in
Django as IntegrityError.
"""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

REFUSAL = "A complete run is final: import another file as another run."

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
)

_POSTGRES_FUNCTION = """
CREATE OR REPLACE FUNCTION {name}() RETURNS trigger AS $$
BEGIN
    IF {condition} THEN RAISE EXCEPTION '{refusal}' USING ERRCODE = 'restrict_violation'; END IF;
    RETURN NEW;
END
$$ LANGUAGE plpgsql
"""


def create_triggers(connection: BaseDatabaseWrapper) -> None:
    create = _create_on_sqlite if connection.vendor == "sqlite" else _create_on_postgres
    with connection.cursor() as cursor:
        for name, event, condition in _rules(connection):
            for statement in create(name, event, condition):
                cursor.execute(statement)


def restore_triggers(sender: AppConfig, using: str, **kwargs: Any) -> None:
    """After a migration: make the triggers again where a table remake dropped them."""
    connection = connections[using]
    tables = {event.split()[-1] for _, event, _ in RULES}
    if tables <= set(connection.introspection.table_names()):
        create_triggers(connection)


def drop_triggers(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        for name, event, _ in _rules(connection):
            on_table = "" if connection.vendor == "sqlite" else f" ON {event.split()[-1]}"
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}{on_table}")
            if connection.vendor == "postgresql":
                cursor.execute(f"DROP FUNCTION IF EXISTS {name}()")


def _rules(connection: BaseDatabaseWrapper) -> Sequence[tuple[str, str, str]]:
    """Those of the tables that there are: a table may be younger than the first triggers."""
    rules = (*RULES, *RULES_OF_SQLITE) if connection.vendor == "sqlite" else RULES
    tables = set(connection.introspection.table_names())
    return [rule for rule in rules if rule[1].split()[-1] in tables]


def _create_on_sqlite(name: str, event: str, condition: str) -> list[str]:
    when = f"WHEN {condition.format(added='NEW')} " if condition else ""
    return [
        f"CREATE TRIGGER IF NOT EXISTS {name} BEFORE {event} FOR EACH ROW "
        f"{when}BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
    ]


def _create_on_postgres(name: str, event: str, condition: str) -> list[str]:
    moment, rows = "BEFORE", "FOR EACH ROW"
    if event.startswith("INSERT"):
        # Per statement: per row, storing predictions took a sixth longer.
        moment, rows = "AFTER", "REFERENCING NEW TABLE AS added FOR EACH STATEMENT"
        condition = f"EXISTS (SELECT 1 FROM added WHERE {condition.format(added='added')})"
    # The condition is in the function: a trigger's own WHEN takes no subquery.
    function = _POSTGRES_FUNCTION.format(name=name, condition=condition or "TRUE", refusal=REFUSAL)
    trigger = f"CREATE OR REPLACE TRIGGER {name} {moment} {event} {rows} EXECUTE FUNCTION {name}()"
    return [function, trigger]

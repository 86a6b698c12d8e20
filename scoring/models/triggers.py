"""Triggers that make complete runs final: the database itself refuses later changes.

A whole run can be deleted; its predictions cannot be edited or added to. The refusals surface in
Django as IntegrityError.
"""

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

REFUSAL = "A complete run is final: import another file as another run."

# Name, event and table, and when it is refused; {added} stands for the inserted rows.
RULES = (
    ("scoring_run_no_change", "UPDATE ON scoring_run", "OLD.state = 'complete'"),
    ("scoring_prediction_no_change", "UPDATE ON scoring_prediction", ""),
    (
        "scoring_prediction_no_addition",
        "INSERT ON scoring_prediction",
        "(SELECT state FROM scoring_run WHERE id = {added}.run_id) = 'complete'",
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
        for name, event, condition in RULES:
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
        for name, event, _ in RULES:
            on_table = "" if connection.vendor == "sqlite" else f" ON {event.split()[-1]}"
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}{on_table}")
            if connection.vendor == "postgresql":
                cursor.execute(f"DROP FUNCTION IF EXISTS {name}()")


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

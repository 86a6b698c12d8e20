"""Triggers that make judgements final: the database itself refuses to change them. Deleting them
it refuses outside of rehearsals, which a lock tells (locks.py), as it asks other tables.

Refusals surface in Django as IntegrityError.
"""

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

FINAL_TABLES = ("annotation_judgement",)
REFUSAL = "A judgement is final: it is never changed or deleted."

_SQLITE = """
CREATE TRIGGER IF NOT EXISTS {table}_no_{verb}
BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, '{refusal}'); END
"""
_POSTGRES_FUNCTION = f"""
CREATE OR REPLACE FUNCTION annotation_refuse_change() RETURNS trigger AS $$
BEGIN RAISE EXCEPTION '{REFUSAL}' USING ERRCODE = 'restrict_violation'; END
$$ LANGUAGE plpgsql
"""


def create_triggers(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        for statement in _create_statements(connection.vendor):
            cursor.execute(statement)


def drop_triggers(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        for table in FINAL_TABLES:
            for name in _trigger_names(connection.vendor, table):
                on_table = "" if connection.vendor == "sqlite" else f" ON {table}"
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}{on_table}")


def missing_triggers(connection: BaseDatabaseWrapper) -> list[str]:
    present = present_triggers(connection)
    wanted = [name for table in FINAL_TABLES for name in _trigger_names(connection.vendor, table)]
    return [name for name in wanted if name not in present]


def present_triggers(connection: BaseDatabaseWrapper) -> set[str]:
    source = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
        "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'",
    }[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(source)
        return {row[0] for row in cursor.fetchall()}


def restore_triggers(sender: AppConfig, using: str, **kwargs: Any) -> None:
    """After a migration: make the triggers again where a table remake dropped them."""
    connection = connections[using]
    if not set(FINAL_TABLES) <= set(connection.introspection.table_names()):
        return
    create_triggers(connection)
    if missing := missing_triggers(connection):
        raise RuntimeError(f"The database refused to make the triggers {', '.join(missing)}.")


def _trigger_names(vendor: str, table: str) -> list[str]:
    verbs = ["update"] if vendor == "sqlite" else ["change", "truncate"]
    return [f"{table}_no_{verb}" for verb in verbs]


def _create_statements(vendor: str) -> list[str]:
    if vendor == "sqlite":
        return [
            _SQLITE.format(table=table, verb=verb, refusal=REFUSAL)
            for table in FINAL_TABLES
            for verb in ("update",)
        ]
    statements = [_POSTGRES_FUNCTION]
    for table in FINAL_TABLES:
        statements += [
            f"CREATE OR REPLACE TRIGGER {table}_no_change BEFORE UPDATE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION annotation_refuse_change()",
            f"CREATE OR REPLACE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION annotation_refuse_change()",
        ]
    return statements

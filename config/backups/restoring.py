"""Restoring a backup into a new database: all of it, or nothing."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from django.apps.registry import Apps
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor

from annotation.models.errors import BadInput
from config.backups import archive
from config.migrations import in_todays_names

# What storing rows raises that are none of their table.
UNFIT = (*archive.BROKEN, DatabaseError, ValidationError, AttributeError)


def restore_backup(backup: archive.Backup) -> None:
    """Fill the new database, compare what it holds with the backup, and migrate it. Before anything
    is written raises BadInput where the database is not new, the identity key is another one, or
    the backup is of a newer version or one that can't be gone on from."""
    if connection.introspection.table_names():
        raise BadInput(
            "The database holds something already, and a backup is restored into a new one: set "
            "DATABASE_URL (or DATA_DIR) to one that is empty, and start nothing on it before."
        )
    executor = MigrationExecutor(connection)
    leaves = _leaves(executor, backup.manifest.migrations)
    _take_identity_key(backup)
    executor.migrate(leaves)
    # The models as they were when the backup was made.
    fill(executor.loader.project_state(leaves).apps, backup)
    call_command("migrate", verbosity=0)


def _leaves(executor: MigrationExecutor, applied: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The last migration of each app at the time of the backup."""
    graph = executor.loader.graph
    known = in_todays_names(applied)
    if unknown := sorted(known - set(graph.nodes)):
        raise BadInput(
            f"The backup was made by a newer version (migration {unknown[0][0]} "
            f"{unknown[0][1]}): restore it with that one."
        )
    followed = {
        parent.key
        for node in known
        for parent in graph.node_map[node].parents
        if parent.key[0] == node[0]
    }
    return sorted(known - followed)


def _take_identity_key(backup: archive.Backup) -> None:
    """Under another key everybody in the backup would be a stranger."""
    if (settings.IDENTITY_KEY or settings.SECRET_KEY) == backup.identity_key:
        return
    embedded = settings.DATA_DIR / "baseliner.sqlite3"
    another_needs_it = embedded.exists() and str(embedded) != connection.settings_dict["NAME"]
    if not settings.IS_LOCAL or os.environ.get("IDENTITY_KEY") or another_needs_it:
        raise BadInput(
            "The identity key of this installation is not the backup's, so nobody in it would be "
            "found again: set IDENTITY_KEY to what `unzip -p "
            f"{backup.file} identity-key` prints, and restore again."
        )
    (settings.DATA_DIR / "identity-key").write_text(backup.identity_key + "\n")
    settings.IDENTITY_KEY = backup.identity_key  # for the migrations that follow


def fill(then: Apps, backup: archive.Backup) -> None:
    """Put the rows of a backup in the place of all that is there, or leave it. Raises BadInput."""
    try:
        with transaction.atomic(), triggers_lifted():
            _fill(then, backup)
    except UNFIT as problem:
        said = str(problem).partition("\n")[0][:200]
        raise BadInput(f"The backup's rows do not fit its own tables ({said}).") from problem


def _fill(then: Apps, backup: archive.Backup) -> None:
    tables = archive.tables_of(then)
    # Migrations have made rows of their own: groups, permissions.
    for table in tables.values():
        table._base_manager.all()._raw_delete(connection.alias)
    for part in backup.manifest.tables:
        if part.table not in tables or archive.columns_of(tables[part.table]) != part.columns:
            raise BadInput(f"The backup's table {part.table} does not fit its own migrations.")
        archive.store_lines(tables[part.table], backup.lines(part), connection.alias)
    archive.reset_sequences(tables.values(), connection.alias)
    for part in backup.manifest.tables:
        stored = archive.content_of(archive.lines_of(tables[part.table], connection.alias))
        if not part.matches(stored):
            raise BadInput(
                f"Of {part.table} the database keeps {stored[0]} rows that are not the backup's "
                f"{part.rows}: nothing was restored."
            )


@contextmanager
def triggers_lifted() -> Iterator[None]:
    """The triggers guard what was there before; they let through once what a backup brings."""
    lift = {"sqlite": _lift_on_sqlite, "postgresql": _lift_on_postgres}[connection.vendor]
    make_again = lift()
    yield
    with connection.cursor() as cursor:
        for statement in make_again:
            cursor.execute(statement)


def _lift_on_sqlite() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        triggers = cursor.fetchall()
        for name, _statement in triggers:
            cursor.execute(f"DROP TRIGGER {name}")
    return [statement for _name, statement in triggers]


def _lift_on_postgres() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT tgrelid::regclass FROM pg_trigger WHERE NOT tgisinternal")
        guarded = [row[0] for row in cursor.fetchall()]
        for table in guarded:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    # References are compared first: a table with references to compare can't be altered.
    return [
        "SET CONSTRAINTS ALL IMMEDIATE",
        *(f"ALTER TABLE {table} ENABLE TRIGGER USER" for table in guarded),
        # As before: a savepoint around it that is rolled back would not do it.
        "SET CONSTRAINTS ALL DEFERRED",
    ]

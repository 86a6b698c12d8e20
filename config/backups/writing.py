"""Writing a backup while people work: what the database held at one moment."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import psycopg
from django.apps import apps
from django.conf import settings
from django.db import connections, transaction
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from annotation.models.errors import BadInput
from config.backups.archive import (
    IDENTITY_KEY,
    MANIFEST,
    Backup,
    Content,
    Held,
    Manifest,
    Table,
    columns_of,
    file_of,
    lines_of,
    tables_of,
)

SNAPSHOT = "snapshot"


def write_backup(file: Path) -> Manifest:
    """Back up the database to a new file, and read it back.

    Raises BadInput where the file is there already or can't be written, and where the database
    waits for a migration.
    """
    if file.exists():
        raise BadInput(f"{file} is there already: name a new file.")
    executor = MigrationExecutor(connections["default"])
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise BadInput("The database waits for a migration: run `manage.py migrate` first.")
    migrations = sorted(executor.loader.applied_migrations)
    try:
        # A draft in the same folder: nobody takes half a backup for a whole one.
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    except OSError as problem:
        raise BadInput(f"{file} can't be written: {problem.strerror}.") from problem
    os.close(handle)
    draft = Path(name)
    try:
        with ZipFile(draft, "w", ZIP_DEFLATED) as archive, snapshot() as using:
            made_at = timezone.now().isoformat()
            tables = [_write(archive, table, using) for table in tables_of(apps).values()]
            manifest = Manifest(made_at, migrations, tables)
            archive.writestr(IDENTITY_KEY, (settings.IDENTITY_KEY or settings.SECRET_KEY) + "\n")
            archive.writestr(MANIFEST, manifest.as_json())
        with Backup(draft):
            draft.rename(file)
    except OSError as problem:
        raise BadInput(f"{file} can't be written: {problem.strerror}.") from problem
    finally:
        draft.unlink(missing_ok=True)
    return manifest


@contextmanager
def snapshot() -> Iterator[str]:
    """The alias of a connection that sees the database as it is now, whatever is written
    meanwhile, and keeps nobody from writing."""
    default = connections["default"]
    options = dict(default.settings_dict["OPTIONS"])
    if default.vendor == "sqlite":
        options["transaction_mode"] = "DEFERRED"
    else:
        options["isolation_level"] = psycopg.IsolationLevel.REPEATABLE_READ
    connection = default.copy(SNAPSHOT)
    connection.settings_dict = {**default.settings_dict, "OPTIONS": options}
    connections[SNAPSHOT] = connection
    try:
        with transaction.atomic(using=SNAPSHOT):
            yield SNAPSHOT
    finally:
        connection.close()
        del connections[SNAPSHOT]


def _write(archive: ZipFile, table: Table, using: str) -> Held:
    content, label = Content(), table._meta.label_lower
    with archive.open(ZipInfo(file_of(label)), "w", force_zip64=True) as file:
        for line in lines_of(table, using):
            content.add(line)
            file.write(line)
    return Held(label, columns_of(table), content.rows, content.checksum)

"""The file of a backup, of one moment while people work: a zip with what it holds, the identity
key, and a file for each table, whose rows are the same text from SQLite and from PostgreSQL."""

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import psycopg
from django.apps import apps
from django.apps.registry import Apps
from django.conf import settings
from django.core.management.color import no_style
from django.db import connections, models, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.models.sql import InsertQuery

from annotation.benchmarks.archives import UNREADABLE
from annotation.models import clock
from annotation.models.errors import BadInput

FORMAT = 1
MANIFEST = "backup.json"
IDENTITY_KEY = "identity-key"
# What reading a file raises that is something else, or was damaged.
BROKEN = (*UNREADABLE, KeyError, TypeError, RecursionError)


def file_of(table: str) -> str:
    return f"tables/{table}.jsonl"


@dataclass(frozen=True)
class HeldTable:
    table: str
    columns: list[str]
    rows: int
    checksum: str

    def matches(self, content: tuple[int, str]) -> bool:
        return (self.rows, self.checksum) == content


@dataclass(frozen=True)
class Manifest:
    made_at: str
    migrations: list[tuple[str, str]]
    tables: list[HeldTable]
    format: int = FORMAT

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)

    def as_json(self) -> str:
        return json.dumps(asdict(self), indent=1) + "\n"


class Backup(AbstractContextManager["Backup"]):
    """An opened backup, read through once: whoever gets one gets what was backed up. Raises
    BadInput for a file that is no backup, or not whole."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            self._zip = ZipFile(file)
            self.manifest = _read_manifest(self._zip.read(MANIFEST))
            self.identity_key = self._zip.read(IDENTITY_KEY).decode().strip()
        except OSError as problem:
            raise BadInput(f"{file} can't be read: {problem.strerror or problem}.") from problem
        except BROKEN as problem:
            raise BadInput(f"{file} is no backup made by `manage.py backup`.") from problem
        self._check()

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def lines(self, table: HeldTable) -> Iterator[bytes]:
        with self._zip.open(file_of(table.table)) as lines:
            yield from lines

    def _check(self) -> None:
        for table in self.manifest.tables:
            try:
                whole = table.matches(content_of(self.lines(table)))
            except BROKEN:
                whole = False
            if not whole:
                raise BadInput(
                    f"{self.file} is damaged: {file_of(table.table)} in it isn't what was backed "
                    "up. Take another backup."
                )


def _read_manifest(text: bytes) -> Manifest:
    read = json.loads(text)
    if read["format"] != FORMAT:
        raise BadInput(
            f"The backup has format {read['format']!r}, and this version reads {FORMAT}: "
            "restore it with the version that made it."
        )
    return Manifest(
        made_at=datetime.fromisoformat(read["made_at"]).isoformat(),
        migrations=[(str(app), str(name)) for app, name in read["migrations"]],
        tables=[HeldTable(**table) for table in read["tables"]],
    )


ROWS_AT_ONCE = 500
# What JSON holds as it is, to the last digit.
PLAIN = (bool, int, float, str)


Table = type[models.Model]
Fields = list["models.Field[Any, Any]"]


def fields_of(table: Table) -> Fields:
    """The fields by name: one that was added later stands elsewhere in a migration's model."""
    stored = [field for field in table._meta.concrete_fields if not field.generated]
    return sorted(stored, key=lambda field: field.attname)


def columns_of(table: Table) -> list[str]:
    return [field.attname for field in fields_of(table)]


def tables_of(apps: Apps) -> dict[str, Table]:
    stored = {
        model._meta.label_lower: model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy
    }
    return dict(sorted(stored.items()))


def lines_of(table: Table, using: str) -> Iterator[bytes]:
    fields = fields_of(table)
    for row in table._base_manager.using(using).order_by("pk").iterator(chunk_size=ROWS_AT_ONCE):
        values = [_as_json(field, row) for field in fields]
        # Sorted, since PostgreSQL does not keep the order of keys.
        yield json.dumps(values, ensure_ascii=False, sort_keys=True).encode() + b"\n"


def content_of(lines: Iterable[bytes]) -> tuple[int, str]:
    """How many rows there are, and a checksum whatever their order, in which databases differ."""
    rows = total = 0
    for line in lines:
        rows += 1
        total = (total + int.from_bytes(sha256(line).digest())) % 2**256
    return rows, f"{total:064x}"


def store_lines(table: Table, lines: Iterable[bytes], using: str) -> None:
    """Insert the rows as they are, with their keys and times."""
    fields = fields_of(table)
    at_once = connections[using].ops.bulk_batch_size(fields, [None] * ROWS_AT_ONCE)
    rows = (_row(table, fields, line) for line in lines)
    while some := list(islice(rows, max(1, at_once))):
        # Not bulk_create, which would set again the times that a row was made or changed at.
        query = InsertQuery(table)
        query.insert_values(fields, some, raw=True)
        query.get_compiler(using=using).execute_sql()


def reset_sequences(tables: Iterable[Table], using: str) -> None:
    """So that the next row gets a key that none has."""
    connection = connections[using]
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), list(tables)):
            cursor.execute(statement)


def _as_json(field: "models.Field[Any, Any]", row: models.Model) -> object:
    value = field.value_from_object(row)
    if value is None or isinstance(field, models.JSONField) or type(value) in PLAIN:
        return value
    return field.value_to_string(row)


def _row(table: Table, fields: Fields, line: bytes) -> models.Model:
    return table(
        **{
            field.attname: value if isinstance(field, models.JSONField) else field.to_python(value)
            for field, value in zip(fields, json.loads(line), strict=True)
        }
    )


SNAPSHOT = "snapshot"


def write_backup(file: Path) -> Manifest:
    """Back up the database to a new file, and read it back. Raises BadInput where the file is there
    already or can't be written, and where the database waits for a migration."""
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
            made_at = clock.now().isoformat()
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


def _write(archive: ZipFile, table: Table, using: str) -> HeldTable:
    label = table._meta.label_lower
    with archive.open(ZipInfo(file_of(label)), "w", force_zip64=True) as file:

        def written() -> Iterator[bytes]:
            for line in lines_of(table, using):
                file.write(line)
                yield line

        return HeldTable(label, columns_of(table), *content_of(written()))

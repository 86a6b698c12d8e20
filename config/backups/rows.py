"""The rows of a database as lines of text, the same from SQLite and from PostgreSQL."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from typing import Any

from django.apps.registry import Apps
from django.core.management.color import no_style
from django.db import connections, models
from django.db.models.sql import InsertQuery

ROWS_AT_ONCE = 500
# What JSON holds as it is, to the last digit.
PLAIN = (bool, int, float, str)


Table = type[models.Model]
Fields = list["models.Field[Any, Any]"]


def fields_of(table: Table) -> Fields:
    """By name: a field that was added later stands elsewhere in a migration's model."""
    stored = [field for field in table._meta.concrete_fields if not field.generated]
    return sorted(stored, key=lambda field: field.attname)


def columns_of(table: Table) -> list[str]:
    return [field.attname for field in fields_of(table)]


@dataclass
class Content:
    """How many rows there are, and a checksum that does not depend on their order, in which two
    databases may differ."""

    rows: int = 0
    total: int = field(default=0, repr=False)

    def add(self, line: bytes) -> None:
        self.rows += 1
        self.total = (self.total + int.from_bytes(sha256(line).digest())) % 2**256

    @property
    def checksum(self) -> str:
        return f"{self.total:064x}"


def tables_of(apps: Apps) -> dict[str, Table]:
    """Every table that the models make, by its label."""
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


def content_of(lines: Iterable[bytes]) -> Content:
    content = Content()
    for line in lines:
        content.add(line)
    return content


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

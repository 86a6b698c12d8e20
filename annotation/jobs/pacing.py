"""Writing beside people who work: in short transactions, with pauses between them.

SQLite has one writer and no queue: who waits for it asks again from time to time. Work that takes
it again the moment it has given it back keeps everybody else waiting, in spite of any timeout.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from django.db import OperationalError, connection, connections, models, transaction

from annotation.models.prepared import compiled_insert

MOST_TRIES = 5
ROWS_AT_ONCE = 500

Row = TypeVar("Row", bound=models.Model)
T = TypeVar("T")


@dataclass(frozen=True)
class Pace:
    # About how long one transaction may take.
    piece_s: float
    # How long a pause is on SQLite, as a multiple of the transaction before it.
    rest: float


BESIDE_PEOPLE = Pace(piece_s=0.02, rest=3)
# For what is done before anybody is served.
ALONE = Pace(piece_s=5, rest=0)


def write(act: Callable[[], T], pace: Pace = BESIDE_PEOPLE) -> T:
    """Do something short in a transaction of its own, again where the database was locked for
    long, and leave room behind it. Within a transaction of the caller's it is just done."""
    if connection.in_atomic_block:
        return act()
    result, took_s = _tried(act)
    if connection.vendor == "sqlite":
        time.sleep(pace.rest * took_s)
    return result


def store(rows: Sequence[Row], tell: Callable[[], None] | None = None) -> None:
    """New rows of one table, a few at a time; `tell` is called after each few."""
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[start : start + ROWS_AT_ONCE]
        manager = type(some[0])._base_manager
        write(partial(manager.bulk_create, some))
        if tell:
            tell()


def insert(rows: Sequence[Row], tell: Callable[[], None] | None = None) -> None:
    """The same without telling the rows their keys. All but the writing itself is done before the
    lock is taken, so that it is held for a fraction of the time."""
    for start in range(0, len(rows), ROWS_AT_ONCE):
        write(partial(_executed, *_insertion(rows[start : start + ROWS_AT_ONCE])))
        if tell:
            tell()


def _insertion(rows: Sequence[Row]) -> tuple[str, list[list[Any]]]:
    """The statement for one of them, and the values of each, of which none follows from saving."""
    fields, sql = compiled_insert(rows[0])
    # Not by way of `connection`, which looks it up for every value.
    using = connections["default"]
    saved = [(field.attname, field.get_db_prep_save) for field in fields]
    return sql, [[prepared(getattr(row, name), using) for name, prepared in saved] for row in rows]


def _executed(sql: str, values: list[list[Any]]) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(sql, values)


def _tried(act: Callable[[], T]) -> tuple[T, float]:
    for tries_left in reversed(range(MOST_TRIES)):
        try:
            with transaction.atomic():
                began = time.monotonic()
                result = act()
            return result, time.monotonic() - began
        except OperationalError:
            if not tries_left:
                raise
            connection.close_if_unusable_or_obsolete()
    raise AssertionError("The last try returns or raises.")

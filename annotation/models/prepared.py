"""A row that every step of every annotator reads, by a statement that is compiled once.

To compile it takes several times as long as the database takes to answer it. It stays the ORM's own
statement, and its row becomes what the ORM makes of it.
"""

from collections.abc import Callable
from threading import local
from typing import Any, Generic, TypeVar

from django.db import connections, models
from django.db.models.query import ModelIterable

M = TypeVar("M", bound=models.Model)
# In the place of a key, while the statement is compiled.
SOME_KEY = 0


class PreparedRow(Generic[M]):
    """A row of `rows` by its primary key; None where there is none."""

    def __init__(self, rows: Callable[[], models.QuerySet[M]]) -> None:
        self._rows = rows
        # A thread has a connection of its own, and a compiler holds it.
        self._kept = local()

    def get(self, pk: int) -> M | None:
        rows, compiler, sql = self._compiled()
        compiler.as_sql = lambda *_, **__: (sql, (pk,))
        found: M | None = next(iter(ModelIterable(rows)), None)
        return found

    def _compiled(self) -> tuple[models.QuerySet[M], Any, str]:
        kept = getattr(self._kept, "statement", None)
        if kept is None or kept[1].connection is not connections[kept[0].db]:
            rows = self._rows().filter(pk=SOME_KEY).order_by()
            compiler = rows.query.get_compiler(using=rows.db)
            sql, parameters = compiler.as_sql()
            assert parameters == (SOME_KEY,), "the key is the one parameter"
            converters = compiler.get_converters([column[0] for column in compiler.select])
            vars(compiler)["get_converters"] = lambda _: converters
            vars(rows.query)["get_compiler"] = lambda **_: compiler
            kept = self._kept.statement = rows, compiler, sql
        return kept

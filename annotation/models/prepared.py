"""What every step of every annotator reads and writes, by statements that are compiled once.

To compile one takes several times as long as the database takes to answer it. They stay the ORM's
own statements, and what is read or written is what the ORM would make of it.
"""

from collections.abc import Callable, Mapping, Sequence
from threading import local
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.models.query import get_related_populators
from django.db.models.sql import InsertQuery, UpdateQuery

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
        compiler, sql, converters, names, populators = self._compiled()
        with compiler.connection.cursor() as cursor:
            cursor.execute(sql, (pk,))
            rows = cursor.fetchall()
        if not rows:
            return None
        [values] = compiler.apply_converters(rows, converters)
        row: M = compiler.klass_info["model"].from_db(compiler.using, names, values[: len(names)])
        for populator in populators:
            populator.populate(values, row)
        return row

    def _compiled(self) -> tuple[Any, str, Any, list[str], list[Any]]:
        """The statement, and what makes a row of its columns, of which the row's own come first."""
        kept = getattr(self._kept, "statement", None)
        if kept is None or kept[0].connection is not connections[kept[0].using]:
            rows = self._rows().filter(pk=SOME_KEY).order_by()
            compiler = rows.query.get_compiler(using=rows.db)
            sql, parameters = compiler.as_sql()
            assert parameters == (SOME_KEY,), "the key is the one parameter"
            converters = compiler.get_converters([column[0] for column in compiler.select])
            places = compiler.klass_info["select_fields"]
            assert places == list(range(len(places)))
            names = [column[0].target.attname for column in compiler.select[: len(places)]]
            # The stubs are those of a later Django.
            populators = get_related_populators(  # type: ignore[call-arg]
                compiler.klass_info, compiler.select, rows.db
            )
            kept = self._kept.statement = compiler, sql, converters, names, populators
        return kept


# What of these is stored is what a row holds; the others are asked what they make of it.
PLAIN: tuple[type[Any], ...] = (models.IntegerField, models.BooleanField, models.ForeignKey)
_INSERTS: dict[type[models.Model], tuple[Sequence[Any], str]] = {}
_UPDATES: dict[tuple[object, ...], tuple[list[Any], str]] = {}


def insert(row: models.Model) -> None:
    """Store a new row, whose primary key the database chooses."""
    model = type(row)
    fields, sql = _INSERTS.get(model) or _INSERTS.setdefault(
        model, compiled_insert(row, returning=[model._meta.pk])
    )
    connection = connections[DEFAULT_DB_ALIAS]
    values = [getattr(row, field.attname) for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(sql, _stored(fields, values, connection))
        (row.pk,) = cursor.fetchone()
    row._state.adding, row._state.db = False, connection.alias


def compiled_insert(
    row: models.Model, *, returning: Sequence[Any] = ()
) -> tuple[Sequence[Any], str]:
    """The fields that a new row has values for, and the statement that takes them."""
    fields = [field for field in row._meta.concrete_fields if not field.primary_key]
    query = InsertQuery(type(row))
    query.insert_values(fields, [row])
    compiler = query.get_compiler(using=DEFAULT_DB_ALIAS)
    compiler.returning_fields = returning
    ((sql, _),) = compiler.as_sql()
    return fields, sql


def update(
    model: type[models.Model], where: Mapping[str, object], changes: Mapping[str, object]
) -> int:
    """Change the rows that hold exactly these values, none of them NULL; how many there were."""
    values = [*changes.values(), *where.values()]
    key = model, *changes, None, *where
    kept = _UPDATES.get(key) or _UPDATES.setdefault(key, _compiled_update(model, where, changes))
    fields, sql = kept
    connection = connections[DEFAULT_DB_ALIAS]
    with connection.cursor() as cursor:
        cursor.execute(sql, _stored(fields, values, connection))
        return int(cursor.rowcount)


def _stored(fields: Sequence[Any], values: Sequence[Any], connection: Any) -> list[Any]:
    return [
        value if isinstance(field, PLAIN) else field.get_db_prep_save(value, connection)
        for field, value in zip(fields, values, strict=True)
    ]


def _compiled_update(
    model: type[models.Model], where: Mapping[str, object], changes: Mapping[str, object]
) -> tuple[list[Any], str]:
    query: Any = model._default_manager.filter(**where).query.chain(UpdateQuery)
    query.add_update_values(changes)
    sql, _ = query.get_compiler(using=DEFAULT_DB_ALIAS).as_sql()
    return [model._meta.get_field(name) for name in (*changes, *where)], sql

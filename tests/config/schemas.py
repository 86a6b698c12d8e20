"""What the tables of a database consist of, line by line, in no order of making. Triggers are left
out: every migration makes them anew."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import psycopg

POSTGRES = (
    """SELECT table_name, column_name, data_type, character_maximum_length, numeric_precision,
              numeric_scale, is_nullable, column_default, is_identity
       FROM information_schema.columns WHERE table_schema = 'public'""",
    "SELECT conrelid::regclass, conname, pg_get_constraintdef(oid) FROM pg_constraint "
    "WHERE connamespace = 'public'::regnamespace",
    "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
)


def schema_of(url: str) -> list[str]:
    lines = _of_sqlite if url.startswith("sqlite") else _of_postgres
    return sorted(line for line in lines(url) if re.search(r"\b(annotation|scoring)_", line))


def _of_postgres(url: str) -> Iterator[str]:
    with psycopg.connect(url) as database:
        for question in POSTGRES:
            for row in database.execute(question.encode()):
                yield _plain(" ".join(map(str, row)))


def _of_sqlite(url: str) -> Iterator[str]:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database:
        made = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        for kind, name, statement in database.execute(made):
            if kind == "table":
                yield from (f"{name}: {part}" for part in _parts(_plain(statement)))
            elif kind == "index":
                yield _plain(statement)


def _plain(statement: str) -> str:
    return " ".join(statement.split())


def _parts(statement: str) -> Iterator[str]:
    """The columns and constraints of CREATE TABLE, split where no parenthesis is open."""
    body = statement[statement.index("(") + 1 : statement.rindex(")")]
    depth, part = 0, ""
    for sign in body:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            yield part.strip()
            part = ""
        else:
            part += sign
    yield part.strip()

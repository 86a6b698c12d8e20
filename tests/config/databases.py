"""New databases, for what a test of the whole installation does to one."""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from unittest import mock
from urllib.parse import quote

import psycopg
from django.contrib.contenttypes.models import ContentType
from django.db import connection, connections
from django.db.utils import ConnectionHandler
from psycopg.sql import SQL, Identifier

from config import env

NewDatabase = Callable[[], str]


@contextmanager
def new_databases(folder: Path) -> Iterator[NewDatabase]:
    """Makes empty databases where the tests' own is; returns their URLs."""
    numbers = count()
    if connection.vendor == "sqlite":
        yield lambda: f"sqlite:///{folder}/new-{next(numbers)}.sqlite3"
        return
    given = connection.settings_dict
    names: list[str] = []
    server = {"host": given["HOST"], "port": given["PORT"] or None, "user": given["USER"] or None}
    with psycopg.connect(
        **server, password=given["PASSWORD"] or None, dbname="postgres", autocommit=True
    ) as postgres:

        def make_one() -> str:
            names.append(f"{given['NAME']}_{next(numbers)}")
            postgres.execute(SQL("CREATE DATABASE {}").format(Identifier(names[-1])))
            user = quote(given["USER"]) + (given["PASSWORD"] and f":{quote(given['PASSWORD'])}")
            port = f"&port={given['PORT']}" if given["PORT"] else ""
            return f"postgres://{user}@/{names[-1]}?host={quote(given['HOST'], safe='')}{port}"

        yield make_one
        for name in names:
            postgres.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


@contextmanager
def at_work_on(url: str) -> Iterator[None]:
    """Puts this database in the place of the tests' own."""
    with mock.patch.dict(os.environ, DATABASE_URL=url):
        handler = ConnectionHandler({"default": env.database("DATABASE_URL", "", root=Path())})
    own, connections["default"] = connections["default"], handler["default"]
    try:
        yield
    finally:
        connection.close()
        connections["default"] = own
        ContentType.objects.clear_cache()


def execute(url: str, statements: Iterable[str]) -> None:
    """By the database itself, without any of our code."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database, database:
            for statement in statements:
                database.execute(statement)
        return
    with psycopg.connect(url) as postgres:
        for statement in statements:
            postgres.execute(statement.encode())

"""New databases, for what a test of the whole installation does to one."""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from shutil import copyfile
from unittest import mock
from urllib.parse import quote, urlsplit

import psycopg
from django.contrib.contenttypes.models import ContentType
from django.db import connection, connections
from django.db.utils import ConnectionHandler
from psycopg.sql import SQL, Identifier

from config import env

NewDatabase = Callable[..., str]
_numbers = count()


@contextmanager
def new_databases(folder: Path) -> Iterator[NewDatabase]:
    """Makes databases where the tests' own is, empty or like that of a URL; returns their URLs."""
    if connection.vendor == "sqlite":

        def make_file(like: str = "") -> str:
            url = f"sqlite:///{folder}/new-{next(_numbers)}.sqlite3"
            if like:
                copyfile(_file(like), _file(url))
            return url

        yield make_file
        return
    given = connection.settings_dict
    names: list[str] = []
    server = {"host": given["HOST"], "port": given["PORT"] or None, "user": given["USER"] or None}
    with psycopg.connect(
        **server, password=given["PASSWORD"] or None, dbname="postgres", autocommit=True
    ) as postgres:

        def make_one(like: str = "") -> str:
            names.append(f"{given['NAME']}_{next(_numbers)}")
            name, template = (
                Identifier(names[-1]),
                Identifier(urlsplit(like).path[1:] or "template1"),
            )
            postgres.execute(SQL("CREATE DATABASE {} TEMPLATE {}").format(name, template))
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


def _file(url: str) -> str:
    return url.removeprefix("sqlite:///")


def execute(url: str, statements: Iterable[str]) -> None:
    """By the database itself, without any of our code."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(_file(url))) as database, database:
            for statement in statements:
                database.execute(statement)
        return
    with psycopg.connect(url) as postgres:
        for statement in statements:
            postgres.execute(statement.encode())

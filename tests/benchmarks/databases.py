"""The databases that a benchmark measures on."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

import psycopg


@contextmanager
def databases() -> Iterator[list[str]]:
    """The URLs to measure on: a file of SQLite, and a new database of a PostgreSQL server."""
    from tests.run import postgres

    name = f"bench_{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder, postgres() as (server, _origin):
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]
        parts = urlsplit(server)
        try:
            yield [f"sqlite:///{folder}/bench.sqlite3", urlunsplit(parts._replace(path=f"/{name}"))]
        finally:
            with psycopg.connect(server, autocommit=True) as connection:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")  # type: ignore[arg-type]

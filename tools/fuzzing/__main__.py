"""Searches every reader of files from elsewhere, or those that are named, for input that breaks it.

    python -m tools.fuzzing --minutes 3 helm bundle

What it finds lies in var/fuzz/READER: the input and what it raised under `found`, input that took
too long or too much memory beside it. Ends with 1 if it found something.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "var" / "fuzz"
EXECUTIONS = re.compile(r"number_of_executed_units:\s+(\d+)")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1, help="for each reader")
    parser.add_argument("readers", nargs="*", metavar="READER")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="baseliner-fuzz-") as data:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "tests.settings", "DATA_DIR": data}
        os.environ.pop("DATABASE_URL", None)
        from tools.fuzzing import searching

        names = options.readers or list(searching.TARGETS)
        if unknown := set(names) - set(searching.TARGETS):
            parser.error(f"no reader is called {min(unknown)}: {', '.join(searching.TARGETS)}")
        searching.make_database()
        broken = [name for name in names if find(name, round(60 * options.minutes))]
    print(f"Found something in: {', '.join(broken)}." if broken else "Nothing was found.")
    return 1 if broken else 0


def find(name: str, seconds: int) -> list[str]:
    """Search one reader, and say what was found."""
    from tools.fuzzing.searching import search

    folder = RESULTS / name
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

"""Changes a module in small ways, one at a time, and shows the changes that no test notices.

    python -m tools.mutants scoring/core/s1.py annotation/work/finishing.py

mutmut does it, as pyproject.toml says, on a copy of the project under var/mutants: the working tree
stays as it is. What survives is a gap in the tests, or means the same as before
(docs/explained/mutants.md).
"""

import argparse
import json
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
COPIES = ROOT / "var" / "mutants"
MUTMUT = str(Path(sys.executable).parent / "mutmut")
TABLE = "[tool.mutmut]\n"
TO_BE_TOLD = ("survived", "no tests", "timeout", "suspicious")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("modules", nargs="+", metavar="MODULE")
    parser.add_argument("--tests", nargs="+", metavar="PATH", help="those that should notice")
    parser.add_argument("--minutes", type=float, default=30, help="at most, for each module")
    options = parser.parse_args(arguments)
    rooms: dict[tuple[str, ...], list[str]] = {}
    for module in options.modules:
        if not (ROOT / module).is_file():
            parser.error(f"there is no module {module}")
        rooms.setdefault(tuple(options.tests or [tests_of(module)]), []).append(module)
    done = [look_at(modules, tests, options.minutes) for tests, modules in rooms.items()]
    return 0 if all(done) else 1


def tests_of(module: str) -> str:
    """Tests follow the rooms: those of the module's room, or of the folder that it lies in."""
    folder = Path("tests") / Path(module).parent
    while not (ROOT / folder).is_dir():
        folder = folder.parent
    return folder.as_posix()


def look_at(modules: list[str], tests: tuple[str, ...], minutes: float) -> bool:
    """Modules of one room together: which test reaches what has to be found out only once."""
    minutes *= len(modules)
    print(
        f"\n{' '.join(modules)}\nby {' '.join(tests)}, for {minutes:g} minutes at most", flush=True
    )
    copy = COPIES / "+".join(tests).replace("/", ".")
    copy_project(copy)
    configure(copy, modules, tests)
    if not run_mutmut(copy, minutes):
        print("mutmut ended before it had tried a change; what it said stands above.")
        return False
    text = "\n".join(report(copy))
    print(text)
    (copy / "report.txt").write_text(text + "\n")
    return True


def copy_project(copy: Path) -> None:
    shutil.rmtree(copy, ignore_errors=True)
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("docs/screens/"):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    # Compiled, and so not in the repository: texts in the annotators' languages are tested too.
    for path in (ROOT / "locale").rglob("*.mo"):
        shutil.copy2(path, copy / path.relative_to(ROOT))


def configure(copy: Path, modules: list[str], tests: tuple[str, ...]) -> None:
    """mutmut takes what to change, and which tests to ask, from pyproject.toml alone."""
    path = copy / "pyproject.toml"
    chosen = (
        f"only_mutate = {json.dumps(modules)}\n"
        f"pytest_add_cli_args_test_selection = {json.dumps(list(tests))}\n"
    )
    path.write_text(path.read_text().replace(TABLE, TABLE + chosen))


def run_mutmut(copy: Path, minutes: float) -> bool:
    with (copy / "mutmut.log").open("w+") as log:
        process = subprocess.Popen([MUTMUT, "run"], cwd=copy, stdout=log, stderr=log)
        try:
            process.wait(minutes * 60)
        except subprocess.TimeoutExpired:
            print("The time is up: what is left was not tried.")
            process.send_signal(signal.SIGINT)
            process.wait()
        log.seek(0)
        said = log.read()
    begun = "Running mutation testing" in said
    if not begun:
        print(said)
    return begun


def report(copy: Path) -> Iterator[str]:
    states = dict(results(copy))
    for name, state in states.items():
        if state in TO_BE_TOLD:
            yield f"\n{state}: {name}\n{difference(copy, name)}"
    counts = Counter(states.values())
    yield f"\n{len(states)} changes: " + ", ".join(f"{n} {state}" for state, n in counts.items())


def results(copy: Path) -> Iterator[tuple[str, str]]:
    for line in ask(copy, "results", "--all", "true"):
        name, _, state = line.strip().rpartition(": ")
        yield name, state


def difference(copy: Path, name: str) -> str:
    lines = ask(copy, "show", name)
    return "\n".join(line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---"))


def ask(copy: Path, *command: str) -> list[str]:
    asked = [MUTMUT, *command]
    done = subprocess.run(asked, cwd=copy, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

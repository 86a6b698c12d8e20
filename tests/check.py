"""For everyday work: lints what changed since the last commit (or in it, where nothing has), and
runs the tests of the rooms that it touches, on SQLite. `make test` runs everything.

A changed file touches its own room's tests, and every other test file that imports it directly.
"""

import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.imports import ROOT, imports_of, module_of
from tests.run import WORKERS, run_pytest

# What is not asked: minutes, or machines of its own.
LONG = ("tests/browser", "tests/heavy", "tests/benchmarks", "tests/fuzzing", "tests/documentation")
# Guards of the whole code, a second each.
ALWAYS = ("tests/test_architecture.py", "tests/test_project_files.py")


def changed_files() -> list[str]:
    """By their paths from the root; those that are gone left out."""
    now = _git("diff", "--name-only", "HEAD") + _git("ls-files", "--others", "--exclude-standard")
    names = now or _git("diff", "--name-only", "HEAD~1", "HEAD")
    return sorted(name for name in names if (ROOT / name).exists())


def _git(*arguments: str) -> list[str]:
    command = ["git", *arguments]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return told.stdout.splitlines()


def tests_of(changed: Iterable[str]) -> list[str]:
    """The folders and files of tests to run, each once."""
    changed = list(changed)
    own = {folder for name in changed if (folder := _tests_beside(name))}
    product = [name for name in changed if not name.startswith("tests/")]
    modules = {module_of(ROOT / name) for name in product if name.endswith(".py")}
    users = {
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if modules & set(imports_of(path))
    }
    chosen = own | users | set(ALWAYS)
    folders = {name for name in chosen if not name.endswith(".py")}
    return sorted(
        name
        for name in chosen
        if not name.startswith(LONG) and not any(name.startswith(f"{one}/") for one in folders)
    )


def _tests_beside(name: str) -> str:
    """Where the tests of a file's room lie: those of code, of templates and of static files."""
    parts = Path(name).parts
    if parts[0] == "tests":
        return name if parts[-1].startswith("test_") and name.endswith(".py") else ""
    inner = parts[1:] if parts[0] in ("templates", "static") else parts
    folders = [Path("tests", *inner[:depth]) for depth in (2, 1)]
    rooms = (folder for folder in folders if (ROOT / folder).is_dir())
    own = next(rooms, None)
    return own.as_posix() if own and len(inner) > len(own.parts) - 1 else ""


def lints_of(changed: Sequence[str]) -> list[list[str]]:
    """The commands that look at what changed."""
    python = [name for name in changed if name.endswith(".py")]
    templates = [name for name in changed if name.startswith("templates/")]
    scripts = [name for name in changed if name.startswith("static/") and name.endswith(".js")]
    run = [sys.executable, "-m"]
    lints = []
    if python:
        lints += [[*run, "ruff", "check", *python], [*run, "ruff", "format", "--check", *python]]
        lints += [[*run, "mypy"]]
    if any("/models/" in name for name in python):
        lints += [[sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"]]
    if templates:
        lints += [[*run, "djlint", "--lint", "--quiet", *templates]]
    if scripts:
        lints += [["sh", "tests/lint/scripts.sh"]]
    return lints


def main() -> int:
    changed = changed_files()
    lints = [subprocess.Popen(command, cwd=ROOT) for command in lints_of(changed)]
    tests = tests_of(changed)
    print(f"{len(changed)} changed files; tests: {', '.join(tests)}", flush=True)
    failed = run_pytest([*WORKERS, "--quiet", *tests])
    return int(max([failed, *(lint.wait() for lint in lints)]) > 0)


if __name__ == "__main__":
    sys.exit(main())

"""Searches readers for input that they neither take nor refuse.

Atheris leads the search: what reaches new code is kept and changed further. Each finding is written
down once, by its kind and place, and the search goes on.
"""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import atheris

# What is imported from here on tells which of its branches were taken.
with atheris.instrument_imports(include=["annotation", "scoring", "config"]):
    import django

    django.setup()
    from tools.fuzzing.targets import TARGETS, Target, make_world
from django.db import connection

from tools.fuzzing.mutations import mutated

# What takes longer than this on a file of a few kilobytes hangs.
SLOWEST_S = 10
LONGEST = 40_000
MOST_MB = 3_000


class Search:
    """One reader, its seeds, and what was found."""

    def __init__(self, target: Target, folder: Path) -> None:
        self._target = target
        self._found = folder / "found"
        self._met: set[str] = set()
        self.seeds = folder / "seeds"
        self.seeds.mkdir()
        for number, seed in enumerate(target.seeds()):
            (self.seeds / f"seed-{number}").write_bytes(seed)

    def __call__(self, data: bytes) -> None:
        try:
            self._target.try_out(data)
        except Exception as error:
            self._note(error, data)

    def _note(self, error: Exception, data: bytes) -> None:
        place = f"{type(error).__name__}-{_place_of(error)}"
        if place in self._met:
            return
        self._met.add(place)
        self._found.mkdir(exist_ok=True)
        (self._found / place).write_bytes(data)
        (self._found / f"{place}.txt").write_text("".join(traceback.format_exception(error)))


def _place_of(error: Exception) -> str:
    """The last line of ours that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/lib/" not in frame.filename]
    return f"{Path(ours[-1].filename).stem}-{ours[-1].lineno}"


@contextmanager
def database() -> Iterator[None]:
    """Each search changes nothing that stays: in memory it has a copy, elsewhere a transaction."""
    name = connection.settings_dict["NAME"]
    if connection.vendor != "sqlite":
        connection.settings_dict["TEST"]["NAME"] = f"fuzz_baseliner_{os.getpid()}"
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        make_world()
        yield
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


def search(name: str, folder: Path, seconds: int) -> int:
    """In a process of its own, which ends where the reader hangs. Returns its status."""
    # Of one connection to a server two processes would read each other's answers.
    connection.close()
    pid = os.fork()
    if pid == 0:
        log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT)
        os.dup2(log, sys.stdout.fileno())
        os.dup2(log, sys.stderr.fileno())
        _search(Search(TARGETS[name], folder), folder, seconds)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _search(search: Search, folder: Path, seconds: int) -> None:
    options = (
        f"-max_total_time={seconds}",
        f"-timeout={SLOWEST_S}",
        f"-rss_limit_mb={MOST_MB}",
        f"-max_len={LONGEST}",
        f"-artifact_prefix={folder}/",
        "-print_final_stats=1",
        "-verbosity=0",
    )
    atheris.Setup([sys.argv[0], *options, str(search.seeds)], search, custom_mutator=_change)
    atheris.Fuzz()  # never returns


def _change(data: bytes, most: int, seed: int) -> bytes:
    random = Random(seed)
    changed = atheris.Mutate(data, most) if random.random() < 0.4 else mutated(data, random)
    return changed[:most]

"""Traffic as a study has it, for an hour: people come, think, practise, work, leave or finish; a
researcher watches; one process after the other is killed. How long pages take and how much memory
the installation holds is written down and drawn.

The whole installation as `make run` starts it, its processes sharing the cores with this client.

    python -m tools.benchmarks.soak [--minutes 60] [--people 60] [--folder FOLDER] [--database URL]

Ends with status 1 if an acknowledged answer is lost, or a page came with another status than 200 or
503 while nothing was being killed. FOLDER (var/soak) gets soak.csv and soak.svg.
"""

import argparse
import asyncio
import csv
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import repeat
from pathlib import Path

import aiohttp

from tests.people_at_work import Person, session
from tools.benchmarks.bench_answer import free_port

TRAINING, TESTS = 3, 20
# Of one form: half of them take longer, a few take minutes.
THINKS_S, SPREAD = 4.0, 0.8
LONGEST_S = 120
LEAVES, WITHDRAWS = 0.1, 0.05
NEXT_COMES_AFTER_S = 15
LOOKS_EVERY_S = 20
SAMPLES_EVERY_S = 5
# How long after a death refusals are its consequence.
RECOVERS_IN_S = 60
VICTIMS = ("web worker", "granian", "first@", "second@", "beat")
PAGES = (
    "research/studies/demonstration/watch/",
    "research/studies/demonstration/people/",
    "research/studies/demonstration/payments/",
    "studies/demonstration/comparison/",
)


@dataclass
class Sample:
    """Of the seconds since the last one."""

    second: float
    memory_mb: float
    pages: int
    p50_ms: float
    p95_ms: float
    refused: int
    people_at_work: int


@dataclass
class Record:
    began: float = field(default_factory=time.monotonic)
    waits_s: list[float] = field(default_factory=list)
    looks_s: list[float] = field(default_factory=list)
    refused: list[tuple[float, int]] = field(default_factory=list)
    deaths: list[tuple[float, str]] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    acknowledged: int = 0
    at_work: int = 0

    @property
    def second(self) -> float:
        return time.monotonic() - self.began

    def unexplained(self) -> list[tuple[float, int]]:
        """What was refused though nothing had been killed."""
        return [
            (at, status)
            for at, status in self.refused
            if status != 503
            and not any(0 <= at - death < RECOVERS_IN_S for death, _name in self.deaths)
        ]


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[int(share * (len(ordered) - 1))] if ordered else float("nan")


# People


async def seat(number: int, address: str, link: str, record: Record, until: float) -> None:
    """Somebody at work, and when they have gone somebody else, until it is time to end."""
    chance = random.Random(number)
    await asyncio.sleep(chance.uniform(0, NEXT_COMES_AFTER_S))
    while time.monotonic() < until:
        async with session() as opened:
            await one(Person(opened, repeat(address)), link, chance, record, until)
        await asyncio.sleep(chance.expovariate(1 / NEXT_COMES_AFTER_S))


async def one(
    person: Person, link: str, chance: random.Random, record: Record, until: float
) -> None:
    async def think() -> None:
        pause = min(chance.lognormvariate(0, SPREAD) * THINKS_S, LONGEST_S)
        await asyncio.sleep(pause)
        if time.monotonic() > until:
            raise asyncio.CancelledError

    person.pause = think
    person.refused = lambda status: record.refused.append((record.second, status))
    person.waited = record.waits_s.append
    record.at_work += 1
    fate = chance.random()
    early = chance.randrange(TRAINING + TESTS) if fate < LEAVES + WITHDRAWS else None
    try:
        await person.come_in(link)
        await person.work(leaves_after=early)
        if early is not None and fate < WITHDRAWS and not person.is_done:
            await person.asks("POST", "/work/withdraw/", sure="1")
        record.ends["finished" if person.is_done else "left"] += 1
    except asyncio.CancelledError:
        record.ends["at work when time was up"] += 1
    finally:
        record.at_work -= 1
        record.acknowledged += person.acknowledged


async def researcher(address: str, cookies: dict[str, str], record: Record, until: float) -> None:
    """Looks at one page of the study after the other."""
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar, cookies=cookies) as opened:
        number = 0
        while time.monotonic() < until:
            began = time.perf_counter()
            page = f"{address}/{PAGES[number % len(PAGES)]}"
            try:
                async with opened.get(page) as response:
                    await response.read()
                    status = response.status
            except (aiohttp.ClientError, TimeoutError):
                status = 0
            if status == 200:
                record.looks_s.append(time.perf_counter() - began)
            else:
                record.refused.append((record.second, status))
            number += 1
            await asyncio.sleep(LOOKS_EVERY_S)


# The installation


def processes(pid: int) -> dict[int, str]:
    """The titles of a process and all that it has started, by their ids."""
    found = {}
    with suppress(FileNotFoundError, ProcessLookupError):
        found[pid] = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in children.read_text().split():
                found |= processes(int(child))
    return found


def memory_mb(pid: int) -> float:
    """What all of them hold in memory, shared pages by their share."""
    total = 0
    for each in processes(pid):
        with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            told = Path(f"/proc/{each}/smaps_rollup").read_text()
            total += next(int(line.split()[1]) for line in told.splitlines() if "Pss:" in line)
    return total / 1024


def victim_of(supervisor: int, name: str) -> int | None:
    all_of_them = processes(supervisor)
    if name != "web worker":
        return next((pid for pid, title in all_of_them.items() if name in title), None)
    servers = [pid for pid, title in all_of_them.items() if "granian" in title]
    return next((pid for server in servers for pid in processes(server) if pid != server), None)


async def kill(supervisor: int, minutes: float, record: Record, until: float) -> None:
    """Everything once, and nothing in the first and the last minutes."""
    pause = 60 * minutes / (len(VICTIMS) + 1)
    for name in VICTIMS:
        await asyncio.sleep(pause)
        if (pid := victim_of(supervisor, name)) is not None and time.monotonic() < until:
            record.deaths.append((record.second, name))
            os.kill(pid, signal.SIGKILL)


async def sample(supervisor: int, record: Record, until: float) -> None:
    waits = refused = 0
    while time.monotonic() < until:
        await asyncio.sleep(SAMPLES_EVERY_S)
        new = record.waits_s[waits:]
        waits += len(new)
        record.samples.append(
            Sample(
                second=round(record.second, 1),
                memory_mb=round(memory_mb(supervisor), 1),
                pages=len(new),
                p50_ms=round(1000 * percentile(new, 0.5), 1),
                p95_ms=round(1000 * percentile(new, 0.95), 1),
                refused=len(record.refused) - refused,
                people_at_work=record.at_work,
            )
        )
        refused = len(record.refused)


async def soak(
    supervisor: int, address: str, options: argparse.Namespace, study: "Study"
) -> Record:
    record = Record()
    until = time.monotonic() + 60 * options.minutes
    seats = (seat(number, address, study.link, record, until) for number in range(options.people))
    await asyncio.gather(
        *seats,
        researcher(address, study.cookies, record, until),
        kill(supervisor, options.minutes, record, until),
        sample(supervisor, record, until),
    )
    return record


@dataclass
class Study:
    link: str
    cookies: dict[str, str]


def prepare(places: int) -> Study:
    """A running study, which `make run` takes for its demonstration, and a researcher's session."""
    import django

    django.setup()
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.test import Client

    from annotation.simulation.demonstration import FINISHED_SLUG, SLUG
    from annotation.studies.lifecycle import pause_study
    from tests import make

    call_command("migrate", verbosity=0)
    batch = make.running_batch(
        training=TRAINING, tests=TESTS, wanted=places, slug=SLUG, title="Soak"
    )
    pause_study(batch.study)
    # So that nobody is simulated when the server starts.
    pause_study(make.running_batch(slug=FINISHED_SLUG).study)
    client = Client()
    client.force_login(User.objects.create_superuser("researcher"))
    name = settings.SESSION_COOKIE_NAME
    return Study(f"/join/batch/{batch.join_token}/", {name: client.cookies[name].value})


@contextmanager
def served(port: int) -> Iterator[int]:
    """As by `make run`; the id of the process that starts all others."""
    from annotation.models import Study as StoredStudy
    from annotation.studies.lifecycle import resume_study

    command = [sys.executable, "-m", "config.serve", "127.0.0.1", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        for line in process.stdout:
            if line.startswith("Baseliner is running"):
                break
        resume_study(StoredStudy.objects.get(title="Soak"))
        yield process.pid
    finally:
        process.terminate()
        process.wait()


# What came of it


def write(record: Record, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "soak.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(asdict(record.samples[0])))
        writer.writeheader()
        writer.writerows(map(asdict, record.samples))
    draw(record, folder / "soak.svg")


def draw(record: Record, path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True)
    minutes = [each.second / 60 for each in record.samples]
    upper.plot(minutes, [each.p95_ms for each in record.samples], label="95 % of pages")
    upper.plot(minutes, [each.p50_ms for each in record.samples], label="half of the pages")
    upper.set_ylabel("within, ms")
    upper.legend()
    lower.plot(minutes, [each.memory_mb for each in record.samples])
    lower.set_ylabel("memory, MB")
    lower.set_ylim(bottom=0)
    lower.set_xlabel("minutes")
    for at, name in record.deaths:
        for axes in (upper, lower):
            axes.axvline(at / 60, color="0.6", linestyle=":")
        upper.annotate(f"{name} killed", (at / 60, 1), xycoords=("data", "axes fraction"),
                       rotation=90, va="top", ha="right", size=7)  # fmt: skip
    figure.savefig(path)


def report(record: Record) -> int:
    """Printed; the exit status."""
    from annotation.models import Judgement

    stored = Judgement.objects.filter(assignment__study__title="Soak").count()
    third = len(record.samples) // 3
    first, last = record.samples[third : 2 * third], record.samples[2 * third :]
    print(f"{len(record.waits_s)} pages in {record.second / 60:.0f} minutes, ends: {record.ends}")
    print(
        f"  half within {1000 * percentile(record.waits_s, 0.5):.0f} ms, 95 % within "
        f"{1000 * percentile(record.waits_s, 0.95):.0f} ms; a researcher's pages: "
        f"{1000 * percentile(record.looks_s, 0.5):.0f} and "
        f"{1000 * percentile(record.looks_s, 0.95):.0f} ms"
    )
    print(f"  killed: {', '.join(f'{name} at {at:.0f} s' for at, name in record.deaths)}")
    print(f"  refused: {Counter(status for _, status in record.refused)}")
    for name, part in (("second", first), ("last", last)):
        middle = percentile([each.memory_mb for each in part], 0.5)
        print(f"  memory in the {name} third: {middle:.0f} MB")
    lost = max(0, record.acknowledged - stored)
    unexplained = record.unexplained()
    print(f"  acknowledged {record.acknowledged}, stored {stored}, lost {lost}")
    print(f"  refused for no reason: {unexplained[:5] or 'nothing'}")
    return 1 if lost or unexplained else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--people", type=int, default=60, help="at work at the same time")
    parser.add_argument("--folder", type=Path, default=Path("var/soak"))
    parser.add_argument("--database", help="an empty one; by default a new file of SQLite")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as data:
        os.environ["DATA_DIR"] = data
        # Everybody comes from one place, more than may join from there in an hour.
        os.environ["DJANGO_SETTINGS_MODULE"] = "tools.benchmarks.answer_settings"
        if options.database:
            os.environ["DATABASE_URL"] = options.database
        study = prepare(places=int(options.people * (2 + 2 * options.minutes)))
        port = free_port()
        with served(port) as supervisor:
            record = asyncio.run(soak(supervisor, f"http://127.0.0.1:{port}", options, study))
        write(record, options.folder)
        return report(record)


if __name__ == "__main__":
    sys.exit(main())

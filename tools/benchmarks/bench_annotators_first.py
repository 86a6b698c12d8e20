"""Annotators beside long work: how long they wait, and how often they are refused.

People answer at a person's pace, first alone, then while at the same time a benchmark of 100,000
examples is imported, simulated annotators fill a study, a comparison is computed and two exports
are made, then alone again. One machine does all of it, this client too.

    python -m tools.benchmarks.bench_annotators_first [--annotators 20] [--pause 0.5]

Wanted: p95 below 300 ms on PostgreSQL and 1 s on SQLite, and no error. On SQLite, then on the
PostgreSQL server that the tests would use.
"""

import argparse
import asyncio
import os
import random
import tempfile
import time
from dataclasses import dataclass, field

import aiohttp

from tools.benchmarks import long_work
from tools.benchmarks.bench_answer import Browser, at_work, free_port, serve
from tools.benchmarks.databases import measure_on_each

WANTED_MS = {"sqlite": 1000, "postgresql": 300}
MOST_TRIES = 10
TEST_ITEMS = 1_000  # more than anybody answers here
TITLE = "Benchmark"


@dataclass
class Waits:
    """How long each answer took, and what was refused or failed."""

    answers_ms: list[float] = field(default_factory=list)
    joins_ms: list[float] = field(default_factory=list)
    # Answers that the server asked to be sent once more, which the page does by itself.
    again: int = 0
    errors: int = 0

    def percentile(self, share: float) -> float:
        ordered = sorted(self.answers_ms)
        return ordered[int(share * (len(ordered) - 1))] if ordered else float("nan")


class Crowd:
    """Annotators who answer, each with a pause after every answer."""

    def __init__(self, browsers: list[Browser], pause_s: float) -> None:
        self._browsers = browsers
        self._pause_s = pause_s

    async def answer_while(self, other: "asyncio.Task[None]") -> Waits:
        waits = Waits()
        await asyncio.gather(*(self._answer(browser, other, waits) for browser in self._browsers))
        return waits

    async def _answer(self, browser: Browser, other: "asyncio.Task[None]", waits: Waits) -> None:
        chance = random.Random(id(browser))
        while not other.done():
            await asyncio.sleep(chance.uniform(0, 2 * self._pause_s))
            began = time.perf_counter()
            try:
                arrived = await self._submit(browser, waits)
            except aiohttp.ClientError:
                arrived = False
            waits.answers_ms.append(1000 * (time.perf_counter() - began))
            waits.errors += not arrived

    @staticmethod
    async def _submit(browser: Browser, waits: Waits) -> bool:
        for _ in range(MOST_TRIES):
            if await browser.submit():
                return True
            if not browser.is_asked_again:
                break
            waits.again += 1
            await asyncio.sleep(1)
        return False

    @property
    def acknowledged(self) -> int:
        return sum(browser.step for browser in self._browsers)


async def measure(
    address: str, link: str, work: "LongRun", annotators: int, pause_s: float, idle_s: float
) -> tuple[dict[str, Waits], int]:
    async with at_work(address, link, annotators) as browsers:
        crowd = Crowd(browsers, pause_s)
        waits = {
            "alone": await crowd.answer_while(asyncio.create_task(asyncio.sleep(idle_s))),
            "beside": await crowd.answer_while(asyncio.create_task(work.run())),
            "alone again": await crowd.answer_while(asyncio.create_task(asyncio.sleep(idle_s))),
        }
    return waits, crowd.acknowledged


class LongRun:
    """All the long work, from its order to its end."""

    def __init__(self, amount: long_work.Amount, simulated: str, at_most_s: float) -> None:
        self._order = amount, simulated
        self._at_most_s = at_most_s
        self.unfinished: list[str] = []
        self.most_at_once = 0
        self.seconds = 0.0

    async def run(self) -> None:
        began = time.perf_counter()
        work = await asyncio.to_thread(long_work.order, *self._order)
        try:
            await long_work.until_over(work, at_most_s=self._at_most_s)
            self.seconds = time.perf_counter() - began
            self.unfinished = await asyncio.to_thread(work.unfinished)
            self.most_at_once = work.most_at_once
        finally:
            if work.command.poll() is None:
                work.command.terminate()


def prepare(annotators: int, amount: long_work.Amount) -> tuple[str, str]:
    """The link for the annotators, and the study that is simulated."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connections

    from tests import make

    call_command("migrate", verbosity=0)
    batch = make.running_batch(
        zero_shot=True, training=0, tests=TEST_ITEMS, wanted=annotators, title=TITLE
    )
    simulated = long_work.prepare(amount)
    connections.close_all()
    return f"/join/batch/{batch.join_token}/", simulated


def report(vendor: str, waits: dict[str, Waits], work: LongRun, acknowledged: int) -> bool:
    """Print the figures; whether they are as wanted."""
    from tools.benchmarks.bench_answer import lost

    stored, missing = lost(TITLE, acknowledged)
    print(
        f"{vendor}: long work took {work.seconds:.0f} s, {work.most_at_once} jobs at once beside "
        f"the simulation; {', '.join(work.unfinished) or 'all done'}"
    )
    for name, found in waits.items():
        print(
            f"  {name:12} {len(found.answers_ms):6} answers   p50 {found.percentile(0.5):6.0f} ms"
            f"   p95 {found.percentile(0.95):6.0f} ms   p99 {found.percentile(0.99):6.0f} ms"
            f"   max {found.percentile(1):6.0f} ms   again {found.again}"
            f"   errors {found.errors}"
        )
    for share in (0.5, 0.95):
        ratio = waits["beside"].percentile(share) / waits["alone"].percentile(share)
        print(f"  beside / alone, p{100 * share:.0f}: {ratio:.1f}")
    print(f"  acknowledged {acknowledged}, stored {stored}, lost {missing}")
    errors = sum(found.errors for found in waits.values())
    again = sum(found.again for found in waits.values())
    quick = waits["beside"].percentile(0.95) < WANTED_MS[vendor]
    print(f"  {'as wanted' if quick and not errors and not again else 'NOT as wanted'}")
    return not errors and not missing and not work.unfinished


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--annotators", type=int, default=20)
    parser.add_argument("--pause", type=float, default=0.5, help="seconds, on average")
    parser.add_argument("--idle", type=float, default=20, help="seconds alone, before and after")
    parser.add_argument("--examples", type=int, default=100_000)
    # As many as there are jobs, so that all of them go on at once; `make run` has two.
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--simulated", type=int, default=40)
    parser.add_argument("--items", type=int, default=210, help="of each test set")
    parser.add_argument("--longest", type=float, default=480, help="seconds")
    parser.add_argument("--database", help="measure on this one alone, which must be empty")
    options = parser.parse_args()
    if options.database:
        return run(options)
    measure_on_each(__spec__.name)


def run(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATA_DIR"] = folder
        os.environ["DATABASE_URL"] = options.database
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        amount = long_work.Amount(options.examples, options.simulated, options.items)
        link, simulated = prepare(options.annotators, amount)
        work = LongRun(amount, simulated, options.longest)
        port = free_port()
        server = serve(port)
        try:
            with long_work.workers(options.workers):
                address = f"http://127.0.0.1:{port}"
                waits, acknowledged = asyncio.run(
                    measure(address, link, work, options.annotators, options.pause, options.idle)
                )
        finally:
            server.terminate()
            server.wait()
        from django.db import connection

        if not report(connection.vendor, waits, work, acknowledged):
            raise SystemExit(1)


if __name__ == "__main__":
    main()

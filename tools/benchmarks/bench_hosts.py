"""Answers a second of one and of two web hosts over one PostgreSQL: each host is one web process on
a core of its own, the people and the database have what is left.

    python -m tools.benchmarks.bench_hosts [--annotators 40] [--seconds 8]

Every acknowledged answer is looked up afterwards. On fewer than four cores hosts, people and
database share them: then the ratio says nothing of hosts, and the processor time of an answer does.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.benchmarks.bench_answer import (
    Browser,
    Load,
    at_work,
    closed_loop,
    free_port,
    lost,
    prepare,
    title,
    until_it_listens,
)
from tools.benchmarks.databases import databases
from tools.benchmarks.soak import processes

HOSTS = (1, 2)
ENOUGH_CORES = 4
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Host:
    address: str
    pid: int

    @property
    def processor_s(self) -> float:
        """Of it and all that it has started."""
        return sum(map(_processor_s, processes(self.pid)))


def _processor_s(pid: int) -> float:
    try:
        told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0
    return (int(told[11]) + int(told[12])) / TICKS_A_SECOND


@contextmanager
def serving(number: int, cores: Sequence[int]) -> Iterator[list[Host]]:
    """So many hosts, as far as there are cores each on its own."""
    from config.serve import WEB

    one_worker = [*WEB[: WEB.index("--workers") + 1], "1", *WEB[WEB.index("--workers") + 2 :]]
    with ExitStack() as running:
        hosts = []
        for place in range(number):
            port, core = free_port(), cores[place % len(cores)]
            listens = ["--host", "127.0.0.1", "--port", str(port), "config.wsgi:application"]
            server = running.enter_context(
                subprocess.Popen(["taskset", "-c", str(core), *one_worker, *listens])
            )
            running.callback(server.terminate)
            until_it_listens(server, port)
            hosts.append(Host(f"http://127.0.0.1:{port}", server.pid))
        yield hosts


async def measure(hosts: Sequence[Host], link: str, annotators: int, seconds: float) -> Load:
    each = annotators // len(hosts)
    async with AsyncExitStack() as people:
        browsers: list[Browser] = []
        for host in hosts:
            browsers += await people.enter_async_context(at_work(host.address, link, each))
        return await closed_loop(browsers, seconds, Browser.submit)


def run(options: argparse.Namespace) -> int:
    cores = sorted(os.sched_getaffinity(0))
    links = prepare([options.annotators + number for number in HOSTS], 0)
    if len(cores) > max(HOSTS):
        os.sched_setaffinity(0, cores[max(HOSTS) :])
    rates, missing = [], 0
    for number, link in zip(HOSTS, links, strict=True):
        with serving(number, cores) as hosts:
            before = sum(host.processor_s for host in hosts)
            load = asyncio.run(measure(hosts, link, options.annotators, options.seconds))
            spent_s = sum(host.processor_s for host in hosts) - before
        acknowledged = sum(load.acknowledged)
        stored, absent = lost(title(options.annotators + number), acknowledged)
        missing += absent
        rates.append(load.rate)
        print(
            f"{number} web host{'s' * (number > 1)}: {load.rate:.0f} answers/s, "
            f"p95 {load.percentile(0.95):.0f} ms, web processor time "
            f"{1000 * spent_s / max(acknowledged, 1):.2f} ms an answer (with coming in), "
            f"acknowledged {acknowledged}, stored {stored}, lost {absent}"
        )
    print(f"Two hosts: {rates[1] / rates[0]:.2f} times one.")
    if len(cores) < ENOUGH_CORES:
        print(
            f"With {len(cores)} cores for hosts, people and database that is no measure of hosts."
        )
    return 1 if missing else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--annotators", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--database", help="measure on this one, which must be empty")
    options = parser.parse_args()
    if not options.database:
        with databases("hosts") as (_sqlite, url):
            command = [sys.executable, "-m", __spec__.name, *sys.argv[1:], "--database", url]
            return subprocess.run(command, check=False).returncode
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "DATA_DIR": folder,
            "DATABASE_URL": options.database,
            "DJANGO_SETTINGS_MODULE": "tools.benchmarks.answer_settings",
        }
        return run(options)


if __name__ == "__main__":
    sys.exit(main())

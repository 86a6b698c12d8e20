"""What a step costs the server, beside an earlier version of the same.

Both are served in turn on the same machine, and annotators answer in a closed loop; the client
shares the cores. Of each pair, the ratio of the server's processor time per acknowledged answer.
Every acknowledged answer is looked up in the database afterwards.

    python -m tools.benchmarks.bench_step [--beside 09452e8] [--annotators 10 50] [--pairs 3]

On SQLite, then on the PostgreSQL server that the tests would use, whose own processes are not
counted. The earlier version comes out of the repository's history, with the packages that it names
in an environment of its own, which is kept (in var/beside).
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tools.benchmarks.bench_answer import (
    Browser,
    Load,
    at_work,
    closed_loop,
    free_port,
    until_it_listens,
)
from tools.benchmarks.databases import databases
from tools.benchmarks.soak import processes

BEFORE_MOST_FEATURES = "09452e8"
WARM_UP_S = 1
TEST_ITEMS = 1_000  # more than anybody answers here
HERE = Path(__file__).parents[2]
# Everybody comes from one place; earlier versions know no such limits.
SETTINGS = """
from config.settings import *
LIMITS = ("joins_per_address", "consents_per_address", "joins_an_hour")
THROTTLES = {**globals().get("THROTTLES", {}), **dict.fromkeys(LIMITS, 0)}
"""
PREPARE = f"""
import django; django.setup()
from django.core.management import call_command
from tests import make
call_command("migrate", verbosity=0)
batch = make.running_batch(zero_shot=True, training=0, tests={TEST_ITEMS}, wanted=5_000)
print("/join/batch/" + batch.join_token + "/")
"""
COUNT = """
import django; django.setup()
from annotation.models import Judgement
print(Judgement.objects.count())
"""
WEB = "from config.serve import WEB; print(*WEB[1:], sep='\\n')"


@dataclass
class Version:
    """A work tree with an interpreter that has its packages, and a database of its own."""

    name: str
    folder: Path
    environment: dict[str, str]
    link: str = ""
    acknowledged: int = 0
    # Milliseconds of processor time per answer, the 95th percentile of the waits, answers a second.
    rounds: list[tuple[float, float, float]] = field(default_factory=list)

    @property
    def python(self) -> str:
        return sys.executable if self.folder == HERE else f"{self.folder}/.venv/bin/python"

    def run(self, code: str) -> str:
        command = [self.python, "-W", "ignore", "-c", code]
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout.strip()

    @contextmanager
    def served(self) -> Iterator[tuple[str, int]]:
        """Its address and its process, as `make run` starts it."""
        port = free_port()
        options = ["--host", "127.0.0.1", "--port", str(port), "config.wsgi:application"]
        command = [self.python, *self.run(WEB).splitlines(), *options]
        server = subprocess.Popen(command, cwd=self.folder, env=self.environment)
        try:
            until_it_listens(server, port)
            yield f"http://127.0.0.1:{port}", server.pid
        finally:
            server.terminate()
            server.wait()


def earlier(revision: str) -> Path:
    """Its work tree, with its packages installed."""
    folder = HERE / "var" / "beside" / revision
    if not (folder / ".venv" / "installed").exists():
        folder.mkdir(parents=True, exist_ok=True)
        packed = subprocess.run(
            ["git", "archive", revision], cwd=HERE, stdout=subprocess.PIPE, check=True
        )
        subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)
        subprocess.run([sys.executable, "-m", "venv", folder / ".venv"], check=True)
        install = [".venv/bin/python", "-m", "pip", "install", "--quiet", "-c", "constraints.txt"]
        install += ["-r", "requirements.txt", "-r", "requirements-dev.txt"]
        subprocess.run(install, cwd=folder, check=True)
        (folder / ".venv" / "installed").touch()
    return folder


def version(name: str, folder: Path, database: str, data: Path) -> Version:
    """Its database made, with room for everybody who will come."""
    data.mkdir()
    (data / "bench_settings.py").write_text(SETTINGS)
    environment = os.environ | {
        "DATA_DIR": str(data),
        "DATABASE_URL": database,
        "DJANGO_SETTINGS_MODULE": "bench_settings",
        "PYTHONPATH": f"{data}:{folder}",
    }
    made = Version(name, folder, environment)
    made.link = made.run(PREPARE)
    return made


def processor_s(server: int) -> float:
    """What a process and all that it has started have used."""
    ticks = 0
    for pid in processes(server):
        with suppress(FileNotFoundError, ProcessLookupError):
            after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, after_name[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


async def measure(version: Version, annotators: int, seconds: float) -> None:
    with version.served() as (address, server):
        async with at_work(address, version.link, annotators) as browsers:
            # What a process reads once, it has read.
            await closed_loop(browsers, WARM_UP_S, Browser.submit)
            before = processor_s(server)
            load: Load = await closed_loop(browsers, seconds, Browser.submit)
            used_ms = 1000 * (processor_s(server) - before)
    answers = len(load.latencies_ms)
    # Whoever is through sends on for nothing, which costs time too.
    assert max(load.acknowledged) < TEST_ITEMS - 1, "somebody had no item left"
    version.acknowledged += sum(load.acknowledged)
    version.rounds.append((used_ms / answers, load.percentile(0.95), load.rate))


def report(database: str, annotators: int, old: Version, new: Version) -> None:
    print(f"{database}, {annotators} annotators, no think time, {len(new.rounds)} pairs")
    for each in (old, new):
        cost, p95, rate = map(median, zip(*each.rounds, strict=True))
        stored = int(each.run(COUNT))
        print(
            f"  {each.name:8} {cost:6.2f} ms an answer   p95 {p95:5.0f} ms   {rate:5.0f}/s"
            f"   acknowledged {each.acknowledged}, lost {max(0, each.acknowledged - stored)}"
        )
    ratios = sorted(now[0] / then[0] for now, then in zip(new.rounds, old.rounds, strict=True))
    print(f"  now / then {median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", default=BEFORE_MOST_FEATURES, help="a revision")
    parser.add_argument("--annotators", type=int, nargs="+", default=[10, 50])
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args()
    then = earlier(options.beside)
    for annotators in options.annotators:
        with databases("then") as of_then, databases("now") as of_now:
            for urls in zip(of_then, of_now, strict=True):
                compare(urls, then, annotators, options)


def compare(
    urls: tuple[str, str], then: Path, annotators: int, options: argparse.Namespace
) -> None:
    with tempfile.TemporaryDirectory() as data:
        old = version(options.beside, then, urls[0], Path(data, "then"))
        new = version("now", HERE, urls[1], Path(data, "now"))
        for number in range(options.pairs):
            for each in (old, new)[:: -1 if number % 2 else 1]:
                asyncio.run(measure(each, annotators, options.seconds))
        report(urls[0].partition(":")[0], annotators, old, new)


if __name__ == "__main__":
    main()

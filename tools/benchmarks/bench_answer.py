"""Annotators in a closed loop: submit a single-choice answer, receive the next item.

The whole application with all its middleware, on the server that `make run` starts; the
client shares its cores. In the same run, to compare with: a POST that does nothing, one that does
nothing after identifying the annotator, and a bare insert, all behind the same middleware. Every
acknowledged judgement is looked up in the database afterwards.

    python -m tools.benchmarks.bench_answer [--annotators 50 500] [--seconds 8] [--stored N]

On SQLite, then on the PostgreSQL server that the tests would use.
"""

import argparse
import asyncio
import os
import re
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import aiohttp

from tools.benchmarks.databases import measure_on_each

TEST_ITEMS = 210  # as many as SST-2 has in CLUES
STEP = re.compile(r'name="step" value="(\d+)"')
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
BUSY = 503  # with a page that sends the answer again
STARTED_IN_S = 60


@dataclass
class Load:
    """What a load did: the acknowledged steps of each annotator, and how long each took."""

    seconds: float
    latencies_ms: list[float] = field(default_factory=list)
    acknowledged: list[int] = field(default_factory=list)
    failures: int = 0

    @property
    def rate(self) -> float:
        return len(self.latencies_ms) / self.seconds

    def percentile(self, share: float) -> float:
        ordered = sorted(self.latencies_ms)
        return ordered[int(share * (len(ordered) - 1))]


@dataclass
class Browser:
    session: aiohttp.ClientSession
    address: str
    token: str = ""
    step: int = 0
    is_asked_again: bool = False

    async def enter(self, link: str) -> None:
        await self._page("GET", link)
        await self._page("POST", "/work/consent/", agree="1")
        await self._page("POST", "/work/begin/")

    async def _page(self, method: str, path: str, **data: str) -> None:
        form = {"csrfmiddlewaretoken": self.token, **data}
        async with self.session.request(
            method, self.address + path, data=form if method == "POST" else None
        ) as response:
            text = await response.text()
            assert response.status == 200, f"{path}: {response.status}"
        self.token = TOKEN.search(text)[1]

    async def submit(self) -> bool:
        form = {"csrfmiddlewaretoken": self.token, "step": str(self.step), "option": "0"}
        headers = {"HX-Request": "true"}
        url = self.address + "/work/submit/"
        async with self.session.post(url, data=form, headers=headers) as response:
            text = await response.text()
        self.is_asked_again = response.status == BUSY
        found = STEP.search(text)
        if response.status != 200 or not found or int(found[1]) != self.step + 1:
            return False
        self.step += 1
        return True

    async def post(self, path: str) -> bool:
        form = {"csrfmiddlewaretoken": self.token}
        async with self.session.post(self.address + path, data=form) as response:
            await response.read()
        return response.status == 200


async def closed_loop(
    browsers: list[Browser], seconds: float, act: Callable[[Browser], Awaitable[bool]]
) -> Load:
    load = Load(seconds)
    end = time.perf_counter() + seconds

    async def one(browser: Browser) -> None:
        while (start := time.perf_counter()) < end:
            if await act(browser):
                load.latencies_ms.append(1000 * (time.perf_counter() - start))
            else:
                load.failures += 1

    await asyncio.gather(*(one(browser) for browser in browsers))
    load.acknowledged = [browser.step for browser in browsers]
    return load


@asynccontextmanager
async def at_work(address: str, link: str, annotators: int) -> AsyncIterator[list[Browser]]:
    """So many who have entered by the link, and see their first item."""
    async with aiohttp.TCPConnector(limit=0) as connector, AsyncExitStack() as open_sessions:
        browsers = []
        for _ in range(annotators):
            jar = aiohttp.CookieJar(unsafe=True)
            session = aiohttp.ClientSession(
                connector=connector, connector_owner=False, cookie_jar=jar
            )
            await open_sessions.enter_async_context(session)
            browsers.append(Browser(session, address))
            await browsers[-1].enter(link)
        yield browsers


async def measure(address: str, link: str, annotators: int, seconds: float) -> dict[str, Load]:
    async with at_work(address, link, annotators) as browsers:
        return {
            name: await closed_loop(browsers, seconds, act)
            for name, act in {
                "nothing": lambda browser: browser.post("/bench/nothing/"),
                "signed in": lambda browser: browser.post("/bench/signed-in/"),
                "insert": lambda browser: browser.post("/bench/insert/"),
                "answer": Browser.submit,
            }.items()
        }


def prepare(groups: Sequence[int], stored: int) -> list[str]:
    """For each group a running zero-shot batch with room for everybody; returns their links."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from tests import make

    call_command("migrate", verbosity=0)
    batches = [
        make.running_batch(
            zero_shot=True, training=0, tests=TEST_ITEMS, wanted=annotators, title=title(annotators)
        )
        for annotators in groups
    ]
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bench_bare (value TEXT)")
    if stored:
        _store(stored)
    return [f"/join/batch/{batch.join_token}/" for batch in batches]


def title(annotators: int) -> str:
    return f"Benchmark of {annotators}"


def _store(count: int) -> None:
    """Judgements of an earlier study, so that the tables are as large as they may get."""
    from tests import make
    from tools.benchmarks.completed import complete

    people = count // TEST_ITEMS
    batch = make.running_batch(zero_shot=True, training=0, tests=TEST_ITEMS, wanted=people + 1)
    complete(batch, people, lambda _person, _step: ["bad"])


def lost(study: str, acknowledged: int) -> tuple[int, int]:
    """Judgements stored for the study of that title, and how many acknowledged are missing."""
    from annotation.models import Judgement

    stored = Judgement.objects.filter(assignment__study__title=study).count()
    return stored, max(0, acknowledged - stored)


def serve(port: int) -> subprocess.Popen[bytes]:
    from config.serve import WEB

    command = [*WEB, "--host", "127.0.0.1", "--port", str(port), "config.wsgi:application"]
    server = subprocess.Popen(command)
    until_it_listens(server, port)
    return server


def until_it_listens(server: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(10 * STARTED_IN_S):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    server.terminate()
    raise SystemExit("The server did not start.")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def report(database: str, annotators: int, loads: dict[str, Load]) -> None:
    answer = loads["answer"]
    stored, missing = lost(title(annotators), sum(answer.acknowledged))
    print(f"{database}, {annotators} annotators, no think time")
    for name, load in loads.items():
        print(
            f"  {name:9} {load.rate:7.0f}/s   p50 {load.percentile(0.5):6.0f} ms   "
            f"p95 {load.percentile(0.95):6.0f} ms   failures {load.failures}"
        )
    for name in ("nothing", "signed in", "insert"):
        print(f"  answer / {name:9} {answer.rate / loads[name].rate:.2f}")
    print(f"  acknowledged {sum(answer.acknowledged)}, stored {stored}, lost {missing}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--annotators", type=int, nargs="+", default=[50])
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--stored", type=int, default=0, help="judgements there beforehand")
    parser.add_argument("--database", help="measure on this one alone, which must be empty")
    options = parser.parse_args()
    if options.database:
        return run(options)
    measure_on_each(__spec__.name)


def run(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATA_DIR"] = folder
        os.environ["DATABASE_URL"] = options.database
        os.environ["DJANGO_SETTINGS_MODULE"] = "tools.benchmarks.answer_settings"
        links = prepare(options.annotators, options.stored)
        for annotators, link in zip(options.annotators, links, strict=True):
            run_group(annotators, link, options.seconds)


def run_group(annotators: int, link: str, seconds: float) -> None:
    from django.db import connection

    port = free_port()
    server = serve(port)
    try:
        loads = asyncio.run(measure(f"http://127.0.0.1:{port}", link, annotators, seconds))
    finally:
        server.terminate()
        server.wait()
    report(connection.display_name, annotators, loads)


if __name__ == "__main__":
    main()

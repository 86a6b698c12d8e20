"""Web workers killed while people answer: what was acknowledged is stored, once and as it was sent,
and what was not is sent again without harm."""

import asyncio
import os
import random
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen

import aiohttp
import pytest
from django.conf import settings
from django.db import connection

from annotation.models import Batch, Judgement
from tests import make
from tests.config.test_serve import children, free_port, lines_until_running, start

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.linux,
    pytest.mark.django_db(transaction=True),
]

ANNOTATORS = 4
KILLS = 4
ITEMS = 1_000  # more than anybody answers here
# The database is there, and nothing is a job: what `make run` does besides would take its time.
WEB_ALONE = """
import sys
from config import serve
of_all = serve.services_on
serve.prepared_data = str
serve.services_on = lambda host, port: of_all(host, port)[:1]
serve.main(*sys.argv[1:])
"""
STEP = re.compile(r'name="step" value="(\d+)"')
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


@pytest.fixture
def batch() -> Batch:
    return make.running_batch(zero_shot=True, training=0, tests=ITEMS, wanted=ANNOTATORS)


@pytest.fixture
def server(batch: Batch, tmp_path: Path) -> Iterator[tuple["Popen[str]", str]]:
    """As `make run` has the web server, on this test's database."""
    port = free_port()
    process = start(
        tmp_path,
        port,
        run=("-c", WEB_ALONE),
        DATABASE_URL=url_of_this_database(),
        IDENTITY_KEY=settings.IDENTITY_KEY,
    )
    lines_until_running(process)
    yield process, f"http://127.0.0.1:{port}"
    process.send_signal(signal.SIGTERM)
    process.communicate()


def url_of_this_database() -> str:
    found = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{found['NAME']}"
    return f"postgresql://{found['USER']}@{found['HOST']}:{found['PORT']}/{found['NAME']}"


@dataclass
class Person:
    """Sends each answer until it is acknowledged, as the page does."""

    session: aiohttp.ClientSession
    address: str
    token: str = ""
    sent: list[str] = field(default_factory=list)
    # What came instead of an acknowledgement: statuses, 0 for a broken connection.
    refused: list[int] = field(default_factory=list)

    async def enter(self, link: str) -> None:
        for method, path, given in (
            ("GET", link, {}),
            ("POST", "/work/consent/", {"agree": "1"}),
            ("POST", "/work/begin/", {}),
        ):
            status, page = await self._ask(method, path, given)
            assert status == 200, page
            found = TOKEN.search(page)
            assert found, page
            self.token = found[1]

    async def answer_until(self, over: asyncio.Event) -> None:
        chance = random.Random(id(self))
        while not over.is_set():
            await self._answer(str(chance.randrange(2)))

    async def _answer(self, option: str) -> None:
        step = len(self.sent)
        while True:
            status, page = await self._ask(
                "POST", "/work/submit/", {"step": str(step), "option": option}
            )
            shown = STEP.search(page)
            if status == 200 and shown and int(shown[1]) == step + 1:
                self.sent.append(option)
                return
            self.refused.append(status)
            await asyncio.sleep(0.1)

    async def _ask(self, method: str, path: str, given: dict[str, str]) -> tuple[int, str]:
        form = {"csrfmiddlewaretoken": self.token, **given} if method == "POST" else None
        try:
            async with self.session.request(method, self.address + path, data=form) as response:
                return response.status, await response.text()
        except aiohttp.ClientError:
            return 0, ""


def web_workers(process: "Popen[str]") -> list[int]:
    """None while the web server itself is started again: granian ends when one of its workers dies
    right after the start."""
    try:
        servers = [pid for pid, title in children(process.pid).items() if "granian" in title]
        return sorted(worker for server in servers for worker in children(server))
    except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
        return []


async def kill_workers(process: "Popen[str]", people: list[Person], over: asyncio.Event) -> None:
    """One after the other, each once people have gone on since the last; then they go on again."""
    try:
        killed = 0
        while killed < KILLS:
            await more_answers(people)
            if workers := web_workers(process):
                os.kill(workers[killed % len(workers)], signal.SIGKILL)
                killed += 1
        await more_answers(people)
    finally:
        over.set()


async def more_answers(people: list[Person]) -> None:
    before = [len(person.sent) for person in people]
    while any(len(person.sent) < count + 2 for person, count in zip(people, before, strict=True)):
        await asyncio.sleep(0.02)


async def answer_beside_kills(process: "Popen[str]", address: str, link: str) -> list[Person]:
    over = asyncio.Event()
    people = []
    for _ in range(ANNOTATORS):
        jar = aiohttp.CookieJar(unsafe=True)
        person = Person(aiohttp.ClientSession(cookie_jar=jar), address)
        await person.enter(link)
        people.append(person)
    try:
        await asyncio.gather(
            kill_workers(process, people, over), *(person.answer_until(over) for person in people)
        )
    finally:
        for person in people:
            await person.session.close()
    return people


def test_lose_no_answer_and_double_none(batch: Batch, server: tuple["Popen[str]", str]) -> None:
    process, address = server
    link = f"/join/batch/{batch.join_token}/"
    # In a thread of its own: where a browser was driven before, this one has a loop already.
    with ThreadPoolExecutor(1) as pool:
        people = pool.submit(asyncio.run, answer_beside_kills(process, address, link)).result()
    assert {status for person in people for status in person.refused} <= {0, 503}
    assert any(0 in person.refused for person in people), "no kill met an answer"
    assert min(len(person.sent) for person in people) > 0
    assert stored(batch) == sorted(labels_of(person) for person in people)


def labels_of(person: Person) -> list[str]:
    return [make.LABELS[int(option)] for option in person.sent]


def stored(batch: Batch) -> list[list[str]]:
    """The answers of each annotator in the order of their steps, which have no gap."""
    found = []
    for assignment in batch.assignments.all():
        rows = Judgement.objects.filter(assignment=assignment).order_by("step")
        steps, answers = zip(*rows.values_list("step", "answer"), strict=True)
        assert list(steps) == list(range(len(steps)))
        found.append([answer[0] for answer in answers])
    return sorted(found)

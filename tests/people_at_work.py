"""People from the link to the code, many at once in one thread: each sends the forms that it is
shown, and asks again whatever was refused, as the pages do."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import aiohttp
from django.http import HttpResponseBase
from yarl import URL

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
STEP = re.compile(r'name="step" value="(\d+)"')
ASKS_AGAIN_AFTER_S = 0.3
PATIENCE_S = 60

Pause = Callable[[], Awaitable[None]]


async def no_pause() -> None:
    return


@dataclass
class Person:
    """`origins` gives the web server of each request; `pause` is taken before each form."""

    session: aiohttp.ClientSession
    origins: Iterator[str]
    pause: Pause = no_pause
    page: str = ""
    # The options sent in the test, in the order of their acknowledgement.
    sent: list[str] = field(default_factory=list)
    # How many answers were acknowledged, those of practice among them.
    acknowledged: int = 0
    # Called with how long a page took, and with what came instead of one: a status, 0 for a broken
    # connection.
    waited: Callable[[float], object] = lambda seconds: None
    refused: Callable[[int], object] = lambda status: None

    @property
    def is_done(self) -> bool:
        return "CODE-" in self.page

    async def come_in(self, link: str) -> None:
        await self.asks("GET", link)
        await self.asks("POST", "/work/consent/", agree="1")
        if not self.is_done:
            await self.asks("POST", "/work/begin/")

    async def work(self, *, leaves_after: int | None = None) -> None:
        """To the code, or until so many forms are sent."""
        forms = 0
        while not self.is_done and forms != leaves_after:
            await self.pause()
            await self._send_what_is_shown()
            forms += 1

    async def _send_what_is_shown(self) -> None:
        step = STEP.search(self.page)
        assert step, self.page
        if "data-reveal-form" in self.page:
            await self.asks("POST", "/work/next/", step=step[1])
        elif "practice-done" in self.page:
            await self.asks("POST", "/work/begin/", step=step[1])
        else:
            option = str((int(step[1]) + id(self)) % 2)
            await self.asks("POST", "/work/submit/", step=step[1], option=option)
            self.acknowledged += 1
            if "data-reveal-form" not in self.page:
                self.sent.append(option)

    async def asks(self, method: str, path: str, **sent: str) -> None:
        """Until there is a page."""
        began = time.perf_counter()
        while True:
            token = TOKEN.search(self.page)
            form = {"csrfmiddlewaretoken": token[1] if token else "", **sent}
            status, page = await self._asks_once(method, next(self.origins) + path, form)
            if status == 200:
                self.page = page
                self.waited(time.perf_counter() - began)
                return
            self.refused(status)
            await asyncio.sleep(ASKS_AGAIN_AFTER_S)

    async def _asks_once(self, method: str, address: str, form: dict[str, str]) -> tuple[int, str]:
        given = form if method == "POST" else None
        try:
            async with self.session.request(method, address, data=given) as response:
                return response.status, await response.text()
        except (aiohttp.ClientError, TimeoutError):
            return 0, ""


@asynccontextmanager
async def session(
    *, headers: Mapping[str, str] | None = None, secure: Sequence[str] = ()
) -> AsyncIterator[aiohttp.ClientSession]:
    """With cookies of its own; `secure` are web servers behind what would terminate TLS."""
    jar = aiohttp.CookieJar(unsafe=True, treat_as_secure_origin=[URL(each) for each in secure])
    patience = aiohttp.ClientTimeout(PATIENCE_S)
    async with aiohttp.ClientSession(cookie_jar=jar, timeout=patience, headers=headers) as opened:
        yield opened


def page_of(response: HttpResponseBase) -> str:
    """Where a redirect leads, without whose work it names."""
    return urlsplit(response["Location"]).path

"""A page that is handed on to the next test keeps nothing of the one before."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from tests.browser.conftest import LAPTOP, PHONE
from tests.browser.kept import KeptPages
from tests.every import every

# A file that every page loads.
FILE = "/static/base.css"
STORES = """() => {
  localStorage.setItem("a", "b");
  sessionStorage.setItem("a", "b");
  window.name = "a";
  window.left = "a";
  document.cookie = "a=b";
}"""
STORED = """() => [
  localStorage.length, sessionStorage.length, name, typeof window.left, document.cookie,
  innerWidth, matchMedia("(prefers-color-scheme: dark)").matches, matchMedia("print").matches,
  navigator.onLine, document.querySelector("pre:hover") !== null,
]"""
LASTING: dict[str, Callable[[Page], object]] = {
    "a route": lambda page: page.context.route("**/*", lambda route: route.abort()),
    "a clock": lambda page: page.clock.install(),
    "a script": lambda page: page.add_init_script("window.left = 1"),
    "a session": lambda page: page.context.new_cdp_session(page),
    "a right": lambda page: page.context.grant_permissions(["geolocation"]),
    "its end": lambda page: page.close(),
}


@pytest.fixture
def pages(pages_of_all: KeptPages) -> Iterator[KeptPages]:
    yield pages_of_all
    pages_of_all.take_back()


def test_comes_as_if_it_were_new(pages: KeptPages, live_server: LiveServer) -> None:
    page, heard = pages.give(LAPTOP), list[str]()
    page.goto(live_server.url + FILE)
    new = page.evaluate(STORED)
    page.evaluate(STORES)
    page.on("console", lambda message: heard.append(message.text))
    page.emulate_media(color_scheme="dark", media="print")
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.mouse.move(20, 20)
    page.context.new_page().goto(live_server.url + FILE)
    page.route("**/*", lambda route: route.abort())
    page.context.set_offline(True)
    # Nothing of what is asked about is as it was.
    assert every(before != now for before, now in zip(new, page.evaluate(STORED), strict=True))
    pages.take_back()
    assert pages.give(LAPTOP) == page
    page.goto(live_server.url + FILE)
    page.evaluate("console.log('a')")
    assert (page.evaluate(STORED), page.context.pages, heard) == (new, [page], [])


@pytest.mark.parametrize("change", LASTING.values(), ids=LASTING)
def test_is_not_handed_on_with_what_cannot_be_undone(
    pages: KeptPages, change: Callable[[Page], object]
) -> None:
    page = pages.give(LAPTOP)
    change(page)
    pages.take_back()
    assert pages.give(LAPTOP) != page


def test_is_nobody_elses_meanwhile(pages: KeptPages) -> None:
    first, second = pages.give(LAPTOP), pages.give(LAPTOP)
    assert first.context != second.context
    pages.take_back()
    assert pages.give(LAPTOP, is_mobile=True) not in (first, second)

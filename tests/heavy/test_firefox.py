"""Whole batches of every answer kind in Firefox, on a laptop's and on a phone's window."""

import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserType, Locator, Playwright
from pytest_django.live_server_helper import LiveServer

from tests import tools
from tests.browser.batches import WORK, batch_of, is_done_right, works_through
from tests.browser.conftest import LAPTOP, PHONE
from tests.browser.person import KEYBOARD, MOUSE, TOUCH, Person

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.system]

# A slow machine is not a defect.
PATIENCE_MS = 300_000


class FirefoxPerson(Person):
    def touches(self, target: Locator) -> None:
        """The bridge makes a touch of every click."""
        target.click()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What Playwright starts in Firefox's place."""
    path = tools.find_firefox()
    assert path, "There is no Firefox: make test-all installs it."
    bridge = Path(tools.__file__).parent / "browser" / "firefox_bridge.py"
    program = tmp_path_factory.mktemp("firefox") / "firefox"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{bridge}" "{path}" "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


Started = Callable[..., Browser]


@pytest.fixture(scope="module")
def started(playwright: Playwright, program: Path) -> Iterator[Started]:
    """Firefox, once for each radius of a finger."""
    kind: BrowserType = playwright.firefox
    browsers: dict[float, Browser] = {}

    def start(finger: float = 0) -> Browser:
        if finger not in browsers:
            browsers[finger] = kind.launch(
                channel="moz-firefox",
                executable_path=program,
                args=[f"--finger={finger}"] if finger else [],
                firefox_user_prefs={"dom.w3c_touch_events.enabled": 1},
                timeout=PATIENCE_MS,
            )
        return browsers[finger]

    yield start
    for browser in browsers.values():
        browser.close()


@pytest.mark.parametrize(
    ("size", "way"),
    [(LAPTOP, MOUSE), (LAPTOP, KEYBOARD), (PHONE, TOUCH), (PHONE, KEYBOARD)],
    ids=["laptop, mouse", "laptop, keyboard", "phone, touch", "phone, keyboard"],
)
@pytest.mark.parametrize("work", WORK)
def test_leads_to_the_code(
    started: Started, live_server: LiveServer, work: str, size: tuple[int, int], way: str
) -> None:
    browser = started(14) if way == TOUCH else started()
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    context.set_default_timeout(PATIENCE_MS)
    person = FirefoxPerson(context.new_page(), live_server.url)
    batch = batch_of(work)
    works_through(person, batch, [way], leaves=way)
    is_done_right(person, batch)
    context.close()

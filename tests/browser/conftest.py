"""What the browser tests share: a person at work on a live server, and a researcher."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.kept import KeptPages
from tests.browser.person import Person

# The narrowest phone to support, a usual phone, a laptop.
NARROW, PHONE, LAPTOP = (320, 640), (390, 844), (1280, 800)
# Playwright's own.
USUAL = (1280, 720)

Comes = Callable[..., Person]

# A slow machine is not a defect.
expect.set_options(timeout=30_000)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    # Without it screenshots occasionally fail on machines without a graphics card.
    arguments = [*browser_type_launch_args["args"], "--disable-gpu"]
    return {**browser_type_launch_args, "args": arguments}


@pytest.fixture(scope="session")
def pages_of_all(browser: Browser) -> Iterator[KeptPages]:
    pages = KeptPages(browser)
    with pytest.MonkeyPatch.context() as patch:
        pages.watch(patch)
        yield pages


@pytest.fixture
def page(pages_of_all: KeptPages) -> Iterator[Page]:
    """A page to visit anything else with."""
    yield pages_of_all.give(USUAL)
    pages_of_all.take_back()


@pytest.fixture
def pages(pages_of_all: KeptPages, live_server: LiveServer) -> Iterator[KeptPages]:
    """Pages to visit the live server with, which are taken back before its data go."""
    yield pages_of_all
    pages_of_all.take_back()


@pytest.fixture
def person(somebody: Comes) -> Person:
    return somebody(USUAL)


@pytest.fixture
def researcher(pages: KeptPages, live_server: LiveServer) -> Page:
    """A page of somebody who is signed in with all rights."""
    client = Client()
    client.force_login(User.objects.create_superuser("researcher"))
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page = pages.give(USUAL)
    page.context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}]
    )
    return page


@pytest.fixture
def somebody(pages: KeptPages, live_server: LiveServer) -> Comes:
    """Makes a person with a browser of the given kind; each has their own cookies."""

    def come(size: tuple[int, int] = LAPTOP, *, touch: bool = False, **options: Any) -> Person:
        # One kind of a browser without touch, whether it says so or not.
        options |= {"has_touch": True, "is_mobile": True} if touch else {}
        return Person(pages.give(size, **options), live_server.url)

    return come

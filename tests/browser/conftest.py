"""What the browser tests share: a person at work on a live server, and a researcher."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.person import Person

# The narrowest phone to support, a usual phone, a laptop.
NARROW, PHONE, LAPTOP = (320, 640), (390, 844), (1280, 800)

Comes = Callable[..., Person]

# A slow machine is not a defect.
expect.set_options(timeout=30_000)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    # Without it screenshots occasionally fail on machines without a graphics card.
    arguments = [*browser_type_launch_args["args"], "--disable-gpu"]
    return {**browser_type_launch_args, "args": arguments}


@pytest.fixture
def person(page: Page, live_server: LiveServer) -> Person:
    return Person(page, live_server.url)


@pytest.fixture
def researcher(page: Page, live_server: LiveServer) -> Page:
    """A page of somebody who is signed in with all rights."""
    client = Client()
    client.force_login(User.objects.create_superuser("researcher"))
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}]
    )
    return page


@pytest.fixture
def somebody(browser: Browser, live_server: LiveServer) -> Iterator[Comes]:
    """Makes a person with a browser of the given kind; each has their own cookies."""
    contexts = []

    def come(size: tuple[int, int] = LAPTOP, *, touch: bool = False, **options: Any) -> Person:
        viewport: Any = {"width": size[0], "height": size[1]}
        context = browser.new_context(
            viewport=viewport, has_touch=touch, is_mobile=touch, **options
        )
        contexts.append(context)
        return Person(context.new_page(), live_server.url)

    yield come
    for context in contexts:
        context.close()

"""The pictures of the tutorial in docs/screens/research/: `make screens`.

Not a test: it takes pictures of what the tests drive."""

import pytest
from django.conf import settings
from django.core.management import call_command
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from tests.browser.tutorial import walk

pytestmark = pytest.mark.django_db(transaction=True)

FOLDER = settings.BASE_DIR / "docs" / "screens" / "research"


def test_the_tutorial(researcher: Page, live_server: LiveServer) -> None:
    call_command("load_demo")
    walk(researcher, live_server.url, FOLDER)

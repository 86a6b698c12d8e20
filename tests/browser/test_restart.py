"""The server of `make run`, killed while an answer is on its way to it."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from config.serve import WEB
from tests.migrated_once import begin_with_copy

TESTS = 10
# How long after the click the server dies, by the step of the answer: before, while and after
# it is stored.
KILLED_AFTER_S = {1: 0.0, 3: 0.01, 5: 0.03, 7: 0.08}
BEGIN = f"""
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from tests import make
print(make.running_batch(zero_shot=True, tests={TESTS}).join_token)
"""


class Server:
    """On a free port, over a database of its own."""

    def __init__(self, folder: Path) -> None:
        self.database = folder / "killed.sqlite3"
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": f"sqlite:///{self.database}",
            "DATA_DIR": str(folder),
        }
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def prepare(self) -> str:
        """A running batch; returns its link."""
        begin_with_copy(self.database)
        command = [sys.executable, "-c", BEGIN]
        made = subprocess.run(
            command, env=self.environment, cwd=settings.BASE_DIR, capture_output=True, check=True
        )
        return f"{self.url}/join/batch/{made.stdout.decode().strip()}/"

    def start(self) -> None:
        command = [*WEB, "--host", "127.0.0.1", "--port", str(self.port), "config.wsgi:application"]
        # A process group of its own, so that its workers can be ended with it, and nothing else.
        self.process = subprocess.Popen(
            command, env=self.environment, cwd=settings.BASE_DIR, start_new_session=True
        )
        while not self.answers():
            assert self.process.poll() is None, "The server ended by itself."
            time.sleep(0.05)

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5) as response:
                return response.status == 200
        except OSError:
            return False

    def end(self, number: signal.Signals = signal.SIGKILL) -> None:
        if self.process:
            os.killpg(self.process.pid, number)
            self.process.wait()
            self.process = None

    def stored(self) -> list[tuple[int, str]]:
        with sqlite3.connect(self.database) as connection:
            rows = connection.execute("SELECT step, answer FROM annotation_judgement ORDER BY id")
            return [(step, json.loads(answer)[0]) for step, answer in rows]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path)
    yield made
    made.end()


def test_loses_nothing_and_doubles_nothing(page: Page, server: Server) -> None:
    way_in = server.prepare()
    server.start()
    page.goto(way_in)
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="Start").click()
    for step in range(TESTS):
        expect(page.locator("[name=step]")).to_have_value(str(step))
        # What the page has acknowledged is stored, and nothing else is.
        assert server.stored() == given(step)
        page.locator(".option").nth(step % 2).click()
        page.evaluate("setTimeout(() => document.querySelector('[data-send]').click())")
        if step in KILLED_AFTER_S:
            time.sleep(KILLED_AFTER_S[step])
            server.end()
            expect(page.locator(".option").nth(0)).to_be_visible()
            server.start()
    expect(page.locator("main")).to_contain_text("CODE-COMPLETED")
    assert server.stored() == given(TESTS)


def given(count: int) -> list[tuple[int, str]]:
    return [(step, ["bad", "good"][step % 2]) for step in range(count)]


def test_says_not_saved_while_the_server_is_away(page: Page, server: Server) -> None:
    way_in = server.prepare()
    server.start()
    page.goto(way_in)
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="Start").click()
    page.locator(".option").nth(1).click()
    page.wait_for_load_state()  # a page without its script would show the browser's own error
    server.end(signal.SIGTERM)
    page.locator("[data-send]").click()
    note = page.locator("[data-save-note]")
    expect(note).to_contain_text("Not saved yet")
    expect(page.locator("[name=option]").nth(1)).to_be_checked()
    server.start()
    expect(page.locator("[name=step]")).to_have_value("1")
    expect(note).to_be_empty()
    expect(page.locator("[data-saved]")).to_have_text("Item 1 saved")
    assert server.stored() == [(0, "good")]

"""A job's worker says that it lives beside the work, and ends what takes too much."""

from collections.abc import Callable
from threading import Event
from typing import Any

import pytest
from django.db import DatabaseError

from annotation.jobs import beside
from annotation.jobs.beside import watched

Settings = Any


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits for a beat."""
    monkeypatch.setattr(beside, "BEAT_S", 0.001)
    monkeypatch.setattr(beside, "GRACE_S", 0.001)
    monkeypatch.setattr(beside, "connection", type("None", (), {"close": lambda self: None})())


def work_until(done: Event) -> None:
    assert done.wait(30)


def test_beats_while_the_work_says_nothing() -> None:
    beats, often = [], Event()

    def beat() -> None:
        beats.append(1)
        if len(beats) == 3:
            often.set()

    with watched(beat, pytest.fail):
        work_until(often)
    count = len(beats)
    assert count >= 3
    assert len(beats) == count


@pytest.mark.parametrize(
    ("name", "told"), [("JOB_HOURS", "longer than 0 hours"), ("JOB_MEGABYTES", "more than 0 MB")]
)
def test_ends_what_takes_too_much(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, name: str, told: str
) -> None:
    setattr(settings, name, 0)
    left = Event()
    reasons: list[str] = []
    # As the worker would end here.
    monkeypatch.setattr("os._exit", lambda status: left.set())
    with watched(lambda: None, reasons.append):
        work_until(left)
    assert len(reasons) == 1
    assert told in reasons[0]
    assert name in reasons[0]


def test_a_worker_whose_job_stops_in_time_goes_on(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.JOB_HOURS, ended = 0, Event()
    monkeypatch.setattr(beside, "GRACE_S", 30)
    exits: list[int] = []
    monkeypatch.setattr("os._exit", exits.append)
    with watched(lambda: None, lambda why: ended.set()):
        work_until(ended)
    assert exits == []


def test_a_database_that_is_away_ends_nothing() -> None:
    tries, twice = [], Event()

    def beat() -> None:
        tries.append(1)
        if len(tries) == 2:
            twice.set()
        raise DatabaseError("gone")

    with watched(beat, pytest.fail):
        work_until(twice)
    assert len(tries) >= 2


def test_knows_how_much_memory_this_process_has() -> None:
    before = beside._memory()
    held = bytes(50_000_000)
    more: Callable[[], int] = beside._memory
    assert more() >= before
    assert len(held) == 50_000_000
    assert 10_000_000 < before < 100_000_000_000

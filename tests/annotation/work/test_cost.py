"""What a step costs the server, which it does a million times: counted, since times differ."""

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Assignment, Batch, Judgement
from tests import make

pytestmark = pytest.mark.django_db(transaction=True)
# Of the interpreter's instructions, through all middleware and with the page that follows, as a
# multiple of what the ORM takes to insert the answer. Raise it knowingly, lower it gladly.
STEP_OVER_INSERT = 3.55
TOLERANCE = 0.1
STEPS = 8


@pytest.fixture
def batch() -> Batch:
    return make.running_batch(zero_shot=True, tests=STEPS + 1)


def joined(batch: Batch) -> Client:
    browser = Client()
    browser.get(reverse("annotation:join_study", args=[batch.study.join_token]))
    browser.post(reverse("annotation:consent"), {"agree": "1"})
    browser.post(reverse("annotation:begin"))
    return browser


def submit(browser: Client, step: int) -> None:
    """As htmx sends it."""
    form = f"csrfmiddlewaretoken={'x' * 64}&step={step}&option=0"
    headers = {"HX-Request": "true"}
    url_encoded = "application/x-www-form-urlencoded"
    response = browser.post(
        reverse("annotation:submit"), form, content_type=url_encoded, headers=headers
    )
    assert response.status_code == 200
    assert f'name="step" value="{step + 1}"' in response.content.decode()


def instructions(act: Callable[[], Any]) -> int:
    """How many of its own the interpreter carries out."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def insert(assignment: Assignment, like: Judgement) -> None:
    kept = ("step", "example_id", "role", "answer", "spans", "shown_at", "submitted_at", "paid_ms")
    copied = {name: getattr(like, name) for name in kept}
    Judgement.objects.create(assignment=assignment, **copied)


def test_a_step_costs_no_more_than_it_did(batch: Batch) -> None:
    # What a process keeps of a batch is kept once somebody has been through it.
    first, browser = joined(batch), joined(batch)
    for step in range(STEPS):
        submit(first, step)
    steps = [instructions(partial(submit, browser, step)) for step in range(STEPS)]
    other, answers = make.at_work(batch), Judgement.objects.filter(assignment__step=STEPS)[:STEPS]
    inserts = [instructions(partial(insert, other, like)) for like in answers]
    ratio = min(steps) / min(inserts)
    assert ratio <= STEP_OVER_INSERT * (1 + TOLERANCE)


def test_a_step_asks_the_database_three_times(batch: Batch) -> None:
    browser = joined(batch)
    submit(browser, 0)
    with CaptureQueriesContext(connection) as asked:
        submit(browser, 1)
    words = [query["sql"].split()[0] for query in asked.captured_queries]
    assert [word for word in words if word not in ("BEGIN", "COMMIT")] == [
        "SELECT",  # the assignment, its study and its place
        "INSERT",  # the answer
        "UPDATE",  # the step
    ]

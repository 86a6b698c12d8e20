"""The page between training and test."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Outcome, WorkState
from annotation.work.judging import begin, leave_reveal, submit_answer
from annotation.work.page import page_context
from tests import make

pytestmark = pytest.mark.django_db

PAGE = "annotation/work/_practice_done.html"


def trained(*, wrong: int = 0, **study: Any) -> Assignment:
    """An assignment that has left its last reveal."""
    assignment = make.at_work(make.running_batch(training=2, tests=4, **study))
    for step in range(2):
        form = make.wrong_answer(assignment) if step < wrong else make.right_answer(assignment)
        submit_answer(assignment, step=step, form=form, times={}, at=make.NOON)
        leave_reveal(assignment, step=step, at=make.NOON)
    return assignment


def test_tells_the_score_and_what_is_left_before_the_test() -> None:
    assignment = trained(wrong=1)
    assert (assignment.state, assignment.step) == (WorkState.DESCRIPTION, 2)
    context = page_context(assignment)
    assert context["panel"] == PAGE
    assert (context["score"], context["training_count"], context["test_count"]) == (0.5, 2, 4)


def test_leads_into_the_test_and_pays_the_reading_up_to_its_cap() -> None:
    assignment = trained(reading_cap_s=30)
    before = assignment.paid_ms
    begin(assignment, step=2, at=make.NOON + timedelta(seconds=50))
    assert (assignment.state, assignment.step) == (WorkState.ANSWERING, 2)
    assert assignment.paid_ms - before == 30_000


def test_is_not_skipped_by_the_form_of_the_task_description() -> None:
    assignment = trained()
    begin(assignment, at=make.NOON)
    assert assignment.state == WorkState.DESCRIPTION


def test_is_not_shown_to_those_whose_part_ends_with_the_training() -> None:
    assignment = trained(wrong=2, min_training_score=50)
    assert assignment.outcome == Outcome.SCREENED_OUT


def test_takes_no_answer() -> None:
    assignment = trained()
    judgement = submit_answer(assignment, step=2, form={"option": "0"}, times={}, at=make.NOON)
    assert judgement is None


def test_says_what_is_wrong_with_a_form_that_it_cannot_read() -> None:
    client = Client()
    batch = make.running_batch()
    client.get(reverse("annotation:join_batch", args=[batch.join_token]), follow=True)
    client.post("/work/consent/", {"agree": "1"})
    assert client.post("/work/begin/", {"step": "x"}).status_code == 422

"""What the consent page says of time and money, and that it holds."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from annotation.models import Assignment, Batch, OutcomeRule, WorkState
from annotation.studies.lifecycle import start_study
from annotation.work.estimating import ENOUGH_PEOPLE, consent_facts
from annotation.work.judging import begin, leave_reveal, submit_answer
from annotation.work.page import page_context
from tests import make

pytestmark = pytest.mark.django_db


def said(*batches: Batch) -> dict[str, str]:
    """The sentences under each heading."""
    facts = consent_facts(batches[0].study, batches)
    return {name: " ".join(told).replace("\u00a0", " ") for name, told in facts.items()}


def _ruled(batch: Batch, outcome: str, **rule: Any) -> Batch:
    OutcomeRule.objects.filter(study=batch.study, outcome=outcome).update(**rule)
    return batch


def test_plans_the_time_as_long_as_too_few_have_finished() -> None:
    batch = make.running_batch(training=3, tests=15, wanted=9, hourly_rate=12)
    for _ in range(ENOUGH_PEOPLE - 1):
        make.worked_through(batch)
    # A minute's reading, 18 examples of 20 seconds, 3 reveals of 5.
    facts = said(batch)
    assert "About 8 minutes of work. This is an estimate" in facts["How long it takes"]
    assert "About 1.45 USD in all" in facts["What you are paid"]


def test_tells_the_median_once_enough_have_finished() -> None:
    batch = make.running_batch(zero_shot=True, tests=2, wanted=9, hourly_rate=12)
    for minutes in range(1, 1 + ENOUGH_PEOPLE):
        done = make.worked_through(batch)
        Assignment.objects.filter(pk=done.pk).update(paid_ms=60_000 * minutes)
    facts = said(batch)
    assert facts["How long it takes"] == (
        "About 3 minutes of work: the median pace of people who have finished such work."
    )
    assert "About 0.60 USD in all" in facts["What you are paid"]
    assert "12.00 USD an hour" in facts["What you are paid"]


def test_plans_no_longer_than_is_paid() -> None:
    batch = make.running_batch(
        training=1, tests=5, item_cap_s=10, reading_cap_s=20, reveal_cap_s=1, hourly_rate=36
    )
    assert "About 2 minutes" in said(batch)["How long it takes"]
    assert "About 0.81 USD" in said(batch)["What you are paid"]


def test_tells_the_minimum_of_those_who_go_to_the_end() -> None:
    batch = _ruled(make.running_batch(), "completed", minimum=5)
    facts = said(batch)
    assert "About 5.00 USD in all" in facts["What you are paid"]
    assert "at least 5.00 USD" in facts["What you are paid"]


def test_tells_the_range_where_it_may_be_one_of_several_batches() -> None:
    bench = make.benchmark()
    study = make.study(bench, hourly_rate=12)
    for tests in (9, 57):
        make.batch(study, make.task(bench, tests=tests), zero_shot=True)
    start_study(study, at=make.NOON)
    facts = said(*study.batches.all())
    assert "About 4 minutes to 20 minutes" in facts["How long it takes"]
    assert "About 0.80 USD to 4.00 USD in all" in facts["What you are paid"]


def test_says_the_caps_in_plain_words() -> None:
    batch = make.running_batch(
        training=2, tests=3, item_cap_s=180, reading_cap_s=300, reveal_cap_s=90, hourly_rate=12
    )
    assert said(batch)["What is paid at most"] == (
        "At most 3 minutes are paid for one example, 5 minutes for reading what to do and again "
        "before the test, and "
        "1 minute 30 seconds for looking at one right answer. "
        "Time beyond that counts as a pause, and is not paid. "
        "If every page took that long, it would be 28 minutes in all. "
        "Nobody is paid more than 5.60 USD."
    )


def test_says_the_caps_of_long_work_in_hours() -> None:
    batch = make.running_batch(zero_shot=True, tests=157, item_cap_s=180, reading_cap_s=420)
    assert "it would be 7 hours 58 minutes in all" in said(batch)["What is paid at most"]


def test_says_no_less_than_what_an_end_pays_at_least() -> None:
    batch = make.running_batch(zero_shot=True, tests=1, item_cap_s=60, reading_cap_s=60)
    _ruled(batch, "completed", minimum=5)
    assert "Nobody is paid more than 5.00 USD." in said(batch)["What is paid at most"]


def test_says_nothing_of_right_answers_where_none_is_shown() -> None:
    facts = said(make.running_batch(zero_shot=True))
    assert "right answer" not in " ".join(facts.values())


@pytest.mark.parametrize("rule", [{"min_training_score": 60}, {"max_drop": 10}])
def test_says_by_when_one_may_be_sent_away_and_what_is_paid_then(rule: dict[str, Any]) -> None:
    batch = _ruled(make.running_batch(**rule), "screened_out", minimum=Decimal("0.50"))
    sentences = said(batch)["Whether it may end early"]
    assert sentences.startswith("When the practice ends you may be told")
    assert "paid for the time worked until then, and at least 0.50 USD" in sentences


@pytest.mark.parametrize("fields", [{}, {"min_training_score": 60, "zero_shot": True}])
def test_says_where_nobody_is_sent_away(fields: dict[str, Any]) -> None:
    facts = said(make.running_batch(**fields))
    assert facts["Whether it may end early"] == "Nobody is sent away for their answers."


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ({}, "You are then paid for the time worked until then."),
        ({"minimum": 1}, "for the time worked until then, and at least 1.00 USD."),
        ({"pays_time": False, "minimum": 1}, "You are then paid 1.00 USD."),
        ({"pays_time": False}, "Nothing is paid then."),
    ],
)
def test_says_how_to_pause_and_what_stopping_pays(rule: dict[str, Any], sentence: str) -> None:
    batch = make.running_batch(lease_minutes=45, expire_hours=7)
    sentences = said(_ruled(batch, "withdrawn", **rule))["Pausing and stopping"]
    assert "Your place is kept for 45 minutes" in sentences
    assert "After 7 hours without a sign of life" in sentences
    assert sentences.endswith(sentence)


def test_says_what_is_paid_to_who_stays_away_too_long() -> None:
    batch = make.running_batch()
    sentence = "After 24 hours without a sign of life the work ends. You are then paid for the time"
    assert sentence in said(batch)["Pausing and stopping"]
    _ruled(batch, "expired", pays_time=False)
    sentences = said(batch)["Pausing and stopping"]
    assert "somebody else may take it. You are then paid for the time" in sentences
    assert "the work ends. Nothing is paid then." in sentences


def test_says_whom_to_ask() -> None:
    assert said(make.running_batch(contact="a@b.org"))["Whom to ask"] == "a@b.org"
    assert "Whom to ask" not in said(make.running_batch())


def test_never_pays_more_than_it_said() -> None:
    batch = make.running_batch(
        training=1, tests=2, item_cap_s=30, reading_cap_s=60, reveal_cap_s=10, hourly_rate=36
    )
    assert "more than 2.20 USD" in said(batch)["What is paid at most"]
    assignment = make.joined(batch)
    at = make.NOON
    while not assignment.is_finished:
        at += timedelta(minutes=50)
        if assignment.state == WorkState.DESCRIPTION:
            begin(assignment, step=assignment.step, at=at)
        elif assignment.state == WorkState.REVEALED:
            leave_reveal(assignment, step=assignment.step, at=at)
        else:
            form = make.right_answer(assignment)
            submit_answer(assignment, step=assignment.step, form=form, times={}, at=at)
    assert assignment.amount == Decimal("2.20")


def test_says_what_lies_ahead_once_the_batch_is_known() -> None:
    batch = make.running_batch(training=3, tests=15, hourly_rate=12)
    make.joined(batch)
    shown = page_context(Assignment.objects.get())["ahead"]
    assert [sentence.replace("\u00a0", " ") for sentence in shown] == [
        "Then 15 examples without feedback.",
        "About 8 minutes of work. This is an estimate: too few have finished to tell from them.",
        "About 1.45 USD in all, if you go to the end.",
    ]


def test_says_of_a_batch_without_practice_how_long_it_takes() -> None:
    make.joined(make.running_batch(zero_shot=True, tests=15))
    assert page_context(Assignment.objects.get())["ahead"][0].startswith("About 6 minutes of work.")

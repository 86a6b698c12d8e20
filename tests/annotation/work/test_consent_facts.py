"""What the consent page says of time and money, and that it holds."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Batch, Kind, OutcomeRule, WorkState
from annotation.models.frozen import batch_content
from annotation.studies.lifecycle import start_study
from annotation.work.consent_facts import asked_of, consent_facts
from annotation.work.estimating import ENOUGH_PEOPLE
from annotation.work.judging import begin, leave_reveal, submit_answer
from annotation.work.page import page_context
from tests import make

pytestmark = pytest.mark.django_db


def said(*batches: Batch) -> dict[str, str]:
    """What is told in detail under each heading, and first, without one, what is told in short."""
    study, contents = batches[0].study, [batch_content(batch.pk) for batch in batches]
    short, details = consent_facts(study, contents)
    facts = {"": short, **details}
    return {name: " ".join(told).replace("\u00a0", " ") for name, told in facts.items()}


def _ruled(batch: Batch, outcome: str, **rule: Any) -> Batch:
    OutcomeRule.objects.filter(study=batch.study, outcome=outcome).update(**rule)
    return batch


def test_plans_the_time_as_long_as_too_few_have_finished() -> None:
    batch = make.running_batch(training=3, tests=15, wanted=9, hourly_rate=12)
    for _ in range(ENOUGH_PEOPLE - 1):
        make.worked_through(batch)
    # 18 examples of 20 seconds, with all that belongs to them.
    facts = said(batch)
    assert facts[""].startswith("About 6 minutes (our estimate; hardly anyone has finished yet).")
    assert "12 USD an hour for the time you work: about 1.20 USD in all" in facts[""]
    assert facts["What you are paid"] == "By this estimate 1.20 USD for 6 minutes of work."


def test_tells_the_median_once_enough_have_finished() -> None:
    batch = make.running_batch(zero_shot=True, tests=2, wanted=9, hourly_rate=12)
    for minutes in range(1, 1 + ENOUGH_PEOPLE):
        done = make.worked_through(batch)
        with make.unlocked():
            Assignment.objects.filter(pk=done.pk).update(paid_ms=60_000 * minutes)
    facts = said(batch)
    assert "About 3 minutes (at the median pace of those who have finished)." in facts[""]
    assert "about 0.60 USD in all" in facts[""]


def test_plans_no_longer_than_is_paid() -> None:
    batch = make.running_batch(
        training=1, tests=5, item_cap_s=10, reading_cap_s=20, reveal_cap_s=1, hourly_rate=36
    )
    assert "About 1 minute" in said(batch)[""]
    assert "about 0.60 USD" in said(batch)[""]


def test_tells_the_minimum_of_those_who_go_to_the_end() -> None:
    batch = _ruled(make.running_batch(), "completed", minimum=5)
    facts = said(batch)
    assert "about 5 USD in all" in facts[""]
    assert "at least 5.00 USD" in facts["What you are paid"]


def test_tells_the_range_where_it_may_be_one_of_several_batches() -> None:
    bench = make.benchmark()
    study = make.study(bench, hourly_rate=12)
    for tests in (12, 69):
        make.batch(study, make.task(bench, tests=tests), zero_shot=True)
    start_study(study, at=make.NOON)
    facts = said(*study.batches.all())
    assert "About 4 to 23 minutes" in facts[""]
    assert "about 0.80 USD to 4.60 USD in all" in facts[""]
    assert "0.80 USD to 4.60 USD for 4 to 23 minutes" in facts["What you are paid"]


def test_says_the_caps_in_plain_words() -> None:
    batch = make.running_batch(
        training=2, tests=3, item_cap_s=180, reading_cap_s=300, reveal_cap_s=90, hourly_rate=12
    )
    assert said(batch)["Pay limits"] == (
        "More than 3 minutes on one item counts as a pause; so does more than 5 minutes on the "
        "instructions, each time they are shown, or 1 minute 30 seconds on a right answer. "
        "Pauses are not paid. Nobody is paid more than 5.60 USD."
    )


def test_says_no_less_than_what_an_end_pays_at_least() -> None:
    batch = make.running_batch(zero_shot=True, tests=1, item_cap_s=60, reading_cap_s=60)
    _ruled(batch, "completed", minimum=5)
    assert "Nobody is paid more than 5.00 USD." in said(batch)["Pay limits"]


def test_says_nothing_of_right_answers_where_none_is_shown() -> None:
    facts = said(make.running_batch(zero_shot=True))
    assert "right answer" not in " ".join(facts.values())


@pytest.mark.parametrize("rule", [{"min_training_score": 60}, {"max_drop": 10}])
def test_says_by_when_one_may_be_sent_away_and_what_is_paid_then(rule: dict[str, Any]) -> None:
    batch = _ruled(make.running_batch(**rule), "screened_out", minimum=Decimal("0.50"))
    assert said(batch)[""].endswith(
        "It may end after the practice, if too few answers are right. "
        "You are then paid for the time you worked, and at least 0.50 USD."
    )


@pytest.mark.parametrize("fields", [{}, {"min_training_score": 60, "zero_shot": True}])
def test_says_where_nobody_is_sent_away(fields: dict[str, Any]) -> None:
    facts = said(make.running_batch(**fields))
    assert facts[""].endswith("Your answers cannot end your part early.")


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ({}, "You are then paid for the time you worked."),
        ({"minimum": 1}, "for the time you worked, and at least 1.00 USD."),
        ({"pays_time": False, "minimum": 1}, "You are then paid 1.00 USD."),
        ({"pays_time": False}, "Nothing is paid then."),
    ],
)
def test_says_how_to_pause_and_what_stopping_pays(rule: dict[str, Any], sentence: str) -> None:
    batch = make.running_batch(lease_minutes=45, expire_hours=7)
    facts = said(_ruled(batch, "withdrawn", **rule))
    assert "Your place is kept for 45 minutes" in facts["Pauses"]
    assert "After 7 hours without activity" in facts["Pauses"]
    told = facts[""].split("You can pause or stop at any time. ")[1]
    assert told.split(" Your answers cannot")[0].endswith(sentence)


def test_says_what_is_paid_to_who_stays_away_too_long() -> None:
    batch = make.running_batch()
    sentence = "After 24 hours without activity the work ends. You are then paid for the time"
    assert sentence in said(batch)["Pauses"]
    _ruled(batch, "expired", pays_time=False)
    sentences = said(batch)["Pauses"]
    assert "somebody else may take it. You are then paid for the time" in sentences
    assert "the work ends. Nothing is paid then." in sentences


def test_never_pays_more_than_it_said() -> None:
    batch = make.running_batch(
        training=1, tests=2, item_cap_s=30, reading_cap_s=60, reveal_cap_s=10, hourly_rate=36
    )
    assert "more than 2.20 USD" in said(batch)["Pay limits"]
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
    make.joined(make.running_batch(training=3, tests=15))
    shown = page_context(Assignment.objects.get())["ahead"]
    assert shown == "Then 15 items without feedback."


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (Kind.CHOICE, "You read short texts and choose one of 2 answers for each."),
        (Kind.SPANS, "You read short texts and mark words in them."),
        (Kind.CANDIDATE, "You read short texts and choose one of the names marked in each."),
        (Kind.TEXT, "You read short texts and type a short answer about each."),
    ],
)
def test_says_what_one_does(kind: str, sentence: str) -> None:
    assert asked_of([batch_content(make.running_batch(kind=kind).pk)]) == [sentence]


def test_says_what_each_task_of_a_link_asks_and_the_language_of_its_texts() -> None:
    bench = make.benchmark()
    study = make.study(bench)
    for kind in (Kind.CHOICE, Kind.SPANS):
        make.batch(study, make.task(bench, kind=kind, language="de"), zero_shot=True)
    start_study(study, at=make.NOON)
    told = asked_of([batch_content(batch.pk) for batch in study.batches.order_by("pk")])
    assert told[0] == "Your work is one of these:"
    assert told[2:] == ["You read short texts and mark words in them.", "The texts are in German."]


def test_is_short_before_the_details() -> None:
    """With every sentence that there is, but the researcher's own text and title."""
    batch = make.running_checked_batch(min_training_score=60, contact="")
    page = Client().get(reverse("annotation:join_batch", args=[batch.join_token]))
    html = page.content.decode()
    main = html[html.index("<main") : html.index("</main>")]
    shown = re.sub(
        r"<details>.*?</details>|<h1>.*?</h1>|<div class=\"prose\" dir=\"auto\">.*?</div>",
        "",
        main,
        flags=re.S,
    )
    assert len(re.sub(r"<[^>]*>", " ", shown).split()) <= 120
    assert "We store your answers." in main
    assert main.count("<details>") == 1

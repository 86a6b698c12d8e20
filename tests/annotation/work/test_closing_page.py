"""What is said at the end: the rule that applied, the time, the amount, the code."""

from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, JoinAnswer, Outcome, OutcomeRule
from annotation.work.closing_page import code_of, ending_of, pay_without_work
from annotation.work.finishing import end_by_closing, finish
from tests import make

pytestmark = pytest.mark.django_db


def ended(outcome: str, **study: Any) -> Assignment:
    """Somebody who had worked for 20 minutes and 54 seconds, at 12 an hour."""
    assignment = make.at_work(make.running_batch(**{"hourly_rate": 12, **study}))
    assignment.paid_ms = 1_254_321
    assignment.screening = {"reason": "floor", "score": 45.0, "floor": 60.0}
    assignment.save()
    finish(assignment, outcome, at=make.NOON)
    return assignment


def pay(assignment: Assignment) -> str:
    return " ".join(ending_of(assignment)["pay"]).replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("reason", "score", "told"),
    [
        ("floor", 45, "45%; you needed 60% to go on. That was fixed beforehand; you were not"),
        ("floor", 59.98, "59.9%; you needed 60% to go on."),
        ("drop", 70, "70%; you needed 71.3% to go on, by what other people scored."),
    ],
)
def test_tells_who_was_screened_out_the_score_and_the_mark(
    reason: str, score: float, told: str
) -> None:
    assignment = ended(Outcome.SCREENED_OUT)
    assignment.screening = {
        "reason": reason, "score": score, "floor": 60.0, "lowest_allowed": 71.25
    }  # fmt: skip
    assert f"Your practice score was {told}" in ending_of(assignment)["reason"].replace("\xa0", " ")


def test_tells_a_closing_from_silence() -> None:
    silent = ended(Outcome.EXPIRED, expire_hours=7)
    assert "for more than 7 hours" in ending_of(silent)["reason"]
    assert "closed" not in ending_of(silent)["reason"]
    closed = make.at_work(make.running_batch())
    end_by_closing(closed, at=make.NOON)
    assert "The study was closed" in ending_of(closed)["reason"]
    assert "Nothing was heard" not in ending_of(closed)["reason"]


def test_gives_the_time_and_the_amount_in_full() -> None:
    assignment = ended(Outcome.COMPLETED)
    sentence = "You worked 20 minutes 54 seconds: at 12.00 USD an hour that is 4.18 USD."
    assert pay(assignment) == sentence
    assert ending_of(assignment)["amount"] == "4.18\u00a0USD"


def test_ends_with_the_last_words_of_the_study_in_the_readers_language(client: Client) -> None:
    own = "We thank you.\nAnn & Bo\n\n[de]\nWir danken."
    assignment = ended(Outcome.COMPLETED, ending=own)
    client.get(reverse("annotation:resume", args=[assignment.resume_token]))
    for language, said in {"en": "We thank you.<br>Ann &amp; Bo", "de": "Wir danken."}.items():
        client.cookies[settings.LANGUAGE_COOKIE_NAME] = language
        shown = client.get("/work/").content.decode()
        assert f'<p dir="auto">{said}</p>' in shown


LEAST = "You get 5.00 USD, the least that is paid for work that ends this way."


def test_says_where_a_minimum_was_higher() -> None:
    assignment = ended(Outcome.WITHDRAWN)
    OutcomeRule.objects.update(minimum=5)
    assignment.amount = Decimal(5)
    assert pay(assignment).endswith(f"that is 4.18 USD. {LEAST}")


def test_says_what_the_platform_itself_pays_where_that_is_more() -> None:
    assignment = ended(Outcome.COMPLETED)
    OutcomeRule.objects.filter(outcome="completed").update(platform_pays=5)
    assert ending_of(assignment)["amount"] == "5.00\u00a0USD"
    assert pay(assignment).endswith(LEAST)


def test_says_where_the_time_is_not_paid() -> None:
    assignment = ended(Outcome.WITHDRAWN)
    OutcomeRule.objects.filter(outcome="withdrawn").update(pays_time=False)
    assignment.amount = Decimal(0)
    assert "the time is not paid after such an end" in pay(assignment)
    assert "12.00" not in pay(assignment)
    assert ending_of(assignment)["amount"] == "0.00\u00a0USD"


@pytest.mark.parametrize(
    ("via", "says"),
    [
        ("prolific", "enter it on Prolific yourself"),
        ("link", "the researchers may ask for it"),
    ],
)
def test_says_what_to_do_with_a_code(via: str, says: str) -> None:
    code = code_of(make.running_batch(via=via).study, Outcome.COMPLETED)
    assert code is not None
    assert says in code["help"]
    assert ("CODE-COMPLETED" in code["link"]) == (via == "prolific")


def test_says_where_to_enter_a_code_that_no_link_hands_in() -> None:
    batch = make.running_batch(via="prolific")
    batch.study.channel.completion_url = ""
    code = code_of(batch.study, Outcome.COMPLETED)
    assert code is not None
    assert "enter it on Prolific where you are asked" in code["help"]


@pytest.mark.parametrize(
    ("minimum", "says"), [(0, "so nothing is paid"), (Decimal("0.30"), "0.30 USD for having come")]
)
def test_says_what_a_latecomer_is_paid(minimum: Decimal, says: str) -> None:
    batch = make.running_batch(wanted=1)
    OutcomeRule.objects.filter(study=batch.study, outcome="full").update(minimum=minimum)
    make.at_work(batch, at=timezone.now())
    assert says in pay_without_work(batch.study, JoinAnswer.FULL).replace("\u00a0", " ")
    link = reverse("annotation:join_batch", args=[batch.join_token])
    page = Client().get(link).content.decode().replace("\u00a0", " ")
    assert says in page
    assert page.count("CODE-FULL") == 1


@pytest.mark.parametrize("outcome", Outcome.values)
def test_shows_the_code_of_an_end_once_and_no_other(outcome: str) -> None:
    assignment = ended(outcome)
    client = Client()
    client.get(reverse("annotation:resume", args=[assignment.resume_token]))
    page = client.get("/work/").content.decode()
    assert page.count("CODE-") == page.count(f"CODE-{outcome.upper()}<") == 1

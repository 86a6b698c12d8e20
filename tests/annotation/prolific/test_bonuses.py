"""Bonuses by the API: whatever is lost on the way, nobody is paid twice."""

import re
from decimal import Decimal
from typing import Any

import pytest

from annotation.models import Assignment, Batch, Payout, PayoutState, ProlificStudy
from annotation.models.errors import BadInput, Refusal
from annotation.payments.ledger import Changed, approve, due_of, open_bonuses, settle_payout
from annotation.prolific.connecting import Declined, Lost
from annotation.prolific.statuses import pay_bonuses
from tests import make
from tests.annotation.payments.test_ledger import ended
from tests.annotation.prolific.standin import TOKEN, StandIn
from tests.together import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def approved(batch: Batch) -> Assignment:
    """Due 3.00, of which Prolific pays 2.00 itself."""
    assignment = ended(batch)
    approve(batch.study, [assignment.pk], at=make.NOON)
    return assignment


def pay(connection: ProlificStudy) -> Payout:
    digest = open_bonuses(connection.study).digest
    return pay_bonuses(connection, digest=digest, at=make.NOON)


def test_pays_once_and_writes_it_down(
    prolific: StandIn, connection: ProlificStudy, approved: Assignment
) -> None:
    assert pay(connection).state == PayoutState.SENT
    assert prolific.paid == [(approved.annotator.external_id, Decimal("1.00"))]
    assert due_of(approved).open == 0
    with pytest.raises(BadInput):
        pay(connection)
    assert len(prolific.paid) == 1


def test_does_not_pay_again_when_the_answer_is_lost(
    prolific: StandIn, connection: ProlificStudy, approved: Assignment
) -> None:
    prolific.loses = "/pay/"
    payout = pay(connection)
    assert payout.state == PayoutState.UNKNOWN
    prolific.loses = ""
    with pytest.raises(BadInput):
        pay(connection)
    assert len(prolific.paid) == 1
    settle_payout(payout, was_sent=True, at=make.NOON)
    assert due_of(approved).open == 0


def test_pays_when_somebody_saw_that_it_was_not_paid(
    prolific: StandIn, connection: ProlificStudy, approved: Assignment
) -> None:
    prolific.loses = "/pay/"
    settle_payout(pay(connection), was_sent=False, at=make.NOON)
    prolific.loses = ""
    assert pay(connection).state == PayoutState.SENT
    assert due_of(approved).sent == Decimal("1.00")


def test_a_lost_answer_to_the_setting_up_pays_nobody(
    prolific: StandIn, connection: ProlificStudy, approved: Assignment
) -> None:
    prolific.loses = "bonus-payments/$"
    with pytest.raises(Lost):
        pay(connection)
    assert (prolific.paid, Payout.objects.count()) == ([], 0)
    prolific.loses = ""
    pay(connection)
    assert len(prolific.paid) == 1


@pytest.mark.parametrize("path", ["submissions/bonus-payments", "/pay/"])
def test_what_prolific_declines_stays_open(
    prolific: StandIn, connection: ProlificStudy, approved: Assignment, path: str
) -> None:
    prolific.declines = path
    with pytest.raises(Declined, match="Not like this"):
        pay(connection)
    assert due_of(approved).open == Decimal("1.00")
    assert prolific.paid == []


def test_pays_only_what_was_seen(
    prolific: StandIn, connection: ProlificStudy, approved: Assignment
) -> None:
    with pytest.raises(Changed):
        pay_bonuses(connection, digest="older", at=make.NOON)
    assert prolific.asked == []


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"reward": 250.0}, "pays 2.50\xa0USD (completed), and the page Payments says 2.00\xa0USD"),
        ({"currency_code": "GBP", "presentment_currency_code": None}, "pays 2.00\xa0GBP"),
        (
            {
                "completion_codes": [
                    {"code": "CODE-SCREENED_OUT", "actions": [{"fixed_screen_out_reward": 30}]}
                ]
            },
            "pays 0.30\xa0USD (screened out), and the page Payments says 0.20\xa0USD",
        ),
    ],
)
def test_pays_nothing_while_prolific_pays_otherwise_than_is_said(
    prolific: StandIn,
    connection: ProlificStudy,
    approved: Assignment,
    said: dict[str, Any],
    sentence: str,
) -> None:
    prolific.says |= said
    with pytest.raises(BadInput, match=re.escape(sentence)):
        pay(connection)
    assert (prolific.paid, prolific.bonuses) == ([], {})


@pytest.mark.parametrize("said", [{"reward": "much"}, {"presentment_currency_code": None}])
def test_pays_nothing_on_an_answer_that_names_no_reward(
    prolific: StandIn, connection: ProlificStudy, approved: Assignment, said: dict[str, Any]
) -> None:
    prolific.says |= said
    with pytest.raises(Lost, match="did not say what its study pays"):
        pay(connection)
    assert prolific.bonuses == {}


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_two_who_pay_at_once_pay_once(prolific: StandIn) -> None:
    prolific.says["reward"] = 0
    batch = make.running_batch(via="prolific")
    assignment = ended(batch)
    approve(batch.study, [assignment.pk], at=make.NOON)
    connection = ProlificStudy.objects.create(study=batch.study, token=TOKEN, remote_id="study-7")
    digest = open_bonuses(batch.study).digest

    def paid(number: int) -> bool:
        try:
            pay_bonuses(connection, digest=digest, at=make.NOON)
        except Refusal:
            return False
        return True

    assert sum(at_once(paid, 4)) == 1
    assert prolific.paid == [(assignment.annotator.external_id, Decimal("3.00"))]

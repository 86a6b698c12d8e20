"""The forms that move money: once, no more than was meant, and never a page that fails."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation.models import Assignment, Batch, PaymentLine, PayoutState, PayoutWay, PayPurpose
from annotation.payments.ledger import approve, due_of, open_bonuses, write_payout
from tests import make
from tests.annotation.payments.test_ledger import amounts, ended
from tests.together import at_once

pytestmark = pytest.mark.django_db
TIMES = 8
GIANT = "9" * 30


@pytest.fixture
def batch() -> Batch:
    return make.running_batch(wanted=3)


@pytest.fixture
def owner(batch: Batch) -> Client:
    return signed_in(batch)


def signed_in(batch: Batch) -> Client:
    client = Client()
    client.force_login(make.member(batch.study))
    return client


def path(name: str, batch: Batch, *more: object) -> str:
    return reverse(f"annotation:{name}", args=[batch.study.slug, *more])


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("name", "more", "form"),
    [
        ("approve_payments", (), {"approved": GIANT}),
        ("approve_payments", (), {"approved": "9" * 5000}),
        ("approve_payments", (), {"all": "1", "listed": "-1"}),
        ("correct_payment", (int(GIANT),), {"amount": "1", "reason": "Why.", "lines": "1"}),
        ("settle_payout", (int(GIANT),), {"was": "sent"}),
    ],
)
def test_a_number_that_no_row_has_is_not_found(
    owner: Client, batch: Batch, name: str, more: tuple[int, ...], form: dict[str, str]
) -> None:
    assert owner.post(path(name, batch, *more), form).status_code == 404


@pytest.mark.both_databases
@pytest.mark.parametrize("field", ["amount", "lines"])
def test_a_giant_number_in_a_form_is_refused(owner: Client, batch: Batch, field: str) -> None:
    assignment = ended(batch)
    approve(batch.study, [assignment.pk], at=make.NOON)
    form = {"amount": "1", "reason": "Why.", "lines": "1", field: GIANT}
    assert owner.post(path("correct_payment", batch, assignment.pk), form).status_code == 422
    given = {"completed": GIANT, "screened_out": "0"}
    assert owner.post(path("set_rewards", batch), given).status_code == 422


def test_has_a_large_approval_typed_again(owner: Client, batch: Batch, settings: Settings) -> None:
    settings.TYPE_AGAIN_ABOVE = 5
    both = [ended(batch).pk, ended(batch).pk]
    url = path("approve_payments", batch)
    asked = owner.post(url, {"all": "1", "listed": both})
    page = asked.content.decode()
    assert asked.status_code == 422
    assert "This moves 6.00\xa0USD." in page
    assert page.count('<input type="hidden" name="listed"') >= 2
    given = asked.context["again"]
    assert given == [("all", "1"), *(("listed", str(pk)) for pk in both)]
    for wrong in ("5", "sNaN", "x"):
        again = owner.post(url, {"all": "1", "listed": both, "typed": wrong})
        assert again.status_code == 422
    assert not PaymentLine.objects.exists()
    assert owner.post(url, {"all": "1", "listed": both, "typed": "6"}).status_code == 302
    assert PaymentLine.objects.count() == 2


def test_asks_nothing_again_up_to_the_limit(
    owner: Client, batch: Batch, settings: Settings
) -> None:
    settings.TYPE_AGAIN_ABOVE = 6
    both = [ended(batch).pk, ended(batch).pk]
    owner.post(path("approve_payments", batch), {"all": "1", "listed": both})
    assert PaymentLine.objects.count() == 2


def test_has_a_large_correction_typed_again(
    owner: Client, batch: Batch, settings: Settings
) -> None:
    settings.TYPE_AGAIN_ABOVE = 2
    assignment = ended(batch)
    approve(batch.study, [assignment.pk], at=make.NOON)
    url = path("correct_payment", batch, assignment.pk)
    form = {"amount": "-2.50", "reason": "Wrong.", "lines": "1"}
    asked = owner.post(url, form)
    assert asked.status_code == 422
    whom = assignment.annotator.pseudonym
    assert f"This takes 2.50\xa0USD from what {whom} is due." in asked.content.decode()
    added = owner.post(url, {**form, "amount": "2.50"}).content.decode()
    assert f"This adds 2.50\xa0USD to what {whom} is due." in added
    assert amounts(assignment, PayPurpose.DUE) == ["3.00"]
    assert owner.post(url, {**form, "typed": "2.5"}).status_code == 302
    assert amounts(assignment, PayPurpose.DUE) == ["3.00", "-2.50"]


def test_has_a_large_payout_typed_again(owner: Client, batch: Batch, settings: Settings) -> None:
    url = path("send_payments", batch)
    assignment = ended(batch)
    approve(batch.study, [assignment.pk], at=make.NOON)
    assert 'name="typed"' not in owner.get(url).content.decode()
    settings.TYPE_AGAIN_ABOVE = 2
    page = owner.get(url)
    assert 'name="typed"' in page.content.decode()
    form = {"digest": page.context["bonuses"].digest}
    assert owner.post(url, form).status_code == 409
    assert due_of(assignment).sent == 0
    assert owner.post(url, {**form, "typed": "3.00"}).status_code == 302
    assert due_of(assignment).sent == Decimal("3.00")


def test_takes_no_more_than_is_due(owner: Client, batch: Batch) -> None:
    assignment = ended(batch)
    approve(batch.study, [assignment.pk], at=make.NOON)
    form = {"amount": "-3.01", "reason": "Wrong.", "lines": "1"}
    refused = owner.post(path("correct_payment", batch, assignment.pk), form)
    assert refused.status_code == 422
    page = refused.content.decode()
    assert "take away 3.00 at most" in page
    # What was typed stays, on the page of the person whom it is about.
    assert 'value="-3.01"' in page
    assert "Wrong.</textarea>" in page
    assert assignment.annotator.pseudonym in page
    assert due_of(assignment).total == Decimal("3.00")


def approving(batch: Batch, assignment: Assignment) -> tuple[str, dict[str, Any]]:
    return path("approve_payments", batch), {"approved": assignment.pk}


def approving_all(batch: Batch, assignment: Assignment) -> tuple[str, dict[str, Any]]:
    return path("approve_payments", batch), {"all": "1", "listed": assignment.pk}


def correcting(batch: Batch, assignment: Assignment) -> tuple[str, dict[str, Any]]:
    approve(batch.study, [assignment.pk], at=make.NOON)
    form = {"amount": "0.50", "reason": "Slow.", "lines": "1"}
    return path("correct_payment", batch, assignment.pk), form


def marking(batch: Batch, assignment: Assignment) -> tuple[str, dict[str, Any]]:
    approve(batch.study, [assignment.pk], at=make.NOON)
    return path("send_payments", batch), {"digest": open_bonuses(batch.study).digest}


def taking_back(batch: Batch, assignment: Assignment) -> tuple[str, dict[str, Any]]:
    approve(batch.study, [assignment.pk], at=make.NOON)
    digest = open_bonuses(batch.study).digest
    payout = write_payout(batch.study, digest=digest, way=PayoutWay.API, at=make.NOON)
    assert payout.state == PayoutState.SENDING
    return path("settle_payout", batch, payout.pk), {"was": "unsent"}


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("before", "moved"),
    [
        (approving, ["3.00"]),
        (approving_all, ["3.00"]),
        (correcting, ["3.00", "0.50"]),
        (marking, ["3.00", "3.00"]),
        (taking_back, ["3.00", "3.00", "-3.00"]),
    ],
)
def test_a_form_that_is_sent_eight_times_at_once_moves_money_once(
    before: Callable[[Batch, Assignment], tuple[str, dict[str, Any]]], moved: list[str]
) -> None:
    batch = make.running_batch(wanted=3)
    assignment = ended(batch)
    url, form = before(batch, assignment)
    clients = [signed_in(batch) for _ in range(TIMES)]
    answers = at_once(lambda n: clients[n].post(url, form).status_code, TIMES)
    assert set(answers) <= {302, 409, 422}
    lines = PaymentLine.objects.filter(assignment=assignment).order_by("id")
    assert list(map(str, lines.values_list("amount", flat=True))) == moved


def test_a_file_holds_what_the_page_showed(owner: Client, batch: Batch) -> None:
    """Somebody else approved another meanwhile."""
    first, second = make.worked_through(batch), make.worked_through(batch)
    approve(batch.study, [first.pk], at=make.NOON)
    url = path("export_payments", batch, "prolific")
    seen = {"seen": open_bonuses(batch.study).digest}
    assert owner.get(url, seen).status_code == 200
    approve(batch.study, [second.pk], at=make.NOON)
    again = owner.get(url, seen, follow=True)
    assert "The payments have changed since this page was shown" in again.content.decode()


def test_what_was_sent_can_be_fetched_again(owner: Client, batch: Batch) -> None:
    done = make.worked_through(batch)
    approve(batch.study, [done.pk], at=make.NOON)
    url = path("export_payments", batch, "prolific")
    file = owner.get(url).content
    payout = write_payout(batch.study, digest=open_bonuses(batch.study).digest, at=make.NOON)
    assert owner.get(path("sent_file", batch, payout.pk)).content == file
    assert (
        path("sent_file", batch, payout.pk) in owner.get(path("payments", batch)).content.decode()
    )
    # Nothing is open any more, and an empty file would say nothing.
    assert "nothing to send" in owner.get(url, follow=True).content.decode()

"""The ledger: lines are added, once each, and never changed."""

from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, transaction

from annotation.models import (
    Assignment,
    Batch,
    ChangeAction,
    Outcome,
    PaymentLine,
    Payout,
    PayoutState,
    PayoutWay,
    PayPurpose,
    Study,
)
from annotation.models.errors import BadInput
from annotation.payments.ledger import (
    Changed,
    approve,
    correct,
    due_of,
    dues,
    open_bonuses,
    settle_payout,
    write_payout,
)
from annotation.studies.people import erase_annotator
from annotation.work.finishing import finish
from tests import make
from tests.together import at_once

pytestmark = pytest.mark.django_db


def ended(batch: Batch, *, amount: str = "3.00", outcome: str = Outcome.COMPLETED) -> Assignment:
    """Work that has ended and earned this much at 12 an hour."""
    assignment = make.joined(batch)
    ms = int(Decimal(amount) * 300_000)
    Assignment.objects.filter(pk=assignment.pk).update(paid_ms=ms, shown_at=None)
    finish(assignment, outcome, at=make.NOON)
    return assignment


def base(study: Study, outcome: str, amount: str) -> None:
    study.outcome_rules.filter(outcome=outcome).update(platform_pays=Decimal(amount))


def amounts(assignment: Assignment, purpose: str) -> list[str]:
    lines = PaymentLine.objects.filter(assignment=assignment, purpose=purpose)
    return [str(amount) for amount in lines.values_list("amount", flat=True)]


def sent(study: Study) -> Payout:
    return write_payout(study, digest=open_bonuses(study).digest, at=make.NOON)


def test_sends_what_the_platform_does_not_pay_itself() -> None:
    batch = make.running_batch()
    assignment = ended(batch)
    base(batch.study, Outcome.COMPLETED, "2.00")
    assert approve(batch.study, [assignment.pk], at=make.NOON) == 1
    assert open_bonuses(batch.study).total == Decimal("1.00")
    sent(batch.study)
    assert amounts(assignment, PayPurpose.BONUS) == ["1.00"]
    assert due_of(assignment).open == 0


def test_owes_no_bonus_below_zero_and_says_what_was_too_much() -> None:
    batch = make.running_batch()
    assignment = ended(batch)
    base(batch.study, Outcome.COMPLETED, "5.00")
    due = due_of(assignment)
    assert (due.open, due.overpaid) == (0, Decimal("2.00"))


def test_approves_once_however_often_it_is_asked() -> None:
    batch = make.running_batch()
    assignment = ended(batch)
    assert [approve(batch.study, [assignment.pk], at=make.NOON) for _ in range(2)] == [1, 0]
    assert amounts(assignment, PayPurpose.DUE) == ["3.00"]


def test_approves_neither_unfinished_nor_simulated_nor_others_work() -> None:
    batch, elsewhere = make.running_batch(), make.running_batch()
    simulated = ended(batch)
    working = make.at_work(batch)
    other = ended(elsewhere)
    robots = make.channel("simulated")
    simulated.annotator.channel = robots
    simulated.annotator.save()
    assert approve(batch.study, [working.pk, simulated.pk, other.pk], at=make.NOON) == 0
    assert not PaymentLine.objects.exists()


def test_sends_nothing_that_is_not_approved() -> None:
    batch = make.running_batch()
    ended(batch)
    with pytest.raises(BadInput):
        sent(batch.study)


def test_marks_only_what_was_seen() -> None:
    batch = make.running_batch()
    first, second = ended(batch), ended(batch)
    approve(batch.study, [first.pk], at=make.NOON)
    seen = open_bonuses(batch.study).digest
    approve(batch.study, [second.pk], at=make.NOON)
    with pytest.raises(Changed):
        write_payout(batch.study, digest=seen, at=make.NOON)
    assert not Payout.objects.exists()


def test_a_correction_opens_the_difference() -> None:
    batch = make.running_batch()
    assignment = ended(batch)
    approve(batch.study, [assignment.pk], at=make.NOON)
    sent(batch.study)
    correct(assignment, amount=Decimal("0.50"), reason="The page was slow.", at=make.NOON)
    assert open_bonuses(batch.study).total == Decimal("0.50")
    sent(batch.study)
    assert amounts(assignment, PayPurpose.BONUS) == ["3.00", "0.50"]


@pytest.mark.parametrize(
    ("amount", "reason"), [("0.50", " "), ("0", "Because"), ("-3.01", "Because"), ("1E9", "Why")]
)
def test_refuses_a_correction_that_cannot_be(amount: str, reason: str) -> None:
    batch = make.running_batch()
    assignment = ended(batch)
    approve(batch.study, [assignment.pk], at=make.NOON)
    with pytest.raises(BadInput):
        correct(assignment, amount=Decimal(amount), reason=reason, at=make.NOON)


def test_refuses_to_correct_what_nobody_approved() -> None:
    assignment = ended(make.running_batch())
    with pytest.raises(BadInput):
        correct(assignment, amount=Decimal("0.50"), reason="Slow.", at=make.NOON)


def test_leaves_out_whose_id_was_erased() -> None:
    batch = make.running_batch()
    assignment = ended(batch)
    approve(batch.study, [assignment.pk], at=make.NOON)
    erase_annotator(assignment.annotator, at=make.NOON)
    bonuses = open_bonuses(batch.study)
    assert (len(bonuses.dues), len(bonuses.nameless)) == (0, 1)


@pytest.mark.parametrize("written", ["abc,99", "=1+1", "a b", "a\u2028b", '"a"'])
def test_leaves_out_an_id_that_would_name_another_amount(written: str) -> None:
    batch = make.running_batch()
    assignment = ended(batch)
    approve(batch.study, [assignment.pk], at=make.NOON)
    assignment.annotator.external_id = written
    assignment.annotator.save()
    bonuses = open_bonuses(batch.study)
    assert (len(bonuses.dues), len(bonuses.nameless)) == (0, 1)


def test_takes_back_what_a_platform_refused() -> None:
    batch = make.running_batch()
    assignment = ended(batch)
    approve(batch.study, [assignment.pk], at=make.NOON)
    digest = open_bonuses(batch.study).digest
    payout = write_payout(batch.study, digest=digest, way=PayoutWay.API, at=make.NOON)
    assert payout.state == PayoutState.SENDING
    assert settle_payout(payout, was_sent=False, at=make.NOON)
    assert not settle_payout(payout, was_sent=False, at=make.NOON)
    assert amounts(assignment, PayPurpose.BONUS) == ["3.00", "-3.00"]
    assert open_bonuses(batch.study).total == Decimal("3.00")


def test_logs_how_many_and_not_how_much() -> None:
    batch = make.running_batch()
    approve(batch.study, [ended(batch).pk], at=make.NOON)
    sent(batch.study)
    logged = list(batch.study.changes.values_list("action", "after"))
    assert (ChangeAction.PAY_APPROVED, {"people": 1}) in logged
    assert (ChangeAction.PAY_SENT, {"people": 1, "by": "file"}) in logged


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("verb", ["update", "delete"])
def test_the_database_keeps_every_line(verb: str) -> None:
    batch = make.running_batch()
    approve(batch.study, [ended(batch).pk], at=make.NOON)
    lines = PaymentLine.objects.all()
    with pytest.raises(IntegrityError), transaction.atomic():
        lines.update(amount=1) if verb == "update" else lines.delete()
    assert lines.get().amount == Decimal("3.00")


@pytest.mark.both_databases
def test_the_database_refuses_a_second_line_of_one_number() -> None:
    batch = make.running_batch()
    assignment = ended(batch)
    approve(batch.study, [assignment.pk], at=make.NOON)
    with pytest.raises(IntegrityError), transaction.atomic():
        PaymentLine.objects.create(
            assignment=assignment, purpose=PayPurpose.DUE, amount=1, made_at=make.NOON
        )


@pytest.mark.skipif(connection.vendor != "sqlite", reason="REPLACE is SQLite's own")
def test_no_line_replaces_another() -> None:
    batch = make.running_batch()
    assignment = ended(batch)
    approve(batch.study, [assignment.pk], at=make.NOON)
    statement = (
        "INSERT OR REPLACE INTO annotation_paymentline "
        "(assignment_id, purpose, correction, amount, reason, made_at) "
        "VALUES (%s, 'due', 0, 99, '', '2026-11-01')"
    )
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, [assignment.pk])


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_two_approvals_at_once_make_one_line_each() -> None:
    batch = make.running_batch(wanted=6)
    assignments = [ended(batch).pk for _ in range(6)]
    # Two owners whose choices overlap.
    chosen = [assignments[:4], assignments[2:], assignments, assignments]
    approved = at_once(lambda n: approve(batch.study, chosen[n], at=make.NOON), 4)
    assert sum(approved) == 6
    assert PaymentLine.objects.count() == 6


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_two_who_mark_at_once_send_once() -> None:
    batch = make.running_batch(wanted=3)
    approve(batch.study, [ended(batch).pk for _ in range(3)], at=make.NOON)
    digest = open_bonuses(batch.study).digest

    def mark(number: int) -> bool:
        try:
            write_payout(batch.study, digest=digest, at=make.NOON)
        except Changed:
            return False
        return True

    assert sorted(at_once(mark, 4)) == [False, False, False, True]
    assert sum(due.sent for due in dues(batch.study)) == Decimal("9.00")
    assert Payout.objects.count() == 1


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_settles_once_however_many_say_it_was_not_sent() -> None:
    batch = make.running_batch()
    approve(batch.study, [ended(batch).pk], at=make.NOON)
    digest = open_bonuses(batch.study).digest
    payout = write_payout(batch.study, digest=digest, way=PayoutWay.API, at=make.NOON)

    def work(number: int) -> bool:
        return settle_payout(Payout.objects.get(pk=payout.pk), was_sent=False, at=make.NOON)

    assert sorted(at_once(work, 4)) == [False, False, False, True]
    assert [due.sent for due in dues(batch.study)] == [0]

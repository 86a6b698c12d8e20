"""How an assignment ends."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from annotation.kinds.base import Form
from annotation.models import Assignment, Outcome, OutcomeRule, Place, StudyState, WorkState
from annotation.work.finishing import expire_idle, finish, withdraw
from annotation.work.judging import begin, submit_answer
from tests import make
from tests.together import at_once

pytestmark = pytest.mark.django_db

LATER = make.NOON + timedelta(minutes=3)


@pytest.mark.both_databases
def test_stores_how_and_when_it_ended_and_what_is_due() -> None:
    assignment = make.at_work(make.running_batch())
    OutcomeRule.objects.filter(study=assignment.study, outcome="expired").update(minimum=4)
    assert finish(assignment, Outcome.EXPIRED, at=LATER) is True
    stored = Assignment.objects.get()
    assert (stored.state, stored.outcome) == (WorkState.FINISHED, Outcome.EXPIRED)
    assert (stored.finished_at, stored.seen_at) == (LATER, make.NOON)
    assert stored.amount == assignment.amount == Decimal(4)


def test_ends_once_and_with_the_first_outcome() -> None:
    assignment = make.at_work(make.running_batch())
    finish(assignment, Outcome.WITHDRAWN, at=make.NOON)
    assert finish(assignment, Outcome.COMPLETED, at=LATER) is False
    assert (assignment.outcome, assignment.finished_at) == (Outcome.WITHDRAWN, make.NOON)
    assert not Place.objects.filter(kept=True).exists()


def test_ends_one_assignment_and_leaves_the_others() -> None:
    batch = make.running_batch(wanted=2)
    other = make.at_work(batch)
    finish(make.at_work(batch), Outcome.WITHDRAWN, at=LATER)
    other.refresh_from_db()
    assert (other.outcome, other.place.holder_id) == ("", other.pk)


@pytest.mark.parametrize("outcome", Outcome.values)
def test_keeps_the_place_of_who_completed_and_opens_every_other(outcome: str) -> None:
    batch = make.running_batch(wanted=1)
    assignment = make.at_work(batch)
    finish(assignment, outcome, at=LATER)
    place = Place.objects.get(batch=batch)
    completed = outcome == Outcome.COMPLETED
    assert (place.kept, place.holder_id) == (completed, assignment.pk if completed else None)
    assert place.lease_until is None


def test_expires_who_gave_no_sign_of_life_for_longer_than_their_study_allows() -> None:
    patient, strict = (make.running_batch(expire_hours=hours) for hours in (3, 2))
    in_time, in_time_too, late = make.at_work(patient), make.at_work(strict), make.at_work(strict)
    done = make.worked_through(strict)
    two_hours_on = make.NOON + timedelta(hours=2)
    # Exactly as long as is allowed.
    Assignment.objects.filter(pk=in_time_too.pk).update(seen_at=make.NOON + timedelta(seconds=1))
    assert expire_idle(at=two_hours_on + timedelta(seconds=1)) == 1
    ended = {a.pk: a.outcome for a in Assignment.objects.all()}
    assert ended == {in_time.pk: "", in_time_too.pk: "", late.pk: "expired", done.pk: "completed"}


def test_expires_whatever_is_open_in_a_study_that_is_closed() -> None:
    batch = make.running_batch()
    make.at_work(batch)
    make.at_work(make.running_batch())
    batch.study.state = StudyState.CLOSED
    batch.study.save(update_fields=["state"])
    assert expire_idle(at=make.NOON) == 1
    assert Assignment.objects.get(outcome="expired").batch == batch


def _on_page(state: str, **caps: Any) -> Assignment:
    """Somebody who has had such a page before them since noon."""
    batch = make.running_batch(hourly_rate=36, **caps)
    assignment = make.joined(batch)
    if state != WorkState.DESCRIPTION:
        begin(assignment, at=make.NOON)
    if state == WorkState.REVEALED:
        form = make.right_answer(assignment)
        submit_answer(assignment, step=0, form=form, times={}, at=make.NOON)
    return assignment


CAPS = {"reading_cap_s": 100, "item_cap_s": 60, "reveal_cap_s": 20}


@pytest.mark.parametrize(
    ("state", "seconds", "amount"),
    [
        (WorkState.DESCRIPTION, 90, "0.90"),
        (WorkState.DESCRIPTION, 500, "1.00"),
        (WorkState.ANSWERING, 50, "0.50"),
        (WorkState.ANSWERING, 500, "0.60"),
        (WorkState.REVEALED, 10, "0.10"),
        (WorkState.REVEALED, 500, "0.20"),
    ],
)
@pytest.mark.parametrize("outcome", [Outcome.WITHDRAWN, Outcome.DISPLACED])
def test_pays_the_page_in_hand_up_to_its_cap(
    outcome: str, state: str, seconds: int, amount: str
) -> None:
    assignment = _on_page(state, **CAPS)
    finish(assignment, outcome, at=make.NOON + timedelta(seconds=seconds))
    assert assignment.amount == Decimal(amount)
    assert assignment.paid_ms == 100_000 * Decimal(amount)
    assert assignment.reveal_ms == (assignment.paid_ms if state == WorkState.REVEALED else 0)


def test_pays_no_page_in_hand_where_the_outcome_pays_no_time() -> None:
    assignment = _on_page(WorkState.ANSWERING, **CAPS)
    OutcomeRule.objects.filter(outcome="withdrawn").update(pays_time=False, minimum=3)
    finish(assignment, Outcome.WITHDRAWN, at=LATER)
    assert assignment.amount == 3


def test_pays_no_page_that_somebody_left_in_silence() -> None:
    assignment = _on_page(WorkState.ANSWERING, **CAPS)
    finish(assignment, Outcome.EXPIRED, at=LATER)
    assert (assignment.amount, assignment.paid_ms) == (0, 0)


def test_pays_what_was_stored_meanwhile_too() -> None:
    """The page that asks to stop may have been loaded before the last answer was sent."""
    stale = _on_page(WorkState.ANSWERING, **CAPS)
    make.answer(Assignment.objects.get(), at=make.NOON + timedelta(seconds=40))
    finish(stale, Outcome.WITHDRAWN, at=make.NOON + timedelta(seconds=50))
    assert (stale.paid_ms, stale.amount) == (50_000, Decimal("0.50"))


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_pays_every_second_once_when_an_answer_and_the_stop_come_together() -> None:
    """Whichever is first: 40 seconds of the answer and 10 of its reveal, or 50 of the page."""
    batch = make.running_batch(wanted=8, hourly_rate=36)
    for _ in range(8):
        assignment = make.at_work(batch)
        form, pk = make.right_answer(assignment), assignment.pk

        def act(number: int, pk: int = pk, form: Form = form) -> None:
            mine = Assignment.objects.get(pk=pk)
            if number:
                withdraw(mine, at=make.NOON + timedelta(seconds=50))
            else:
                sent = make.NOON + timedelta(seconds=40)
                submit_answer(mine, step=0, form=form, times={}, at=sent)

        at_once(act, 2)
        assignment.refresh_from_db()
        assert (assignment.outcome, assignment.paid_ms) == (Outcome.WITHDRAWN, 50_000)
        assert assignment.amount == Decimal("0.50")

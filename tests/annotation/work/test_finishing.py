"""How an assignment ends."""

from datetime import timedelta
from decimal import Decimal

import pytest

from annotation.models import Assignment, Outcome, OutcomeRule, Place, StudyState, WorkState
from annotation.work.finishing import expire_idle, finish
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

LATER = make.NOON + timedelta(minutes=3)


def test_stores_how_and_when_it_ended_and_what_is_due() -> None:
    assignment = make.at_work(make.running_batch())
    OutcomeRule.objects.filter(study=assignment.study, outcome="expired").update(minimum=4)
    assert finish(assignment, Outcome.EXPIRED, at=LATER) is True
    stored = Assignment.objects.get()
    assert (stored.state, stored.outcome) == (WorkState.FINISHED, Outcome.EXPIRED)
    assert (stored.finished_at, stored.seen_at) == (LATER, LATER)
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

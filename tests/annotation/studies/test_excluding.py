from copy import deepcopy

import pytest
from django.contrib.auth import get_user_model

from annotation.models import Assignment, Batch, Exclusion, Place
from annotation.models.errors import BadInput, Refusal
from annotation.studies.lifecycle import close_study, pause_study, want_more
from annotation.studies.people import exclude, lift_exclusion
from annotation.work.finishing import withdraw
from annotation.work.joining import Full
from tests import make
from tests.made_once import once_a_module

pytestmark = pytest.mark.django_db


batch_once = once_a_module(lambda: make.running_batch(wanted=1, training=1, tests=1))


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    return deepcopy(batch_once)


@pytest.fixture
def completed(batch: Batch) -> Assignment:
    return make.worked_through(batch)


def is_counted(assignment: Assignment) -> bool:
    return Assignment.objects.counted().filter(pk=assignment.pk).exists()


@pytest.mark.both_databases
def test_marks_with_a_reason_and_leaves_outcome_and_pay(completed: Assignment) -> None:
    researcher = get_user_model().objects.create_user("researcher")
    before = (completed.outcome, completed.amount, completed.finished_at)
    exclusion = exclude(completed, reason=" answered by a machine ", author=researcher)
    completed.refresh_from_db()
    assert (completed.outcome, completed.amount, completed.finished_at) == before
    assert (exclusion.reason, exclusion.author) == ("answered by a machine", researcher)
    assert not is_counted(completed)
    assert completed.judgements.count() == 2


def test_opens_the_place_again_while_the_study_is_open(batch: Batch, completed: Assignment) -> None:
    with pytest.raises(Full):
        make.joined(batch)
    exclude(completed, reason="bot")
    place = Place.objects.get(batch=batch)
    assert (place.holder, place.kept) == (None, False)
    assert make.joined(batch).place == place


def test_opens_the_place_in_a_paused_study_for_when_it_resumes(
    batch: Batch, completed: Assignment
) -> None:
    pause_study(batch.study)
    exclude(completed, reason="bot")
    assert Place.objects.get(batch=batch).holder is None


def test_keeps_the_place_once_the_study_is_closed(batch: Batch, completed: Assignment) -> None:
    close_study(batch.study, at=make.NOON)
    exclude(completed, reason="bot")
    place = Place.objects.get(batch=batch)
    assert (place.holder, place.kept) == (completed, True)


def test_keeps_the_first_reason_when_done_twice(batch: Batch, completed: Assignment) -> None:
    exclude(completed, reason="first")
    newcomer = make.joined(batch)
    assert exclude(completed, reason="second").reason == "first"
    newcomer.refresh_from_db()
    assert newcomer.place.holder == newcomer


def test_refuses_work_that_has_not_ended(batch: Batch) -> None:
    with pytest.raises(Refusal, match="still at work"):
        exclude(make.at_work(batch), reason="bot")
    assert not Exclusion.objects.exists()


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_refuses_an_exclusion_without_a_reason(completed: Assignment, reason: str) -> None:
    with pytest.raises(BadInput, match="needs a reason"):
        exclude(completed, reason=reason)


def test_lifts_while_the_place_is_still_empty(batch: Batch, completed: Assignment) -> None:
    exclude(completed, reason="bot")
    lift_exclusion(completed)
    place = Place.objects.get(batch=batch)
    assert (place.holder, place.kept) == (completed, True)
    assert is_counted(completed)


def test_lifts_where_the_place_was_kept(batch: Batch, completed: Assignment) -> None:
    close_study(batch.study, at=make.NOON)
    exclude(completed, reason="bot")
    lift_exclusion(completed)
    assert is_counted(completed)


def test_does_not_lift_when_the_place_has_gone(batch: Batch, completed: Assignment) -> None:
    exclude(completed, reason="bot")
    newcomer = make.worked_through(batch)
    with pytest.raises(Refusal, match="one more place"):
        lift_exclusion(completed)
    assert not is_counted(completed)
    assert Place.objects.get(batch=batch).holder == newcomer


def test_does_not_take_the_place_of_somebody_at_work(batch: Batch, completed: Assignment) -> None:
    exclude(completed, reason="bot")
    working = make.at_work(batch)
    Place.objects.filter(holder=working).update(lease_until=make.NOON.replace(year=2020))
    with pytest.raises(Refusal, match="one more place"):
        lift_exclusion(completed)
    assert Place.objects.get(batch=batch).holder == working


def test_lifts_after_the_batch_was_given_one_more_place(
    batch: Batch, completed: Assignment
) -> None:
    exclude(completed, reason="bot")
    make.worked_through(batch)
    want_more(batch, 2)
    lift_exclusion(completed)
    assert Assignment.objects.counted().filter(batch=batch).count() == 2


def test_never_counts_more_than_the_batch_wants(batch: Batch, completed: Assignment) -> None:
    exclude(completed, reason="bot")
    second = make.worked_through(batch)
    exclude(second, reason="bot too")
    lift_exclusion(completed)
    with pytest.raises(Refusal, match="one more place"):
        lift_exclusion(second)
    assert Assignment.objects.counted().filter(batch=batch).count() == batch.wanted


def test_lifts_from_work_that_needs_no_place(batch: Batch) -> None:
    withdrawn = make.at_work(batch)
    withdraw(withdrawn, at=make.NOON)
    exclude(withdrawn, reason="bot")
    make.worked_through(batch)
    lift_exclusion(withdrawn)
    assert not Exclusion.objects.exists()

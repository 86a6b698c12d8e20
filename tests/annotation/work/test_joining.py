"""From a link to a place in a batch."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from annotation.models import Annotator, Assignment, Batch, Outcome, Place, Study
from annotation.studies.lifecycle import pause_study, start_study
from annotation.work.finishing import finish
from annotation.work.joining import Full, NotOpen, Visit, join, open_batches, person
from tests import make
from tests.together import at_once

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def _running_study(tasks: int = 2, wanted: int = 2, **fields: Any) -> Study:
    bench = make.benchmark()
    study = make.study(bench, **fields)
    for _ in range(tasks):
        make.batch(study, make.task(bench), wanted=wanted)
    start_study(study, at=make.NOON)
    return study


def test_takes_a_place() -> None:
    batch = make.running_batch(wanted=1)
    assignment = make.joined(batch)
    assert Place.objects.get(batch=batch).holder == assignment


def test_refuses_before_any_work_when_full() -> None:
    batch = make.running_batch(wanted=1)
    make.joined(batch)
    with pytest.raises(Full):
        make.joined(batch)
    assert Assignment.objects.count() == 1


def test_refuses_while_paused() -> None:
    batch = make.running_batch()
    pause_study(batch.study)
    with pytest.raises(NotOpen):
        make.joined(batch)


def test_spreads_people_over_the_batches_with_the_fewest_places_taken() -> None:
    study = _running_study(tasks=3, wanted=4)
    for _ in range(6):
        join(Visit(study=study, annotator=make.annotator()), at=make.NOON)
    taken = Counter(Assignment.objects.values_list("batch_id", flat=True))
    assert sorted(taken.values()) == [2, 2, 2]


def test_goes_on_with_an_unfinished_assignment() -> None:
    batch = make.running_batch()
    who = make.annotator()
    assert make.joined(batch, who=who) == make.joined(batch, who=who, submission_id="another")


def test_shows_a_finished_assignment_again() -> None:
    batch = make.running_batch()
    done = make.worked_through(batch)
    assert make.joined(batch, who=done.annotator) == done


def test_gives_a_new_task_under_a_new_submission_id() -> None:
    study = _running_study(via="prolific")
    who = make.annotator("prolific")
    first = join(Visit(study=study, annotator=who, submission_id="one"), at=make.NOON)
    finish(first, Outcome.COMPLETED, at=make.NOON)
    second = join(Visit(study=study, annotator=who, submission_id="two"), at=make.NOON)
    assert second.batch.task != first.batch.task
    finish(second, Outcome.COMPLETED, at=make.NOON)
    with pytest.raises(Full):
        join(Visit(study=study, annotator=who, submission_id="three"), at=make.NOON)


def test_never_lets_anybody_see_a_task_twice_in_another_study() -> None:
    batch = make.running_batch()
    done = make.worked_through(batch)
    other = make.batch(make.study(batch.study.benchmark), batch.task)
    start_study(other.study, at=make.NOON)
    with pytest.raises(Full):
        make.joined(other, who=done.annotator)


def test_the_database_refuses_a_second_exposure() -> None:
    batch = make.running_batch()
    done = make.worked_through(batch)
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(
            annotator=done.annotator,
            study=batch.study,
            batch=batch,
            exposure_key=done.exposure_key,
            joined_at=make.NOON,
            seen_at=make.NOON,
        )


def test_gives_a_lapsed_place_to_the_next() -> None:
    batch = make.running_batch(wanted=1, lease_minutes=5)
    make.joined(batch)
    later = make.NOON + timedelta(minutes=6)
    assert make.joined(batch, at=later)


def test_gives_an_empty_place_before_one_whose_lease_has_lapsed() -> None:
    batch = make.running_batch(wanted=2, lease_minutes=5)
    slow = make.at_work(batch)
    later = make.NOON + timedelta(minutes=6)
    make.joined(batch, at=later)
    make.answer(slow, at=later)
    assert slow.step == 1


def test_takes_no_persons_place_when_simulated() -> None:
    batch = make.running_batch(wanted=1)
    make.joined(batch)
    with pytest.raises(Full):
        make.joined(batch, who=make.annotator("simulated"))


@pytest.mark.parametrize("channel", ["link", "simulated"])
def test_says_before_the_consent_that_all_is_taken(channel: str) -> None:
    """Whatever is open elsewhere, or for others: a person's place is no simulated one."""
    batch, _elsewhere = make.running_batch(wanted=1), make.running_batch(wanted=1)
    if channel == "link":
        make.joined(batch)
    with pytest.raises(Full):
        open_batches(Visit(study=batch.study, annotator=make.annotator(channel)), at=make.NOON)


@pytest.mark.django_db(transaction=True)
def test_gives_three_places_to_three_of_forty_who_come_at_once() -> None:
    batch = make.running_batch(wanted=3)
    people = [person(batch.study.channel, f"person {number}") for number in range(40)]

    def come(number: int) -> str:
        try:
            study = Study.objects.get(pk=batch.study_id)
            mine = Batch.objects.get(pk=batch.pk)
            join(Visit(study=study, annotator=people[number], batch=mine), at=make.NOON)
        except Full:
            return "full"
        return "in"

    assert Counter(at_once(come, 40)) == {"in": 3, "full": 37}
    assert Assignment.objects.count() == Annotator.objects.count() == 3
    assert Place.objects.filter(holder__isnull=False).count() == 3


@pytest.mark.django_db(transaction=True)
def test_gives_one_assignment_to_one_person_in_ten_tabs() -> None:
    study = _running_study(tasks=3)
    who = person(study.channel, "somebody new")

    def come(_number: int) -> int:
        return join(Visit(study=Study.objects.get(pk=study.pk), annotator=who), at=make.NOON).pk

    assert len(set(at_once(come, 10))) == 1
    assert Annotator.objects.count() == 1
    assert Place.objects.filter(holder__isnull=False).count() == 1


@pytest.mark.django_db(transaction=True)
def test_tells_one_person_who_comes_to_ten_studies_of_a_task_at_once_why_not() -> None:
    """Nobody is exposed twice; the others get the sentence that a second try would get."""
    task = make.task(make.benchmark())
    studies = [make.study(task.benchmark) for _ in range(10)]
    for study in studies:
        make.batch(study, task, wanted=1)
        start_study(study, at=make.NOON)
    who = person(studies[0].channel, "somebody new")

    def come(number: int) -> str:
        study = Study.objects.get(pk=studies[number].pk)
        try:
            join(Visit(study=study, annotator=who), at=make.NOON)
        except Full as refusal:
            return str(refusal)[:28]
        return "in"

    assert Counter(at_once(come, 10)) == {"in": 1, "You have worked on this befo": 9}
    assert Assignment.objects.count() == Annotator.objects.count() == 1

"""The life of a study: started, paused, closed."""

from datetime import timedelta
from decimal import Decimal

import pytest

from annotation.models import Outcome, OutcomeRule, Place, StudyState
from annotation.models.errors import Frozen, NotReady
from annotation.studies.lifecycle import (
    close_study,
    pause_study,
    resume_study,
    start_study,
    want_more,
    what_is_missing,
)
from annotation.work.finishing import expire_idle, withdraw
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def test_freezes_what_is_measured() -> None:
    batch = make.running_batch()
    batch.task.description = "Something else."
    batch.task.save()
    batch.refresh_from_db()
    assert batch.description == "Read the text and answer."
    record = batch.study.frozen["batches"][0]
    assert record["test_checksum"] == batch.test_set.checksum
    assert record["gold_version"] == 1


def test_opens_the_wanted_places() -> None:
    assert make.running_batch(wanted=5).places.count() == 5


def test_says_everything_that_is_missing() -> None:
    bench = make.benchmark()
    study = make.study(bench, consent_text=" ")
    study.outcome_rules.filter(outcome__in=["full", "expired"]).delete()
    make.batch(study, make.task(bench, description=""))
    sentences = " ".join(what_is_missing(study))
    for part in ("consent text is empty", "no description", "expired, full"):
        assert part in sentences
    with pytest.raises(NotReady):
        start_study(study, at=make.NOON)
    study.refresh_from_db()
    assert study.state == StudyState.DRAFT


def test_starts_once() -> None:
    study = make.running_batch().study
    with pytest.raises(Frozen):
        start_study(study, at=make.NOON)


def test_pauses_and_resumes_while_work_goes_on() -> None:
    batch = make.running_batch()
    assignment = make.at_work(batch)
    pause_study(batch.study)
    make.answer(assignment)
    assert assignment.step == 1
    resume_study(batch.study)
    assert make.joined(batch)


def test_ends_open_work_as_expired_and_paid_when_it_closes() -> None:
    batch = make.running_batch()
    assignment = make.at_work(batch)
    make.answer(assignment, at=make.NOON + timedelta(seconds=90))
    close_study(batch.study, at=make.NOON + timedelta(minutes=5))
    assignment.refresh_from_db()
    assert assignment.outcome == Outcome.EXPIRED
    assert assignment.amount == Decimal("0.30")


def test_expires_who_gave_no_sign_of_life_and_opens_the_place() -> None:
    batch = make.running_batch(wanted=1, expire_hours=2)
    make.at_work(batch)
    assert expire_idle(at=make.NOON + timedelta(hours=1)) == 0
    assert expire_idle(at=make.NOON + timedelta(hours=3)) == 1
    assert Place.objects.get(batch=batch).holder is None


def test_opens_the_place_of_who_withdraws_and_pays_at_least_the_minimum() -> None:
    batch = make.running_batch(wanted=1)
    OutcomeRule.objects.filter(study=batch.study, outcome="withdrawn").update(minimum=2)
    assignment = make.at_work(batch)
    assert withdraw(assignment, at=make.NOON)
    assert assignment.amount == 2
    assert not withdraw(assignment, at=make.NOON)
    assert make.joined(batch)


def test_gives_more_places_but_never_fewer() -> None:
    batch = make.running_batch(wanted=2)
    want_more(batch, 4)
    assert batch.places.count() == 4
    with pytest.raises(Frozen):
        want_more(batch, 3)

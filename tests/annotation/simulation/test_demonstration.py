"""A demonstration: simulated people alone work in it, in its own places, and it stays one."""

from contextlib import nullcontext

import pytest
from django.db import IntegrityError, transaction

from annotation.models import Assignment, Judgement, Place, Study
from annotation.payments import ledger
from annotation.simulation.simulating import simulate_study
from annotation.studies.drafting import copy_study
from annotation.work.estimating import usual_seconds
from annotation.work.joining import NotOpen, Visit, join, person
from tests import make

pytestmark = pytest.mark.django_db
SLUG = "demonstration-of-a-test"


@pytest.fixture
def study() -> Study:
    return make.running_batch(slug=SLUG, is_demonstration=True, wanted=2).study


def filled(study: Study) -> Study:
    simulate_study(study, skill=0.9, seed=1, at=make.NOON)
    return study


def test_fills_its_own_places(study: Study) -> None:
    filled(study)
    assert Place.objects.filter(batch__study=study, kept=True, simulated=False).count() == 2
    assert not Place.objects.filter(simulated=True).exists()
    assert simulate_study(study, skill=0.9, seed=1, at=make.NOON) == []


@pytest.mark.both_databases
@pytest.mark.parametrize("to", [True, False])
def test_no_study_becomes_one_and_it_becomes_no_study(study: Study, to: bool) -> None:
    changed = make.running_batch(slug=f"{SLUG}-2").study if to else study
    with pytest.raises(IntegrityError), transaction.atomic():
        Study.objects.filter(pk=changed.pk).update(is_demonstration=to)


@pytest.mark.both_databases
def test_says_so_in_its_short_name_which_names_its_files(study: Study) -> None:
    with pytest.raises(IntegrityError, match="says_so"), transaction.atomic():
        Study.objects.filter(pk=study.pk).update(slug="of-people")


def test_its_copy_is_a_study_of_people(study: Study) -> None:
    assert not copy_study(study, slug="copy", title="A copy").is_demonstration


def test_takes_no_person(study: Study) -> None:
    who = person(make.channel("link"), "somebody")
    with pytest.raises(NotOpen, match="simulated annotators"):
        join(Visit(study=study, annotator=who), at=make.NOON)


@pytest.mark.both_databases
@pytest.mark.parametrize("channel", ["link", "simulated"])
def test_the_database_takes_simulated_annotators_alone(study: Study, channel: str) -> None:
    batch = study.batches.get()
    about = {"study": study, "batch": batch, "exposure_key": batch.task.exposure_key}
    times = dict.fromkeys(("joined_at", "consented_at", "seen_at"), make.NOON)
    refuses = pytest.raises(IntegrityError) if channel == "link" else nullcontext()
    with refuses, transaction.atomic():
        Assignment.objects.create(
            annotator=make.annotator(channel), order_seed="1", **about, **times
        )


@pytest.mark.both_databases
def test_keeps_its_judgements(study: Study) -> None:
    filled(study)
    with pytest.raises(IntegrityError, match="final"), transaction.atomic():
        Judgement.objects.filter(assignment__study=study).delete()


def test_shows_payments_and_a_study_of_people_none_of_simulated_ones(study: Study) -> None:
    assert len(ledger.dues(filled(study))) == 2
    ledger.approve(study, [one.person.pk for one in ledger.dues(study)], at=make.NOON)
    assert len(ledger.open_bonuses(study).dues) == 2
    real = make.running_batch(slug="demonstration-of-people", wanted=2).study
    assert ledger.dues(filled(real)) == []


def test_tells_no_study_of_people_how_long_its_tasks_take(study: Study) -> None:
    task = study.batches.get().task
    before = usual_seconds([task])
    filled(study)
    assert usual_seconds([task]) == before

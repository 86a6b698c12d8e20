"""A rehearsal is played by simulated annotators alone, and thrown away whole; nothing else is."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from annotation.jobs import queue
from annotation.models import Annotator, Assignment, Job, Judgement, Study
from annotation.models.errors import NotReady, Refusal
from annotation.simulation.rehearsing import (
    discard_rehearsal,
    job_of,
    order_rehearsal,
    rehearsal_figures,
)
from annotation.simulation.simulating import Crowd
from annotation.studies.ending import not_as_named
from annotation.work.joining import NotOpen, Visit, join, person
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft() -> Study:
    make.channel("simulated")
    task = make.task()
    return make.batch(make.study(task.benchmark), task, wanted=3).study


def played(draft: Study, **crowd: Any) -> Study:
    rehearsal = order_rehearsal(draft, Crowd(**{"skill": 0.8, **crowd}), at=make.NOON)
    job = job_of(rehearsal)
    assert job
    queue.run_job(job.pk)
    assert Job.objects.get(pk=job.pk).state == "done"
    rehearsal.refresh_from_db()
    return rehearsal


@pytest.mark.both_databases
def test_simulated_annotators_play_a_copy_and_the_draft_stays_as_it_was(draft: Study) -> None:
    member = make.member(draft, "editor")
    rehearsal = played(draft)
    assert rehearsal.is_rehearsal
    assert rehearsal.is_closed
    assert not_as_named(rehearsal) == []
    assert rehearsal.memberships.get().user == member
    figures = rehearsal_figures(rehearsal)
    assert (figures["people"], figures["finished"], figures["places"]) == (3, 3, 3)
    assert figures["cost"] > 0
    assert draft.batches.get().gold_version is None
    assert not draft.assignments.exists()
    assert not Assignment.objects.of_people().exists()


def test_some_stop_on_the_way_and_others_take_their_places(draft: Study) -> None:
    draft.batches.update(wanted=20)
    figures = rehearsal_figures(played(draft, dropout=0.5))
    assert figures["finished"] == 20
    assert figures["outcomes"]["withdrawn"] > 4
    assert figures["people"] == figures["finished"] + figures["outcomes"]["withdrawn"]


def test_ends_where_nobody_goes_to_the_end(draft: Study) -> None:
    draft.batches.update(wanted=1)
    figures = rehearsal_figures(played(draft, dropout=1))
    assert figures["finished"] == 0
    assert figures["people"] == 20


def test_the_weak_are_screened_out_by_the_floor(draft: Study) -> None:
    draft.batches.update(wanted=16)
    Study.objects.filter(pk=draft.pk).update(min_training_score=60)
    draft.refresh_from_db()
    strong = rehearsal_figures(played(draft, skill=0.99))["outcomes"]["screened out"]
    weak = rehearsal_figures(played(draft, skill=0.99, weak=1))["outcomes"]["screened out"]
    assert weak > strong


def test_says_in_which_task_people_were_screened_out(admin_client: Client, draft: Study) -> None:
    easy = make.task(draft.benchmark, training=0, title="Easy")
    make.batch(draft, easy, zero_shot=True, wanted=2)
    hard = draft.batches.exclude(task=easy).get().task
    assert rehearsal_figures(played(draft))["screened_out"] == []
    Study.objects.filter(pk=draft.pk).update(min_training_score=60)
    draft.refresh_from_db()
    rehearsal = played(draft, skill=0.99, weak=1)
    told = {task: (out, came) for task, out, came in rehearsal_figures(rehearsal)["screened_out"]}
    out, came = told[hard]
    assert told[easy] == (0, 2)
    assert 0 < out == came - 3
    page = admin_client.get(reverse("scoring:rehearsal", args=[rehearsal.slug])).content.decode()
    assert f"{out} of {came} in {hard}" in page
    assert "0 of 2 in Easy" in page


def test_is_thrown_away_whole(draft: Study) -> None:
    real = make.running_batch()
    make.worked_through(real)
    before = Judgement.objects.count()
    rehearsal = played(draft)
    assert Judgement.objects.count() > before
    discard_rehearsal(rehearsal)
    assert not Study.objects.filter(pk=rehearsal.pk).exists()
    assert Judgement.objects.count() == before
    assert not Annotator.objects.filter(channel__is_simulated=True).exists()
    assert Study.objects.filter(pk=draft.pk).exists()


@pytest.mark.both_databases
def test_throws_nothing_else_away(draft: Study) -> None:
    batch = make.running_batch()
    make.worked_through(batch)
    with pytest.raises(Refusal, match="Only a rehearsal"):
        discard_rehearsal(batch.study)
    with pytest.raises(IntegrityError, match="final"), transaction.atomic():
        Judgement.objects.filter(assignment__study=batch.study).delete()


def test_waits_until_it_has_been_played(draft: Study) -> None:
    rehearsal = order_rehearsal(draft, Crowd(0.8), at=make.NOON)
    with pytest.raises(Refusal, match="being played"):
        discard_rehearsal(rehearsal)


@pytest.mark.both_databases
@pytest.mark.parametrize("to", [True, False])
def test_no_study_becomes_a_rehearsal_and_no_rehearsal_a_study(draft: Study, to: bool) -> None:
    study = draft if to else order_rehearsal(draft, Crowd(0.8), at=make.NOON)
    with pytest.raises(IntegrityError), transaction.atomic():
        Study.objects.filter(pk=study.pk).update(is_rehearsal=to)


@pytest.mark.both_databases
def test_changes_no_judgement_even_in_a_rehearsal(draft: Study) -> None:
    played(draft)
    with pytest.raises(IntegrityError, match="final"), transaction.atomic():
        Judgement.objects.update(answer=["other"])


def test_takes_no_person(draft: Study) -> None:
    rehearsal = order_rehearsal(draft, Crowd(0.8), at=make.NOON)
    who = person(make.channel("link"), "somebody")
    with pytest.raises(NotOpen, match="simulated annotators"):
        join(Visit(study=rehearsal, annotator=who), at=make.NOON)


@pytest.mark.both_databases
def test_the_database_takes_no_person_into_it_either(draft: Study) -> None:
    rehearsal = order_rehearsal(draft, Crowd(0.8), at=make.NOON)
    batch = rehearsal.batches.get()
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(
            annotator=make.annotator("link", "somebody"),
            study=rehearsal,
            batch=batch,
            exposure_key=batch.task.exposure_key,
            order_seed="1",
            joined_at=make.NOON,
            consented_at=make.NOON,
            seen_at=make.NOON,
        )


def test_says_what_is_missing_before_it_can_be_rehearsed(draft: Study) -> None:
    draft.batches.all().delete()
    with pytest.raises(NotReady, match="no batches"):
        order_rehearsal(draft, Crowd(0.8), at=make.NOON)
    assert not Study.objects.filter(is_rehearsal=True).exists()

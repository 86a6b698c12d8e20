"""Simulated annotators work through the acts of people and stay apart from them."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from annotation.jobs.pacing import Pace
from annotation.models import Assignment, ItemSet, Judgement, Kind, Outcome, Place, Study
from annotation.models.errors import Refusal
from annotation.models.frozen import batch_content
from annotation.simulation import simulating
from annotation.simulation.simulating import simulate_study
from annotation.studies.lifecycle import pause_study, start_study
from tests import make

pytestmark = pytest.mark.django_db


def _answers(study: Study) -> dict[tuple[str, int], list[str]]:
    rows = Judgement.objects.filter(assignment__study=study)
    return {(j.assignment.annotator.identity_hash, j.example_id): j.answer for j in rows}


@pytest.mark.parametrize("kind", Kind.values)
def test_fills_a_whole_study(kind: str) -> None:
    batch = make.running_batch(kind=kind, wanted=2)
    simulate_study(batch.study, skill=0.8, seed=1, at=make.NOON)
    assert list(Assignment.objects.values_list("outcome", flat=True)) == ["completed"] * 2


def test_takes_no_persons_place() -> None:
    batch = make.running_batch(wanted=1)
    simulate_study(batch.study, skill=0.8, seed=1, at=make.NOON)
    assert make.worked_through(batch).outcome == Outcome.COMPLETED
    assert Place.objects.filter(simulated=False, kept=True).count() == 1


def test_is_of_the_simulated_channel() -> None:
    batch = make.running_batch(wanted=1)
    simulate_study(batch.study, skill=0.8, seed=1, at=make.NOON)
    assert not Assignment.objects.of_people().exists()


def test_adds_nothing_when_run_again() -> None:
    batch = make.running_batch(wanted=2)
    simulate_study(batch.study, skill=0.8, seed=1, at=make.NOON)
    assert simulate_study(batch.study, skill=0.8, seed=1, at=make.NOON) == []


def test_names_the_place_where_nobody_can_go_on() -> None:
    """As by a set that was made without what is chosen from."""
    batch = make.running_batch(wanted=1)
    assert batch.training_set is not None
    with make.unlocked():
        ItemSet.objects.filter(pk=batch.training_set.pk).update(choices=[])
    batch_content.cache_clear()
    with pytest.raises(Refusal, match=rf"^{batch.task}, batch {batch}, step 1 of 7: the simulated"):
        simulate_study(batch.study, skill=0.8, seed=1, at=make.NOON)


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_ends_what_an_interrupted_run_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a killed process leaves it: what is committed stays, and nothing is doubled."""
    batch = make.running_batch(wanted=2, tests=60, zero_shot=True)
    steps = []

    def killed(assignment: Assignment, *rest: Any) -> None:
        steps.append(assignment.pk)
        if len(steps) == 40:
            raise KeyboardInterrupt
        play_step(assignment, *rest)

    play_step = simulating._play_step
    monkeypatch.setattr(simulating, "_play_step", killed)
    with pytest.raises(KeyboardInterrupt):
        simulate_study(batch.study, skill=0.8, seed=1, at=make.NOON, pace=Pace(0.001, 0))
    (begun,) = Assignment.objects.all()
    stored = Judgement.objects.count()
    assert not begun.is_finished
    assert stored
    simulate_study(batch.study, skill=0.8, seed=1, at=make.NOON)
    assert list(Assignment.objects.values_list("outcome", flat=True)) == ["completed"] * 2
    begun.refresh_from_db()
    assert list(begun.judgements.values_list("step", flat=True).order_by("step")) == list(
        range(begun.judgements.count())
    )


@pytest.mark.django_db(transaction=True)
def test_holds_no_lock_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A study is played in many transactions, each of a few acts, with pauses between them."""
    pauses: list[float] = []
    monkeypatch.setattr("annotation.jobs.queue.time.sleep", pauses.append)
    monkeypatch.setattr(connection, "vendor", "sqlite")
    batch = make.running_batch(wanted=1, tests=100)
    simulate_study(batch.study, skill=0.8, seed=1, at=make.NOON, pace=Pace(0.001, 3))
    assert len(pauses) > 20


def test_gives_the_same_answers_from_the_same_seed() -> None:
    # Without training, in which an answer also depends on its position in the order.
    batch = make.running_batch(wanted=2, tests=30, zero_shot=True)
    simulate_study(batch.study, skill=0.6, seed=5, at=make.NOON)
    first = _answers(batch.study)
    study = make.study(batch.study.benchmark, slug="twin")
    twin = make.batch(study, batch.task, wanted=2, zero_shot=True)
    start_study(twin.study, at=make.NOON)
    simulate_study(twin.study, skill=0.6, seed=5, at=make.NOON)
    second = _answers(twin.study)
    assert sorted(map(str, first.values())) == sorted(map(str, second.values()))


def test_is_right_about_as_often_as_its_skill_says() -> None:
    batch = make.running_batch(wanted=8, training=0, tests=120, zero_shot=True)
    simulate_study(batch.study, skill=0.8, seed=3, at=make.NOON)
    golds = {e.pk: e.golds.get().alternative_texts()[0] for e in batch.test_set.examples.all()}
    judged = list(Judgement.objects.all())
    share = sum(j.answer == golds[j.example_id] for j in judged) / len(judged)
    assert 0.68 < share < 0.9


def test_refuses_a_skill_that_is_no_share() -> None:
    with pytest.raises(Refusal, match="between 0 and 1"):
        simulate_study(make.running_batch().study, skill=85, seed=1, at=make.NOON)


def test_refuses_a_study_that_is_not_open() -> None:
    study = make.running_batch().study
    pause_study(study)
    with pytest.raises(Refusal, match="start it first"):
        simulate_study(study, skill=0.8, seed=1, at=make.NOON)


def test_the_command_says_which_study_is_missing() -> None:
    with pytest.raises(CommandError, match="no study 'nowhere'"):
        call_command("simulate_annotators", study="nowhere")

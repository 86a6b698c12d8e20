"""Screening: decided once, at the end of training, on a stored basis."""

from datetime import timedelta

import pytest

from annotation.models import (
    Assignment,
    Batch,
    DropUnit,
    Gold,
    Kind,
    Outcome,
    Place,
    ReferencePolicy,
    Role,
    Study,
)
from annotation.studies.lifecycle import start_study
from annotation.studies.monitoring import flagged_by_rule, people_of
from annotation.work.places import open_places
from annotation.work.qualifying import others_scores, screen
from tests import make

pytestmark = pytest.mark.django_db


@pytest.mark.both_databases
def test_lets_a_good_trainee_on_to_the_test() -> None:
    assignment = make.worked_through(make.running_batch(min_training_score=60))
    assert assignment.outcome == Outcome.COMPLETED
    assert assignment.screening["passed"]


def test_screens_a_trainee_below_the_floor_out_with_pay() -> None:
    batch = make.running_batch(min_training_score=60)
    assignment = make.worked_through(batch, wrong=3)
    assert assignment.outcome == Outcome.SCREENED_OUT
    assert assignment.screening["reason"] == "floor"
    assert assignment.amount > 0
    assert not Place.objects.filter(holder=assignment).exists()
    assert not assignment.judgements.of_test().exists()


def test_never_screens_a_zero_shot_annotator() -> None:
    batch = make.running_batch(zero_shot=True, min_training_score=100)
    assert make.worked_through(batch, wrong=4).outcome == Outcome.COMPLETED


def test_compares_with_everybody_else_who_finished_the_training_of_the_cell() -> None:
    batch = make.running_batch(wanted=9, max_drop=20, drop_group_size=2)
    make.worked_through(batch)
    make.worked_through(batch)
    weak = make.worked_through(batch, wrong=3)
    assert weak.outcome == Outcome.SCREENED_OUT
    assert weak.screening["group_size"] == 2
    assert make.worked_through(batch).screening["group_size"] == 3


def test_compares_with_nobody_of_another_study_task_or_number_of_shots() -> None:
    bench = make.benchmark()
    task, other_task = make.task(bench), make.task(bench)
    study, other_study = make.study(bench), make.study(bench)
    batch = make.batch(study, task, wanted=9)
    examples = [make.example(task, f"more {n}", role=Role.TRAINING) for n in range(2)]
    two_shots = make.item_set(task, examples, name="train-2-1", shots=2, split=1)
    test_set = task.item_sets.get(role=Role.TEST)
    others = [
        make.batch(study, other_task),
        make.batch(other_study, task),
        Batch.objects.create(study=study, task=task, training_set=two_shots, test_set=test_set),
    ]
    for begun in (study, other_study):
        start_study(begun, at=make.NOON)
    for other in others:
        make.worked_through(Batch.objects.get(pk=other.pk), wrong=1)
    batch.refresh_from_db()
    make.at_work(batch)  # still in training
    first, second = make.worked_through(batch), make.worked_through(batch, wrong=3)
    assert others_scores(first) == [0]
    assert others_scores(second) == [100]


def test_stores_the_decision_with_its_basis() -> None:
    batch = make.running_batch(
        wanted=9, min_training_score=10, max_drop=80, drop_group_size=2, training=4
    )
    make.worked_through(batch)
    make.worked_through(batch, wrong=1)
    assignment = make.worked_through(batch, wrong=2)
    stored = Assignment.objects.get(pk=assignment.pk)
    assert stored.training_score == 50
    assert stored.training_ended_at == make.NOON + timedelta(seconds=40)
    assert stored.screening == {
        "score": 50,
        "passed": True,
        "reason": "",
        "floor": 10,
        "group_size": 2,
        "group_mean": 87.5,
        "group_sd": pytest.approx(17.6777, abs=1e-4),
        "lowest_allowed": 7.5,
    }


def test_keeps_simulated_and_real_groups_apart() -> None:
    batch = make.running_batch(wanted=9, max_drop=20, drop_group_size=2)
    open_places(batch, simulated=True)
    for _ in range(3):
        make.worked_through(batch, who=make.annotator("simulated"))
    assert make.worked_through(batch, wrong=3).outcome == Outcome.COMPLETED


def test_throws_nobody_out_who_would_be_dropped_later() -> None:
    batch = make.running_batch(wanted=9, max_drop=20, drop_group_size=2)
    early = make.worked_through(batch, wrong=3)
    make.worked_through(batch)
    make.worked_through(batch)
    assert Assignment.objects.get(pk=early.pk).outcome == Outcome.COMPLETED
    assert flagged_by_rule(batch.study, people_of(batch.study)) == {early.pk}


def test_flags_nobody_who_is_in_training_or_was_screened_out() -> None:
    batch = make.running_batch(wanted=9, min_training_score=60, max_drop=20, drop_group_size=2)
    make.worked_through(batch, wrong=3)
    make.at_work(batch)
    make.worked_through(batch)
    make.worked_through(batch)
    assert Assignment.objects.filter(outcome=Outcome.SCREENED_OUT).count() == 1
    assert flagged_by_rule(batch.study, people_of(batch.study)) == set()


@pytest.mark.parametrize(
    ("score", "others", "rule", "reason"),
    [
        (0, [90, 90, 90], {}, ""),
        (75, [80, 100], {"max_drop": 1, "drop_unit": DropUnit.SDS, "drop_group_size": 2}, "drop"),
        (76, [80, 100], {"max_drop": 1, "drop_unit": DropUnit.SDS, "drop_group_size": 2}, ""),
        (50, [], {"min_training_score": 50}, ""),
        (49.9, [], {"min_training_score": 50}, "floor"),
        (0, [90, 90], {"max_drop": 10, "drop_group_size": 3}, ""),
        (79, [90, 90, 90], {"max_drop": 10, "drop_group_size": 3}, "drop"),
        (80, [90, 90, 90], {"max_drop": 10, "drop_group_size": 3}, ""),
        (
            69,
            [80, 90, 100],
            {"max_drop": 2, "drop_unit": DropUnit.SDS, "drop_group_size": 3},
            "drop",
        ),
        (70, [80, 90, 100], {"max_drop": 2, "drop_unit": DropUnit.SDS, "drop_group_size": 3}, ""),
    ],
)
def test_applies_the_rule(
    score: float, others: list[float], rule: dict[str, object], reason: str
) -> None:
    screening = screen(score, others, Study(**rule))
    assert (screening["reason"], screening["passed"]) == (reason, not reason)


def test_counts_several_alternatives_by_the_tasks_policy() -> None:
    task = make.task(training=1)
    gold = Gold.objects.get(example__item_sets__role=Role.TRAINING)
    gold.alternatives = [[{"text": "bad"}], [{"text": "good"}]]
    gold.save()
    batch = make.batch(make.study(task.benchmark), task)
    start_study(batch.study, at=make.NOON)
    assert make.worked_through(batch).training_score == 100


def test_counts_their_union_where_that_is_the_tasks_policy() -> None:
    task = make.task(kind=Kind.SPANS, training=1, reference_policy=ReferencePolicy.SET)
    gold = Gold.objects.get(example__item_sets__role=Role.TRAINING)
    gold.alternatives = [[{"text": "Anna"}], [{"text": "Boris"}]]
    gold.save()
    batch = make.batch(make.study(task.benchmark), task)
    start_study(batch.study, at=make.NOON)
    # The first of the alternatives alone: precision 1, recall 1/2.
    assert make.worked_through(batch).training_score == pytest.approx(200 / 3)

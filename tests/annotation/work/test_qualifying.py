"""Screening: decided once, at the end of training, on a stored basis."""

import pytest

from annotation.models import Assignment, DropUnit, Outcome, Place, Study
from annotation.studies.monitoring import study_figures
from annotation.work.places import open_places
from annotation.work.qualifying import screen
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


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
    assert study_figures(batch.study, at=make.NOON).flagged == [early]


@pytest.mark.parametrize(
    ("score", "others", "rule", "reason"),
    [
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
    assert (screening.reason, screening.passed) == (reason, not reason)


def test_counts_several_alternatives_by_the_tasks_policy() -> None:
    batch = make.running_batch(training=1)
    gold = batch.training_set.examples.get().golds.get()
    gold.alternatives = [[{"text": "bad"}], [{"text": "good"}]]
    gold.save()
    assert make.worked_through(batch).training_score == 100

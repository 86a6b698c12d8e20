from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np
import pytest

from annotation.models import Batch, Gold, GoldVersion, ItemSet, Kind
from scoring.cells.cells import Cell, Vector
from scoring.cells.vectors import (
    ScoredItems,
    assignment_scores,
    run_scores,
    score_answers,
    scored_items,
)
from scoring.core.s1 import s1_best, s1_score
from scoring.models.comparison import ScoreVector
from tests import make
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def items_of(item_set: ItemSet, gold_version: int = 1) -> ScoredItems:
    return scored_items(item_set.task, [item_set], gold_version)[item_set.pk]


def scores_of(batch: Batch, gold_version: int = 1) -> dict[int, np.ndarray]:
    items = items_of(batch.test_set, gold_version)
    return assignment_scores(
        dict.fromkeys(batch.assignments.values_list("pk", flat=True), items), "any"
    )


@pytest.mark.both_databases
def test_scores_every_item_of_an_assignment_in_the_order_of_the_set() -> None:
    batch = measured.cell([5], tests=6, training=3)
    items = items_of(batch.test_set)
    [vector] = scores_of(batch).values()
    judged = dict(batch.assignments.get().judgements.of_test().values_list("example_id", "answer"))
    assert vector.tolist() == [
        s1_score(judged[pk], gold[0])
        for pk, gold in zip(items.example_ids, items.golds, strict=True)
    ]
    # Three of the five wrong answers were training.
    assert vector.sum() == 4


def test_keeps_the_vectors_and_reads_no_judgement_again(
    django_assert_num_queries: Callable[[int], AbstractContextManager],
) -> None:
    batch = measured.cell([0, 4])
    items = items_of(batch.test_set)
    people = {assignment.pk: items for assignment in batch.assignments.all()}
    first = assignment_scores(people, "any")
    assert ScoreVector.objects.count() == 2
    with django_assert_num_queries(1):
        again = assignment_scores(people, "any")
    assert {pk: vector.tolist() for pk, vector in first.items()} == {
        pk: vector.tolist() for pk, vector in again.items()
    }


def test_scores_anew_at_another_gold_version() -> None:
    batch = measured.cell([0])
    example = batch.test_set.items.first().example
    correction = GoldVersion.objects.create(task=batch.task, number=2, reason="a typo")
    Gold.objects.create(example=example, version=correction, alternatives=[[{"text": "neither"}]])
    [before] = scores_of(batch, 1).values()
    [after] = scores_of(batch, 2).values()
    assert (before.mean(), after[0], after[1:].mean()) == (1, 0, 1)


@pytest.mark.both_databases
def test_scores_anew_when_the_gold_of_a_version_was_replaced() -> None:
    batch = measured.cell([0])
    scores_of(batch, 1)
    gold = Gold.objects.get(example=batch.test_set.items.first().example)
    gold.alternatives = [[{"text": "neither"}]]
    with make.unlocked():
        gold.save()
    [vector] = scores_of(batch, 1).values()
    assert vector[0] == 0
    assert ScoreVector.objects.count() == 1


def test_marks_what_a_run_did_not_answer_as_missing() -> None:
    task = make.task(tests=5)
    run = measured.run(task, wrong=1, missing=2)
    [vector] = run_scores({run.pk: items_of(run.test_set)}, "any").values()
    np.testing.assert_array_equal(vector, [0, 1, 1, np.nan, np.nan])


def test_gives_people_and_runs_the_same_scores_for_the_same_answers() -> None:
    batch = measured.cell([5], kind=Kind.SPANS)
    assignment = batch.assignments.get()
    answers = dict(assignment.judgements.of_test().values_list("example_id", "answer"))
    run = measured.run(batch.task, answers=answers)
    items = items_of(batch.test_set)
    people = assignment_scores({assignment.pk: items}, "set")[assignment.pk]
    assert people.tolist() == run_scores({run.pk: items}, "set")[run.pk].tolist()


@pytest.mark.parametrize(("references", "expected"), [("set", 2 / 3), ("any", 1.0)])
def test_scores_several_alternatives_by_the_policy(references: str, expected: float) -> None:
    task = make.task(kind=Kind.SPANS, tests=1)
    gold = Gold.objects.get(example__identity="id:test 0")
    gold.alternatives = [[{"text": "Anna"}], [{"text": "Boris"}]]
    gold.save()
    items = items_of(task.item_sets.get(name="test"))
    answers = {1: {items.example_ids[0]: ["Anna"]}}
    [vector] = score_answers(answers, {1: items}, references).values()
    assert vector.tolist() == [expected]
    assert s1_best(["Anna"], items.golds[0]) == 1


def test_puts_vectors_of_several_test_sets_side_by_side() -> None:
    task = make.task(tests=3)
    test = task.item_sets.get(name="test")
    other = make.item_set(
        task, list(test.examples.order_by("pk"))[1:], name="other", role="test", episode=2
    )
    first, second = items_of(test), items_of(other)
    vectors = (
        Vector(first, np.array([0.1, 0.2, 0.3]), split="1"),
        Vector(second, np.array([0.4, 0.5]), split="2"),
    )
    cell = Cell(task, 10, "any", 1, members=(), vectors=vectors)
    np.testing.assert_array_equal(cell.matrix, [[0.1, 0.2, 0.3], [np.nan, 0.4, 0.5]])
    assert cell.example_ids == first.example_ids
    assert cell.clusters == first.clusters


@pytest.mark.both_databases
def test_scores_the_answers_to_several_test_sets_together() -> None:
    task = make.task(tests=3)
    examples = list(task.item_sets.get(name="test").examples.order_by("pk"))
    other = make.item_set(task, examples[::-1][:2], name="other", role="test", episode=2)
    first = measured.run(task, wrong=1)
    second = measured.run(task, wrong=1, missing=1, test_set=other, episode=2)
    items = scored_items(task, [first.test_set, other], 1)
    scores = run_scores({run.pk: items[run.test_set_id] for run in (first, second)}, "any")
    np.testing.assert_array_equal(scores[first.pk], [0, 1, 1])
    np.testing.assert_array_equal(scores[second.pk], [0, np.nan])

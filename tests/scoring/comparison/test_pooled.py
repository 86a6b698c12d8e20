from collections.abc import Collection, Sequence
from datetime import timedelta
from itertools import count

import pytest

from annotation.models import Batch, Kind
from annotation.work.judging import current_example
from scoring.comparison.cells import CellReader, Choices
from scoring.comparison.pooled import PooledTask, pooled_tasks
from scoring.comparison.pooled_tables import pooled_annotators_table, pooled_items_table
from scoring.comparison.to_json import plain
from tests import make
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def pooled(batch: Batch) -> list[PooledTask]:
    return pooled_tasks(CellReader(Choices()).people(batch.study))


def worked(batch: Batch, wrong: Collection[int]) -> None:
    """Somebody who answers these examples wrong."""
    assignment = make.at_work(batch)
    for number in count():
        if assignment.is_finished:
            return
        is_wrong = current_example(assignment).pk in wrong
        form = make.wrong_answer(assignment) if is_wrong else None
        make.answer(assignment, form, at=make.NOON + timedelta(seconds=10 * (number + 1)))


def one_weak_and_one_faulty() -> Batch:
    """Everybody gets the first of twenty items wrong, and the last person ten more."""
    batch = make.running_batch(wanted=10, tests=20, training=3)
    items: Sequence[int] = list(batch.test_set.examples.values_list("pk", flat=True))
    for wrong in [items[:1]] * 6 + [items[:11]]:
        worked(batch, wrong)
    return batch


def test_names_who_is_weak_and_which_item_may_be_faulty() -> None:
    [task] = pooled(one_weak_and_one_faulty())
    assert [annotator.is_weak for annotator in task.annotators] == [False] * 6 + [True]
    weak = task.annotators[-1]
    assert weak.mean == pytest.approx(45)
    assert weak.mean < weak.pooled < weak.high < task.average
    [item] = task.items
    assert (item.answers, item.right, item.most_count) == (7, 0, 7)
    assert item.high < 50
    assert item.most


def test_pools_everybody_who_worked_on_a_task() -> None:
    batch, *_ = measured.study_with_splits(splits=3, people=2, tests=12)
    [task] = pooled(batch)
    assert len(task.annotators) == 6


@pytest.mark.parametrize(
    ("wrong", "tests", "kind"),
    [([3, 4, 5, 3], 12, Kind.CHOICE), ([3] * 5, 9, Kind.CHOICE), ([3] * 5, 12, Kind.SPANS)],
    ids=["four people", "nine items", "pieces of the text"],
)
def test_leaves_out_what_cannot_be_pooled(wrong: list[int], tests: int, kind: str) -> None:
    assert pooled(measured.cell(wrong, tests=tests, kind=kind)) == []


def test_makes_tables_of_both() -> None:
    result = {"pooled": plain(pooled(one_weak_and_one_faulty()))}
    annotators, items = pooled_annotators_table(result), pooled_items_table(result)
    assert len(annotators.lines) == 7
    assert [line["is_weak"] for line in annotators.records] == [False] * 6 + [True]
    assert [line["right"] for line in items.records] == [0]
    assert None not in (*annotators.records[0].values(), *items.records[0].values())

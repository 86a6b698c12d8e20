"""Items whose gold most people dispute with one answer, and the verdicts without them."""

from typing import Any

import pytest

from annotation.models import Batch, Judgement, Kind, Task
from scoring.cells.cells import CellReader
from scoring.cells.disputed import disputed_items
from scoring.cells.scope import Choices, Scope
from scoring.comparison.comparing import compare
from scoring.contrasts.outcomes import without_disputed
from scoring.core.verdicts import AHEAD, BEHIND, OPEN, PROBABLE, SURE, TOO_FEW
from tests import make
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def answered(batch: Batch, place: int, *answers: list[str]) -> int:
    """The example there, to which each of the people gives their answer, in order."""
    example = batch.test_set.items.get(position=place).example
    with make.unlocked():
        for person, answer in zip(batch.assignments.order_by("pk"), answers, strict=False):
            Judgement.objects.filter(assignment=person, example=example).update(answer=answer)
    return example.pk


def disputed(batch: Batch, **choices: Any) -> frozenset[int]:
    cells = CellReader(Choices(**choices)).people(batch.study)
    return disputed_items([one for cell in cells for one in cell.asked])


def measured_by(people: int, *, tests: int = 6, **about: Any) -> Batch:
    batch = make.running_batch(wanted=people, tests=tests, **about)
    for _ in range(people):
        make.worked_through(batch)
    return batch


@pytest.mark.parametrize(
    ("people", "other", "is_disputed"), [(5, 3, True), (6, 3, False), (6, 4, True), (4, 4, False)]
)
def test_takes_one_answer_of_more_than_half_of_five_or_more(
    people: int, other: int, is_disputed: bool
) -> None:
    batch = measured_by(people, kind=Kind.SPANS)
    pk = answered(batch, 1, *[["Carla"]] * other)
    assert disputed(batch) == ({pk} if is_disputed else set())


def test_takes_the_same_answer_alone() -> None:
    batch = measured_by(5, kind=Kind.SPANS)
    answered(batch, 1, ["Carla"], ["Dora"], ["Emil"], ["Carla"])
    assert disputed(batch) == set()
    pk = answered(batch, 1, ["Carla", "Dora"], ["Dora", "Carla"], ["Carla", "Dora", "Dora"])
    assert disputed(batch) == {pk}


def test_compares_as_the_task_does() -> None:
    batch = measured_by(5, kind=Kind.TEXT)
    with make.unlocked():
        Task.objects.update(normalisation="typed")
    answered(batch, 0, *[["  anna and BORIS "]] * 5)
    assert disputed(batch) == set()


def test_no_alternative_and_no_union_that_counts_is_disputed() -> None:
    batch = measured_by(5, kind=Kind.SPANS)
    pk = answered(batch, 0, *[["Anna", "Boris"]] * 5)
    with make.unlocked():
        gold = batch.test_set.items.get(position=0).example.golds.get()
        gold.alternatives = [[{"text": "Anna"}], [{"text": "Boris"}]]
        gold.save()
    assert gold.alternative_texts() == [["Anna"], ["Boris"]]
    assert disputed(batch, references="any") == {pk}
    assert disputed(batch, references="set") == set()


def test_tells_what_becomes_of_the_verdicts_and_decides_nothing() -> None:
    """Of forty items people get twelve wrong in the same way; the system those and eight more."""
    batch = measured_by(8, tests=40)
    for place in range(12):
        gold = measured.gold(batch.test_set.items.get(position=place).example)
        answered(batch, place, *[["bad"] if gold == ["good"] else ["good"]] * 8)
    measured.run(batch.task, wrong=20, at=make.NOON)
    measured.run(batch.task, system="Right", at=make.NOON)
    study = make.closed(batch.study)
    table = compare(Scope(study.benchmark, study))
    told = {test.system: (test.outcome, test.disputed) for test in table.tests}
    assert told == {
        "BERT-Base": ("ahead", "holds without the 12 disputed items"),
        "Right": ("behind", "falls without the 12 disputed items: open"),
    }
    assert {test.disputed for test in table.systems} == {""}
    assert {test.m for test in table.tests} == {40}


@pytest.mark.parametrize(
    ("was", "state", "told"),
    [
        ((AHEAD, SURE), (AHEAD, SURE), "holds without the 1 disputed item"),
        ((AHEAD, SURE), (OPEN, None), "falls without the 1 disputed item: open"),
        ((AHEAD, SURE), (AHEAD, PROBABLE), "without the 1 disputed item: people ahead, probable"),
        ((OPEN, None), (BEHIND, SURE), "without the 1 disputed item: people behind, sure"),
        ((OPEN, None), (OPEN, None), "holds without the 1 disputed item"),
        ((AHEAD, SURE), None, "fewer than ten items are left without the 1 disputed item"),
        ((TOO_FEW, None), (TOO_FEW, None), ""),
    ],
)
def test_says_what_becomes_of_a_verdict(was: Any, state: Any, told: str) -> None:
    assert without_disputed(1, was, state) == told

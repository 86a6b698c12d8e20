"""Which tests are judged together, and what each of them needs to be sure."""

from copy import deepcopy
from typing import Any

import pytest

from annotation.models import Batch, Study
from annotation.studies.lifecycle import close_study
from scoring.cells.rows import RowKind
from scoring.cells.scope import Choices, Scope
from scoring.comparison.comparing import compare, compute_table
from scoring.comparison.comparison import Comparison
from tests import make
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def seen(study: Study, **choices: Any) -> Comparison:
    return compare(Scope(study.benchmark, make.closed(study)), Choices(**choices))


def two_by_two() -> Study:
    """Two tasks, each with and without shots, five people in each cell; two systems on all."""
    benchmark = make.benchmark()
    study = make.study(benchmark)
    tasks = [make.task(benchmark, tests=10) for _ in range(2)]
    batches = [
        make.batch(study, task, wanted=5, zero_shot=zero)
        for task in tasks
        for zero in (True, False)
    ]
    make.start_study(study, at=make.NOON)
    for batch in batches:
        batch.refresh_from_db()
        for number in range(5):
            make.worked_through(batch, wrong=number % 3)
    for task in tasks:
        for system, wrong in (("A", 6), ("B", 2)):
            measured.run(task, system=system, wrong=wrong, at=make.NOON)
            measured.run(task, system=system, wrong=wrong, shots=0, split=None, at=make.NOON)
    return study


study_once = once_a_module(two_by_two)


@pytest.fixture
def study(study_once: Study) -> Study:
    return deepcopy(study_once)


def families(found: Any) -> set[int | None]:
    return {test.family for test in found}


def test_judges_tasks_averages_shots_and_systems_apart(study: Study) -> None:
    table = seen(study)
    # Two systems on two tasks and over both, at two numbers of shots.
    assert (len(table.tests), families(table.tests)) == (8, {8})
    assert (len(table.average_tests), families(table.average_tests)) == (4, {4})
    assert (len(table.changes), families(table.changes)) == (2, {2})
    assert (len(table.systems), families(table.systems)) == (4, {4})
    for task in study.benchmark.tasks.all():
        measured.run(task, system="Late", wrong=5)
    later = seen(study)
    assert {test.family for test in later.tests if test.supplement} == {2}
    assert {test.family for test in later.average_tests if test.supplement} == {1}
    assert {test.family for test in later.tests if not test.supplement} == {8}
    assert {test.family for test in later.average_tests if not test.supplement} == {4}


@pytest.mark.parametrize(
    ("about", "certainty"),
    [
        ({"min_training_score": 80, "training": 10}, "sure"),
        ({"min_training_score": 90}, "probable"),
        ({"known_people": "Colleagues of ours."}, "probable"),
        ({}, "probable"),
    ],
)
def test_is_sure_with_a_floor_alone(about: dict[str, Any], certainty: str) -> None:
    """A floor over three items lets too many guessers in."""
    batch = make.running_batch(wanted=8, tests=12, **about)
    for number in range(8):
        make.worked_through(batch, wrong=0 if "min_training_score" in about else number % 2)
    shots = batch.training_set.shots
    measured.run(batch.task, wrong=10, shots=shots, at=make.NOON)
    [test] = seen(batch.study).tests
    assert (test.outcome, test.certainty) == ("ahead", certainty)
    assert bool(test.reasons) == (certainty == "probable")


def beside(batch: Batch, **run: Any) -> Comparison:
    measured.run(batch.task, at=make.NOON, **run)
    return seen(batch.study)


def test_runs_on_other_shot_sets_are_exploratory_and_below() -> None:
    batch = measured.cell([3, 4, 5, 3, 4], tests=20)
    table = beside(batch, wrong=9, split=2)
    [test] = table.tests
    assert (test.exploratory, test.in_family, test.p_holm) == (True, False, None)
    assert "other shot sets" in test.reasons or test.certainty is None
    [row] = [row for row in table.rows if row.kind == RowKind.RUN]
    assert (row.block, row.matched, row.m) == ("other", False, 20)


def test_one_column_rests_on_one_number_of_items() -> None:
    batch = measured.on_a_part(5, items=5, tests=20)
    measured.run(batch.task, system="Short", wrong=1, missing=17, at=make.NOON)
    measured.reported(batch.study.benchmark, batch.task.slug, shots=3)
    table = beside(batch, system="Whole", wrong=2)
    by_name = {row.system: row for row in table.rows if not row.single}
    assert {name: (row.m, row.block) for name, row in by_name.items()} == {
        "Human": (5, ""),
        "Whole": (5, ""),
        "Short": (3, "incomplete"),
        "GPT-3": (None, "other"),
    }
    every = {row.system: row for row in seen(batch.study, runs="all").rows if not row.single}
    assert (every["Whole"].m, every["Whole"].mean, every["Whole"].matched) == (20, 90, False)
    assert every["Human"].m == 5


def test_all_runs_stand_beside_no_verdict() -> None:
    batch = measured.cell([3, 4, 5, 3, 4], tests=20)
    measured.run(batch.task, wrong=3, split=2, at=make.NOON)
    beside(batch, wrong=9)
    table = seen(batch.study, runs="all")
    [row] = [row for row in table.rows if row.kind == RowKind.RUN]
    assert (row.n, row.mean, table.tests_of(row)) == (2, pytest.approx(70), [])
    own = seen(batch.study)
    [row] = [row for row in own.rows if row.kind == RowKind.RUN]
    assert (row.n, row.mean, len(own.tests_of(row))) == (1, pytest.approx(55), 1)
    assert table.tests == own.tests


def test_the_average_of_a_frozen_system_stays_when_more_of_its_runs_come(study: Study) -> None:
    close_study(study, at=make.NOON)
    study.refresh_from_db()
    before = seen(study).average_tests
    for task in study.benchmark.tasks.all():
        measured.run(task, system="A", wrong=1, split=2)
    kept = compute_table(Scope(study.benchmark, make.closed(study)), Choices()).average_tests
    own = [test for test in kept if test.supplement is None]
    told = [(test.system, test.shots, test.difference) for test in before]
    assert [(test.system, test.shots, test.difference) for test in own] == told

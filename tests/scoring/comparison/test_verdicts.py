from typing import Any

import pytest

from annotation.models import Batch, Study
from annotation.studies.lifecycle import close_study
from scoring.cells.cells import Cell, CellReader
from scoring.cells.scope import Choices, Scope
from scoring.comparison.comparing import Comparison, compare
from scoring.core.comparison import paired_difference
from scoring.core.intervals import cell_interval
from scoring.core.verdicts import average_difference, average_interval, holm
from tests import make
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def table_of(study: Study) -> Comparison:
    return compare(Scope(study.benchmark, study))


def cell_of(people: int, wrong: int, *, margin: float = 0, **fields: Any) -> Batch:
    """So many people, nearly all right on sixty items, beside a system with so many wrong."""
    batch = make.running_batch(wanted=people, tests=60, training=3, margin=margin)
    for number in range(people):
        make.worked_through(batch, wrong=3 + number % 2)
    measured.run(batch.task, wrong=wrong, **fields)
    return batch


def two_tasks(people: int = 5, *, shared: bool = False) -> Study:
    """Two tasks with people of their own, or the same ones, and a system that has both."""
    benchmark = make.benchmark()
    tasks = [make.task(benchmark, tests=30) for _ in range(2)]
    study = make.study(benchmark)
    batches = [make.batch(study, task, wanted=people) for task in tasks]
    make.start_study(study, at=make.NOON)
    for task, batch in zip(tasks, batches, strict=True):
        for number in range(people):
            make.worked_through(batch, wrong=3 + number % 3)
        measured.run(task, wrong=20)
    if shared:
        firsts, seconds = (batch.assignments.order_by("pk") for batch in batches)
        # As a study of an older version may hold it.
        with make.unlocked():
            for first, second in zip(firsts, seconds, strict=True):
                second.annotator = first.annotator
                second.save(update_fields=["annotator"])
    return study


def cells_of(study: Study) -> tuple[list[Cell], list[Cell]]:
    reader = CellReader(Choices())
    people = reader.people(study)
    return people, [system for cell in people for system in reader.systems(cell.task)]


@pytest.mark.parametrize(
    ("people", "wrong", "margin", "outcome"),
    [
        (5, 40, 0, "ahead"),
        (5, 40, 80, "same"),
        (5, 1, 0, "undecided"),
        (4, 40, 0, "exploratory"),
        (1, 40, 0, "untested"),
    ],
)
def test_says_what_the_tests_allow(people: int, wrong: int, margin: float, outcome: str) -> None:
    study = cell_of(people, wrong, margin=margin).study
    [verdict] = table_of(study).tests
    assert (verdict.outcome, verdict.margin, verdict.n) == (outcome, margin, people)
    assert (verdict.detectable is not None) == (outcome == "undecided")
    assert (verdict.p_holm is None) == (people < 5)


def test_agrees_with_the_core_on_every_figure() -> None:
    study = cell_of(5, 12).study
    [people], [system] = cells_of(study)
    test = paired_difference(people.scores, system.scores)
    [verdict] = table_of(study).tests
    assert (verdict.difference, verdict.low, verdict.high) == pytest.approx(
        (100 * test.difference, 100 * test.low, 100 * test.high)
    )
    assert (verdict.p, verdict.above) == (pytest.approx(test.p), test.pair.above)


def test_says_of_the_average_what_the_core_says() -> None:
    study = two_tasks()
    people, systems = cells_of(study)
    tests = [
        paired_difference(cell.scores, system.scores)
        for cell, system in zip(people, systems, strict=True)
    ]
    table = table_of(study)
    [verdict] = table.average_tests
    expected = average_difference(tests)
    assert (verdict.outcome, verdict.of_system) == ("ahead", "behind")
    assert (verdict.low, verdict.high) == pytest.approx((100 * expected.low, 100 * expected.high))
    means = average_interval([cell_interval(cell.scores) for cell in people])
    [mean] = [average for average in table.averages if average.kind == "human"]
    assert (mean.low, mean.high) == pytest.approx((100 * means.low, 100 * means.high))
    assert not mean.exploratory
    [consensus] = [average for average in table.averages if average.kind == "consensus"]
    assert consensus.low is not None


def test_adjusts_the_averages_over_all_that_one_studys_people_are_compared_with() -> None:
    study = two_tasks()
    for task in study.benchmark.tasks.all():
        for wrong in (5, 6):
            measured.run(task, system=f"System {wrong}", wrong=wrong)
    averages = table_of(study).average_tests
    assert [verdict.family for verdict in averages] == [3, 3, 3]
    expected = holm([verdict.p for verdict in averages])
    assert [verdict.p_holm for verdict in averages] == pytest.approx(expected.tolist())
    assert any(verdict.p != verdict.p_holm for verdict in averages)


def test_gives_no_interval_where_tasks_share_people() -> None:
    table = table_of(two_tasks(shared=True))
    [verdict] = table.average_tests
    assert (verdict.outcome, verdict.low, verdict.p) == ("untested", None, None)
    assert verdict.notes == "Tasks share people: there is no interval for the average."
    assert {average.kind: average.low is None for average in table.averages} == {
        "human": True,
        "run": True,
        "consensus": True,
    }


def test_calls_an_average_of_small_groups_exploratory() -> None:
    table = table_of(two_tasks(people=3))
    [verdict] = table.average_tests
    assert verdict.outcome == "exploratory"
    [mean] = [average for average in table.averages if average.kind == "human"]
    assert mean.exploratory


def test_shows_the_distance_of_a_published_figure_and_no_more() -> None:
    batch = cell_of(5, 12)
    benchmark, task = batch.study.benchmark, batch.task.slug
    measured.reported(benchmark, task, shots=3, mean=70.0)
    measured.reported(benchmark, task, shots=3, mean=70.0, references="set", system="T5")
    measured.reported(benchmark, task, shots=10, mean=70.0, system="T5")
    table = table_of(batch.study)
    [distance] = [verdict for verdict in table.tests if verdict.is_reported]
    [row] = [row for row in table.rows if row.kind == "human"]
    assert distance.difference == pytest.approx((row.mean or 0) - 70)
    assert (distance.system, distance.outcome, distance.low, distance.p) == (
        "GPT-3",
        "untested",
        None,
        None,
    )


def test_marks_a_verdict_that_one_person_carries() -> None:
    batch = make.running_batch(wanted=6, tests=60, training=3)
    for wrong in (3, 3, 4, 3, 4, 9):
        make.worked_through(batch, wrong=wrong)
    measured.run(batch.task, wrong=13)
    [verdict] = table_of(batch.study).tests
    assert verdict.outcome == "ahead"
    others = list(range(6))
    [people], [system] = cells_of(batch.study)
    fall = any(
        paired_difference(people.scores[[k for k in others if k != left]], system.scores).p > 0.05
        for left in others
    )
    assert verdict.fragile == fall


def test_marks_figures_of_a_study_that_is_not_closed() -> None:
    study = cell_of(5, 12).study
    assert table_of(study).interim == (study.slug,)
    close_study(study, at=make.NOON)
    assert table_of(study).interim == ()


def test_a_margin_makes_the_table_anew() -> None:
    study = cell_of(5, 40).study
    assert table_of(study).tests[0].outcome == "ahead"
    with make.unlocked():
        Study.objects.update(margin=80)
    assert table_of(Study.objects.get()).tests[0].outcome == "same"


def test_keeps_the_verdicts_as_they_are() -> None:
    study = two_tasks()
    first = table_of(study)
    assert table_of(study) == first

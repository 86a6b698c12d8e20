from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from annotation.models import Batch, Exclusion, Judgement, Study
from annotation.studies.lifecycle import close_study
from annotation.work.finishing import expire_idle
from scoring.cells.cells import Cell, CellReader
from scoring.cells.scope import Choices, Scope
from scoring.comparison.answer import AWAITED, answers
from scoring.comparison.comparing import compare, compute_table
from scoring.comparison.comparison import Comparison
from scoring.contrasts.averages import SHARED_PEOPLE
from scoring.core.comparison import compared_sides, paired_difference
from scoring.core.intervals import cell_interval
from scoring.core.shared import shared_average, shared_difference, shared_without_each
from scoring.core.verdicts import average_difference, average_interval, holm
from tests import make
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def table_of(study: Study) -> Comparison:
    return compare(Scope(study.benchmark, make.closed(study)))


# Of ten training items with two labels: 5 of 100 guessers pass it.
FLOOR: dict[str, Any] = {"min_training_score": 80}


def cell_of(people: int, wrong: int, **study: Any) -> Batch:
    """So many people, all right on 24 items, beside a system with so many wrong."""
    batch = make.running_batch(wanted=people, tests=24, training=10, **{**FLOOR, **study})
    for number in range(people):
        make.worked_through(batch, wrong=number % 2)
    measured.run(batch.task, wrong=wrong, shots=10, at=make.NOON)
    return batch


def two_tasks(people: int) -> Study:
    """Two tasks with people of their own, and a system that has both."""
    benchmark = make.benchmark()
    tasks = [make.task(benchmark, training=10, tests=15) for _ in range(2)]
    study = make.study(benchmark, **FLOOR)
    batches = [make.batch(study, task, wanted=people) for task in tasks]
    make.start_study(study, at=make.NOON)
    for task, batch in zip(tasks, batches, strict=True):
        for number in range(people):
            make.worked_through(batch, wrong=number % 3)
        measured.run(task, wrong=10, shots=10, at=make.NOON)
    return study


def with_shared_people(study: Study) -> Study:
    """The same people in both tasks, as a study of an older version may hold it."""
    firsts, seconds = (batch.assignments.order_by("pk") for batch in study.batches.order_by("pk"))
    with make.unlocked():
        for first, second in zip(firsts, seconds, strict=True):
            second.annotator = first.annotator
            second.save(update_fields=["annotator"])
    return study


five_once = once_a_module(lambda: cell_of(5, 5))
pair_once = once_a_module(lambda: two_tasks(8))


@pytest.fixture
def five(five_once: Batch) -> Batch:
    """Five people beside a system that has five items wrong."""
    return deepcopy(five_once)


@pytest.fixture
def pair(pair_once: Study) -> Study:
    """Two tasks with eight people each."""
    return deepcopy(pair_once)


def cells_of(study: Study) -> tuple[list[Cell], list[Cell]]:
    reader = CellReader(Choices())
    people = reader.people(study)
    return people, [system for cell in people for system in reader.systems(cell.task)]


@pytest.mark.parametrize(
    ("people", "wrong", "margin", "state"),
    [
        (8, 16, 0, ("ahead", "sure")),
        (8, 16, 95, ("same", "sure")),
        (7, 16, 0, ("ahead", "probable")),
        (5, 1, 0, ("open", None)),
        (4, 16, 0, ("too_few", None)),
        (1, 16, 0, ("too_few", None)),
    ],
)
def test_says_what_the_tests_allow(
    people: int, wrong: int, margin: float, state: tuple[str, str | None]
) -> None:
    study = cell_of(people, wrong, margin=margin).study
    [verdict] = table_of(study).tests
    assert (verdict.outcome, verdict.certainty) == state
    assert (verdict.margin, verdict.n, verdict.runs) == (margin, people, 1)
    assert (verdict.p_holm is None) == (people < 5)
    assert verdict.in_family == (people >= 5)
    assert (verdict.fragile is None) == (verdict.certainty is None)
    assert (verdict.low is None) == (people == 1)


def test_is_not_sure_of_people_without_a_floor() -> None:
    """That they are known is none."""
    study = cell_of(8, 16, min_training_score=None, known_people="Colleagues of ours.").study
    [verdict] = table_of(study).tests
    assert (verdict.outcome, verdict.certainty) == ("ahead", "probable")
    assert verdict.reasons == ("no floor was set",)


def test_is_sure_only_with_the_excluded_counted_as_well() -> None:
    """Two of ten who knew little are excluded after their scores."""
    batch = make.running_batch(wanted=10, tests=24, training=10, **FLOOR)
    people = [make.worked_through(batch, wrong=number % 2) for number in range(10)]
    measured.run(batch.task, wrong=4, shots=10, at=make.NOON)
    with make.unlocked():
        for person in people[:2]:
            tested = person.judgements.filter(role="test").values("pk")[:20]
            Judgement.objects.filter(pk__in=tested).update(answer=["?"])
    before = table_of(batch.study).tests[0]
    for person in people[:2]:
        Exclusion.objects.create(assignment=person, reason="They knew little.")
    [verdict] = table_of(batch.study).tests
    assert (before.outcome, before.n) == ("open", 10)
    assert (verdict.outcome, verdict.certainty, verdict.n) == ("ahead", "probable", 8)
    assert verdict.reasons == ("falls with the excluded",)
    [row] = compute_table(Scope(batch.study.benchmark, make.closed(batch.study)), Choices()).tests
    assert replace(row, frozen_at=verdict.frozen_at) == verdict


def test_agrees_with_the_core_on_every_figure(five: Batch) -> None:
    study = five.study
    [people], [system] = cells_of(study)
    test = paired_difference(people.scores, system.scores)
    [verdict] = table_of(study).tests
    assert (verdict.difference, verdict.low, verdict.high) == pytest.approx(
        (100 * test.difference, 100 * test.low, 100 * test.high)
    )
    assert (verdict.p, verdict.above) == (pytest.approx(test.p), test.above)


def test_says_of_the_average_what_the_core_says(pair: Study) -> None:
    people, systems = cells_of(pair)
    tests = [
        paired_difference(cell.scores, system.scores)
        for cell, system in zip(people, systems, strict=True)
    ]
    table = table_of(pair)
    [verdict] = table.average_tests
    expected = average_difference(tests)
    assert (verdict.outcome, verdict.certainty) == ("ahead", "sure")
    assert (verdict.task, len(verdict.tasks), verdict.n, verdict.runs) == (None, 2, 8, 1)
    assert (verdict.low, verdict.high) == pytest.approx((100 * expected.low, 100 * expected.high))
    cells = [cell_interval(cell.scores) for cell in people]
    means = average_interval(
        *([getattr(cell, name) for cell in cells] for name in ("mean", "se", "df", "m"))
    )
    [mean] = [average for average in table.averages if average.kind == "human"]
    assert (mean.low, mean.high) == pytest.approx((100 * means.low, 100 * means.high))
    assert not mean.has_too_few
    [consensus] = [average for average in table.averages if average.kind == "consensus"]
    assert consensus.low is not None


def test_adjusts_the_averages_over_all_that_one_studys_people_are_compared_with(
    pair: Study,
) -> None:
    for task in pair.benchmark.tasks.all():
        for wrong in (5, 6):
            measured.run(task, system=f"System {wrong}", wrong=wrong, shots=10)
    averages = table_of(pair).average_tests
    assert [verdict.family for verdict in averages] == [3, 3, 3]
    expected = holm([verdict.p for verdict in averages])
    assert [verdict.p_holm for verdict in averages] == pytest.approx(expected.tolist())
    assert any(verdict.p != verdict.p_holm for verdict in averages)


def test_takes_people_together_who_did_several_tasks(pair: Study) -> None:
    study = with_shared_people(pair)
    table = table_of(study)
    people, systems = cells_of(study)
    persons = [cell.persons for cell in people]
    assert persons[0] == persons[1]
    sides = [cell.scores for cell in people], [cell.scores for cell in systems], persons
    known = shared_difference(*sides)
    [verdict] = table.average_tests
    assert (verdict.outcome, verdict.certainty, verdict.n) == ("ahead", "sure", 8)
    assert (verdict.low, verdict.high) == pytest.approx((100 * known.low, 100 * known.high))
    assert verdict.p == pytest.approx(known.p)
    assert verdict.notes == SHARED_PEOPLE
    average = shared_average(sides[0], persons)
    [human] = [one for one in table.averages if one.kind == "human"]
    assert (human.low, human.high) == pytest.approx((100 * average.low, 100 * average.high))
    assert human.notes == SHARED_PEOPLE


def test_has_no_average_of_shared_people_with_gaps() -> None:
    people, system = np.ones((6, 20)), np.zeros((1, 20))
    people[0, 3:] = people[1, :3] = np.nan
    h, s = compared_sides(people, system, clusters=np.arange(20))
    assert len(h) == 6
    assert np.isnan(shared_difference([h, h], [s, s], [range(6)] * 2).p)


def test_without_a_person_is_without_all_of_their_tasks(pair: Study) -> None:
    """Who alone makes the difference does so in both."""
    people, systems = cells_of(with_shared_people(pair))
    sides = [cell.scores for cell in people], [cell.scores for cell in systems]
    without = shared_without_each(*sides, [cell.persons for cell in people])
    assert len(without) == 8
    assert {one.people for one in without} == {7}


def test_calls_an_average_of_small_groups_exploratory() -> None:
    table = table_of(two_tasks(people=3))
    [verdict] = table.average_tests
    assert (verdict.outcome, verdict.p_holm) == ("too_few", None)
    [mean] = [average for average in table.averages if average.kind == "human"]
    assert mean.has_too_few


def test_tests_no_published_figure(five: Batch) -> None:
    measured.reported(five.study.benchmark, five.task.slug, mean=70.0)
    table = table_of(five.study)
    assert [verdict.system for verdict in table.tests] == ["BERT-Base"]
    assert [row.block for row in table.rows if row.kind == "reported"] == ["other"]


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


def test_marks_figures_of_a_study_that_is_not_closed(five: Batch) -> None:
    study = five.study
    assert compare(Scope(study.benchmark, study)).warning == "Interim, not closed."
    assert table_of(study).warning == ""


def test_says_of_a_closed_study_who_may_still_send_a_page() -> None:
    batch = measured.cell([0, 1])
    make.at_work(batch)
    make.at_work(batch)
    study = batch.study
    close_study(study, at=make.NOON)
    scope = Scope(study.benchmark, study)
    until = f"until {make.NOON + timedelta(seconds=study.item_cap_s):%Y-%m-%d %H:%M} UTC"
    why = f"closed, but 2 people may still send their last page, {until}"
    assert compare(scope).warning == f"Interim, {why}."
    everything = compare(Scope(study.benchmark))
    assert everything.warning == f"Interim, {why}: {study.title}."
    [answer] = answers(compare(scope), "3")
    assert answer.footing == AWAITED
    expire_idle(at=make.NOON + timedelta(days=1))
    assert compare(scope).warning == ""


def test_calls_nothing_interim_that_nobody_has_answered() -> None:
    batch = make.running_batch(training=3, tests=4)
    table = compare(Scope(batch.study.benchmark))
    assert (table.interim, table.warning) == ({}, "")


def test_a_margin_makes_the_table_anew() -> None:
    study = make.closed(cell_of(5, 16).study)
    choices = Choices(with_excluded=True)  # nothing of it is frozen
    assert compare(Scope(study.benchmark, study), choices).tests[0].outcome == "ahead"
    with make.unlocked():
        Study.objects.update(margin=95)
    study.refresh_from_db()
    assert compare(Scope(study.benchmark, study), choices).tests[0].outcome == "same"


def test_keeps_the_verdicts_as_they_are(pair: Study) -> None:
    first = table_of(pair)
    assert table_of(pair) == first

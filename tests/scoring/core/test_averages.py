from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.comparison import paired_difference, paired_without_each
from scoring.core.intervals import CellInterval, cell_interval
from scoring.core.people_designs import ScoreModel
from scoring.core.variance import Components
from scoring.core.verdicts import (
    AverageInterval,
    Member,
    average_difference,
    average_interval,
    averages_without_each,
    likeliest,
    over_tasks,
    verdicts,
)


def exactly(value: object) -> object:
    return pytest.approx(value, abs=1e-9)


def cell(right: float, n: int = 5, m: int = 20) -> CellInterval:
    return cell_interval(np.arange(n * m).reshape(n, m) < right * n * m)


def average_of(cells: list[CellInterval]) -> AverageInterval:
    return average_interval(
        [cell.mean for cell in cells],
        [cell.se for cell in cells],
        [cell.df for cell in cells],
        [cell.m for cell in cells],
    )


def test_meets_the_known_averages(reference: Callable) -> None:
    for row in reference("averages")["rows"]:
        average = average_of([cell_interval(y) for y in row["people"]])
        for name, value in row["average"].items():
            assert getattr(average, name) == exactly(value), name
        both = zip(row["people"], row["system"], strict=True)
        difference = average_difference([paired_difference(h, s) for h, s in both])
        for name, value in row["average_difference"].items():
            assert getattr(difference, name) == exactly(value), name


def test_meets_the_known_verdicts_on_averages(reference: Callable) -> None:
    for row in reference("averages")["rows"]:
        both = list(zip(row["people"], row["system"], strict=True))
        tests = [paired_difference(h, s) for h, s in both]
        without = averages_without_each(tests, [paired_without_each(h, s) for h, s in both])
        found = Member(average_difference(tests), partial(list, without))
        for margin, known in row["verdicts"].items():
            p = likeliest(found.test, margin=float(margin))[1]
            assert p == exactly(known["p"])
            if left := (row["leave_one_out"] or {}).get(margin):
                others = [likeliest(one, margin=float(margin))[1] for one in without]
                assert others == exactly(left["p"])
            [alone] = verdicts([found], margin=float(margin))
            state = row["state_alone"][margin].replace("too few people", "too_few")
            assert (alone.certainty or alone.outcome) == state


def test_meets_both_sds_over_tasks(reference: Callable) -> None:
    known = reference("intervals_and_tests")["aggregate_T5"]
    names = ("mean", "sd_of_mean", "clues_readme_sd_sqrt_sum_var")
    assert over_tasks(known["means"], known["sds"]) == exactly(tuple(known[name] for name in names))


def test_has_no_figure_over_tasks_when_one_is_missing() -> None:
    assert np.isnan(over_tasks([0.5, np.nan], [0.1, 0.1])[0])
    assert np.isnan(over_tasks([0.5, 0.6], [0.1, np.nan])[1])


@given(st.lists(st.sampled_from([0.0, 0.3, 0.5, 0.99, 1.0]), min_size=1, max_size=6))
def test_holds_the_average_and_always_has_a_width(means: list[float]) -> None:
    found = average_of([cell(mean) for mean in means])
    assert 0 <= found.low <= found.mean <= found.high <= 1
    assert found.low < found.high


def test_is_the_interval_of_the_cell_for_one_task() -> None:
    found, one = average_of([cell(0.9)]), cell(0.9)
    assert (found.low, found.high, found.se, found.df) == exactly(
        (one.low, one.high, one.se, one.df)
    )


def test_rests_on_the_people_of_the_smallest_task() -> None:
    tests = [paired_difference(np.ones((n, 9)), np.zeros((2, 9))) for n in (5, 4)]
    assert average_difference(tests[:1]).people == 5
    assert average_difference(tests).people == 4


def test_has_no_interval_where_a_task_has_none() -> None:
    found = average_of([cell(0.9), cell(0.8, n=1)])
    assert found.mean == exactly(0.85)
    assert np.isnan([found.se, found.low, found.high]).all()
    tests = [paired_difference(np.ones((n, 9)), np.zeros((2, 9))) for n in (5, 1)]
    difference = average_difference(tests)
    assert difference.difference == 1
    assert np.isnan([difference.p, difference.low, difference.high]).all()


def test_covers_an_average_over_four_tasks() -> None:
    model = ScoreModel.of_components(Components(annotator=0.002, item=0.03, residual=0.05))
    drawn = model.draw(5, 60, replicates=1200, rng=np.random.default_rng(3))
    found = [average_of([cell_interval(y) for y in four]) for four in drawn.reshape(300, 4, 5, 60)]
    held = np.mean([f.low <= model.mean <= f.high for f in found])
    assert 0.92 <= held <= 1


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: over_tasks([1, 2], [1]), "2 means and 1 SDs"),
        (lambda: average_interval([], [], [], []), "needs the mean of a task"),
        (lambda: average_difference([]), "needs a difference"),
    ],
)
def test_rejects_bad_input(act: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        act()

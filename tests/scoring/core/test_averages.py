from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.comparison import paired_difference
from scoring.core.intervals import CellInterval, cell_interval
from scoring.core.people_designs import ScoreModel
from scoring.core.verdicts import average_difference, average_interval, over_tasks


def exactly(value: object) -> object:
    return pytest.approx(value, abs=1e-9)


def cell(right: float, n: int = 5, m: int = 20) -> CellInterval:
    return cell_interval(np.arange(n * m).reshape(n, m) < right * n * m)


def test_meets_the_known_averages(reference: Callable) -> None:
    for row in reference("averages")["rows"]:
        average = average_interval([cell_interval(y) for y in row["people"]])
        for name, value in row["average"].items():
            assert getattr(average, name) == exactly(value), name
        both = zip(row["people"], row["system"], strict=True)
        difference = average_difference([paired_difference(h, s) for h, s in both])
        for name, value in row["average_difference"].items():
            assert getattr(difference, name) == exactly(value), name


def test_meets_both_sds_over_tasks(reference: Callable) -> None:
    known = reference("intervals_and_tests")["aggregate_T5"]
    names = ("mean", "sd_of_mean", "clues_readme_sd_sqrt_sum_var")
    assert over_tasks(known["means"], known["sds"]) == exactly(tuple(known[name] for name in names))


def test_has_no_figure_over_tasks_when_one_is_missing() -> None:
    assert np.isnan(over_tasks([0.5, np.nan], [0.1, 0.1])[0])
    assert np.isnan(over_tasks([0.5, 0.6], [0.1, np.nan])[1])


@given(st.lists(st.sampled_from([0.0, 0.3, 0.5, 0.99, 1.0]), min_size=1, max_size=6))
def test_holds_the_average_and_always_has_a_width(means: list[float]) -> None:
    found = average_interval([cell(mean) for mean in means])
    assert 0 <= found.low <= found.mean <= found.high <= 1
    assert found.low < found.high
    assert found.tasks == len(means)


def test_is_the_interval_of_the_cell_for_one_task() -> None:
    found, one = average_interval([cell(0.9)]), cell(0.9)
    assert (found.low, found.high, found.se, found.df) == exactly(
        (one.low, one.high, one.se, one.df)
    )


def test_is_exploratory_with_one_task_below_five_annotators() -> None:
    assert not average_interval([cell(0.9), cell(0.8)]).exploratory
    assert average_interval([cell(0.9), cell(0.8, n=4)]).exploratory
    tests = [paired_difference(np.ones((n, 9)), np.zeros((2, 9))) for n in (5, 4)]
    assert not average_difference(tests[:1]).exploratory
    assert average_difference(tests).exploratory


def test_has_no_interval_where_a_task_has_none() -> None:
    found = average_interval([cell(0.9), cell(0.8, n=1)])
    assert found.mean == exactly(0.85)
    assert np.isnan([found.se, found.low, found.high]).all()
    tests = [paired_difference(np.ones((n, 9)), np.zeros((2, 9))) for n in (5, 1)]
    difference = average_difference(tests)
    assert difference.difference == 1
    assert np.isnan([difference.p, difference.low, difference.high]).all()


def test_covers_an_average_over_four_tasks() -> None:
    model = ScoreModel.from_components(annotator_var=0.002, item_var=0.03, residual_var=0.05)
    drawn = model.draw(5, 60, replicates=1200, rng=np.random.default_rng(3))
    found = [
        average_interval([cell_interval(y) for y in four]) for four in drawn.reshape(300, 4, 5, 60)
    ]
    held = np.mean([f.low <= model.mean <= f.high for f in found])
    assert 0.92 <= held <= 1


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: over_tasks([1, 2], [1]), "2 means and 1 SDs"),
        (lambda: average_interval([]), "intervals are for new items"),
        (
            lambda: average_interval([cell_interval(np.ones((2, 2)), estimand="these_items")]),
            "intervals are for new items",
        ),
        (lambda: average_difference([]), "needs a difference"),
    ],
)
def test_rejects_bad_input(act: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        act()

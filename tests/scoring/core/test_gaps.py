import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from scoring.core.comparison import paired_difference
from scoring.core.intervals import (
    NO_INTERVAL,
    WILSON_WITH_GAPS,
    cell_interval,
    cluster_scores,
    split_interval,
)
from scoring.core.variance import (
    complete_spread,
    gap_spread,
    gap_squares,
    mean_squares,
)

complete = arrays(
    float,
    array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=7),
    elements=st.sampled_from([0.0, 0.5, 2 / 3, 1.0]),
)


def exactly(value: object) -> object:
    return pytest.approx(value, abs=1e-9)


def with_gaps(n: int, m: int, seed: int, share: float = 0.3) -> np.ndarray:
    """Every item keeps two viewers or more."""
    rng = np.random.default_rng(seed)
    y = (rng.random((n, m)) < 0.8).astype(float)
    y[2:][rng.random((n - 2, m)) < share] = np.nan
    return rng.permuted(y, axis=0)


@given(complete)
def test_equals_the_complete_formula_where_nothing_is_missing(y: np.ndarray) -> None:
    found, usual = gap_squares(y), mean_squares(y)
    assert (found.annotator, found.item, found.residual) == exactly(
        (float(usual.annotator), float(usual.item), float(usual.residual))
    )
    part = 1 / y.size
    assert (found.c_annotator, found.c_item, found.c_residual) == exactly((part, part, -part))
    spread, expected = gap_spread(y), complete_spread(y)
    for name in ("mean", "se", "df"):
        assert getattr(spread, name) == exactly(float(getattr(expected, name)))


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_regressions_on_indicators(seed: int) -> None:
    y = with_gaps(5, 8, seed)
    rows, columns = np.nonzero(~np.isnan(y))
    values = y[rows, columns]
    people, items = np.eye(5)[rows], np.eye(8)[columns]

    def unexplained(*effects: np.ndarray) -> float:
        design = np.hstack(effects)
        fitted = design @ np.linalg.lstsq(design, values, rcond=None)[0]
        return float(((values - fitted) ** 2).sum())

    found = gap_squares(y)
    rest = unexplained(people, items)
    assert found.annotator * 4 == exactly(unexplained(items) - rest)
    assert found.item * 7 == exactly(unexplained(people) - rest)
    assert found.residual * (len(values) - 5 - 8 + 1) == exactly(rest)


@given(st.integers(0, 200))
def test_does_not_depend_on_the_order(seed: int) -> None:
    y = with_gaps(4, 9, seed)
    rng = np.random.default_rng(seed)
    other = cell_interval(y[rng.permutation(4)][:, rng.permutation(9)])
    found = cell_interval(y)
    assert (found.low, found.high, found.se) == exactly((other.low, other.high, other.se))


@given(st.integers(0, 200))
def test_holds_the_mean_and_mirrors(seed: int) -> None:
    y = with_gaps(4, 9, seed)
    found, mirrored = cell_interval(y), cell_interval(1 - y)
    assert found.mean == exactly(np.nanmean(y, axis=0).mean())
    assert found.low <= found.mean <= found.high
    assert found.low < found.high
    if abs(found.mean - 0.5) > 1e-6:
        assert (found.low, found.high) == exactly((1 - mirrored.high, 1 - mirrored.low))


def test_names_its_method_and_repeats_itself() -> None:
    y = with_gaps(5, 30, 1)
    found = cell_interval(y, rng=np.random.default_rng(1))
    assert (found.method, found.n, found.m) == ("wilson-gaps", 5, 30)
    assert found == cell_interval(y, rng=np.random.default_rng(2))


def test_has_no_interval_for_these_items() -> None:
    found = cell_interval(with_gaps(5, 30, 1), estimand="these_items")
    assert np.isnan([found.low, found.high]).all()
    assert "Annotators did not all see the same items" in found.notes[0]


def test_has_no_interval_where_most_items_have_one_viewer() -> None:
    y = np.full((3, 30), np.nan)
    for k in range(3):
        y[k, k * 10 : k * 10 + 10] = np.random.default_rng(k).random(10)
    found = cell_interval(y)
    assert np.isnan([found.low, found.high]).all()
    assert found.notes == (
        "Most items were seen by one annotator only: there is no interval for new items.",
    )
    y[0, 10:25] = 0.5
    assert 0 < cell_interval(y).low < cell_interval(y).mean < cell_interval(y).high < 1


def test_takes_a_sparse_cell_of_thousands_in_little_memory() -> None:
    """4,000 people and items, two answers each: a dense system of that size takes a minute and a
    gigabyte."""
    n = 4000
    order = np.random.default_rng(0).permutation(n)
    person, item = np.tile(np.arange(n), 2), np.concatenate([order, np.roll(order, 1)])
    y = np.full((n, n), np.nan)
    y[person, item] = np.random.default_rng(1).integers(0, 2, 2 * n)
    tracemalloc.start()
    spread = gap_spread(y)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100_000_000
    assert 0 < spread.se < 0.05


def test_counts_the_degrees_of_freedom_of_groups_that_no_answer_links() -> None:
    rng = np.random.default_rng(3)
    apart = np.full((6, 8), np.nan)
    apart[:3, :4], apart[3:, 4:] = rng.random((3, 4)), rng.random((3, 4))
    squares = gap_squares(apart)
    parts = [mean_squares(part) for part in (apart[:3, :4], apart[3:, 4:])]
    assert (squares.groups, squares.residual_df) == (2, 12)
    for name in ("annotator", "item", "residual"):
        mean = np.mean([getattr(part, name) for part in parts])
        assert getattr(squares, name) == pytest.approx(mean, abs=1e-12)


def errors_in_parts(people: int, *, errors: int = 3) -> np.ndarray:
    """600 answers to 200 items, three an item, all right but these."""
    y = np.full((people, 200), np.nan)
    for k in range(600):
        y[k % people, k // 3 if people > 3 else k % 200] = 1.0
    y[tuple(np.argwhere(~np.isnan(y))[:: 600 // errors][:errors].T)] = 0.0
    return y


def test_does_not_grow_with_the_people_who_share_as_many_answers() -> None:
    widths = []
    for people in (15, 50, 150):
        found = cell_interval(errors_in_parts(people))
        widths.append(100 * (found.high - found.low))
    assert max(widths) < 7
    assert max(widths) < 1.2 * min(widths)


def test_has_no_interval_where_too_few_answers_tell_people_from_items() -> None:
    y = np.full((4, 4), np.nan)
    y[0, :2], y[1, 1:3], y[2, 2:], y[3, [3, 0]] = 1.0, 0.5, 1.0, 0.5
    y[3, 0] = np.nan
    assert cell_interval(y).notes == (
        "Too few items were seen by several annotators: there is no interval for new items.",
    )


def test_has_no_test_where_the_cell_has_no_interval() -> None:
    y = np.full((4, 4), np.nan)
    y[0, :2], y[1, 1:3], y[2, 2:], y[3, 3] = 1.0, 0.5, 1.0, 0.5
    found = paired_difference(y, np.zeros((1, 4)))
    assert np.isnan([found.se, found.p, found.low]).all()
    why = "Too few items were seen by several annotators: there is no test."
    assert why in found.notes


NAN = float("nan")


def test_keeps_the_mean_of_the_items_where_somebody_saw_a_part_of_a_cluster() -> None:
    people, clusters = np.array([[1, 1, NAN, 0], [NAN, 0, 1, 1], [1, 0, 0, 1]]), [0, 0, 1, 1]
    cell = cell_interval(people, clusters=clusters)
    assert cell.mean == pytest.approx(0.625)
    difference = paired_difference(people, [[0, 1, 0, 1]], clusters=clusters)
    assert difference.difference == pytest.approx(0.125)
    assert difference.people_mean == pytest.approx(0.625)


def test_one_item_that_somebody_lacks_is_a_gap_within_a_cluster_too() -> None:
    people, clusters = np.array([[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, NAN]]), [0, 0, 1, 1]
    assert cell_interval(people, clusters=clusters).method == WILSON_WITH_GAPS
    these = cell_interval(people, clusters=clusters, estimand="these_items")
    assert these.method == NO_INTERVAL


def test_new_shot_sets_need_every_item_in_every_split_and_not_only_its_cluster() -> None:
    people = np.array([[1, NAN, 1, 0], [1, 1, 0, 0], [1, 0, 1, 1], [0, 0, 1, 1]])
    with pytest.raises(ValueError, match="every item in every split"):
        split_interval(people, [1, 2, 2, 3], clusters=[0, 0, 1, 1], shot_sets="new")


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_moves_no_spread_by_what_it_takes_to_keep_the_mean(seed: int) -> None:
    """By another way: the fit of cluster scores does not change with a constant, so that only the
    distance of the mean from the one more item does."""
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(6), 3)
    people = (rng.random((6, 18)) < 0.7).astype(float)
    people[0, 0] = people[1, 4] = np.nan
    cell = cell_interval(people, clusters=clusters)
    z = cluster_scores(people, clusters)
    plain = cell_interval(z + (cell.mean - z.mean()))
    assert cell.mean == pytest.approx(np.nanmean(people, axis=0).mean())
    assert cell.se == pytest.approx(plain.se)

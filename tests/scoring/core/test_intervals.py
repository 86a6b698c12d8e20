from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import stats

from scoring.core.intervals import (
    CellInterval,
    cell_interval,
    cluster_scores,
    guard_band,
    new_items_limits,
    these_items_limits,
)

ESTIMANDS = ("new_items", "these_items")
scores = st.sampled_from([0.0, 0.5, 2 / 3, 1.0])
matrices = arrays(
    float, array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=7), elements=scores
)
extremes = st.tuples(st.integers(2, 6), st.integers(1, 300), st.sampled_from([0.0, 0.5, 1.0])).map(
    lambda cell: np.full(cell[:2], cell[2])
)
cells = st.one_of(matrices, extremes)


def exactly(value: object) -> object:
    return pytest.approx(value, abs=1e-9)


@pytest.fixture
def people(reference: Callable) -> np.ndarray:
    return np.array(reference("intervals_and_tests")["H"])


def scores_of(row: dict[str, Any]) -> np.ndarray:
    """Of a row of known values: written out, or by its pattern."""
    if "scores" in row:
        y = np.array(row["scores"], float)
        return cluster_scores(y, row["clusters"]) if "clusters" in row else y
    n, m, pattern = row["n"], row["m"], row["pattern"].split()
    if pattern[1] != "right":
        return np.full((n, m), float(pattern[1]))
    y = np.ones((n, m))
    for j in range(int(pattern[3])):
        y[j % n, j] = 0
    return y


def assert_meets(found: CellInterval, known: dict[str, float]) -> None:
    for name, value in known.items():
        if not name.startswith("guard"):
            assert getattr(found, name) == exactly(value), name


@pytest.mark.parametrize("kind", ["patterns", "random", "splits", "clusters", "gaps"])
def test_meets_the_known_intervals(reference: Callable, kind: str) -> None:
    for row in reference("cell_intervals")[kind]:
        y, known = scores_of(row), row["new_items"]
        found = cell_interval(y)
        if found.method == "none":
            assert "why" in row
            continue
        assert_meets(found, known)
        guard = guard_band(y)
        if "guard_low" in known:
            assert (guard.low, guard.high) == exactly((known["guard_low"], known["guard_high"]))
        if "these_items" in row:
            these = cell_interval(y, estimand="these_items")
            assert_meets(these, row["these_items"])


def test_meets_the_figures_that_need_no_interval(reference: Callable) -> None:
    values = reference("intervals_and_tests")
    for name, key in (("H", "human_cell"), ("M", "model_cell")):
        found, known = cell_interval(values[name]), values[key]
        assert (found.n, found.m) == (known["n"], known["m"])
        assert (found.mean, found.sd) == exactly((known["mean"], known["sd_ddof1"]))


@given(matrices)
def test_agrees_with_the_formulas_written_out(y: np.ndarray) -> None:
    n, m = y.shape
    extra = 1.0 if y.mean() < 0.5 - 1e-9 else 0.0
    longer = [[*row, extra] for row in y.tolist()]
    size = m + 1
    grand = sum(map(sum, longer)) / (n * size)
    rows = [sum(row) / size for row in longer]
    columns = [sum(row[q] for row in longer) / n for q in range(size)]
    a = size * sum((r - grand) ** 2 for r in rows) / (n - 1)
    i = n * sum((c - grand) ** 2 for c in columns) / m
    rest = sum(
        (longer[p][q] - rows[p] - columns[q] + grand) ** 2 for p in range(n) for q in range(size)
    )
    e = rest / ((n - 1) * m)
    variance = max(a + i - e, a, i) / (n * size)
    spread = a**2 / (n - 1) + i**2 / m + e**2 / ((n - 1) * m)
    df = min(max((a + i - e) ** 2 / spread, n - 1), m)
    found = cell_interval(y)
    assert found.se**2 == exactly(variance)
    assert found.df == exactly(df)
    assert found.effective == pytest.approx(grand * (1 - grand) / variance)


@given(matrices)
def test_solves_the_limits_for_their_distance_from_the_mean(y: np.ndarray) -> None:
    """A limit is a mean from which the observed one is t standard errors away."""
    cell = cell_interval(y)
    t = stats.t.ppf(0.975, cell.df)
    for limit in (cell.low, cell.high):
        apart = t * np.sqrt(limit * (1 - limit) / cell.effective)
        assert abs(cell.mean - limit) == exactly(apart)


@given(cells, st.sampled_from(ESTIMANDS))
def test_holds_the_mean_exactly_and_always_has_a_width(y: np.ndarray, estimand: str) -> None:
    for cell in (cell_interval(y, estimand=estimand), guard_band(y)):
        if cell.method != "none":
            assert 0 <= cell.low <= cell.mean <= cell.high <= 1
            assert cell.low < cell.high


@given(cells)
def test_mirrors_when_scores_become_errors(y: np.ndarray) -> None:
    for act in (cell_interval, guard_band, lambda x: cell_interval(x, estimand="these_items")):
        found, mirrored = act(y), act(1 - y)
        limits = (1 - mirrored.high, 1 - mirrored.low)
        assert (found.low, found.high) == pytest.approx(limits, abs=1e-9, nan_ok=True)


@given(matrices, st.integers(0, 99))
def test_does_not_depend_on_the_order_of_people_or_items(y: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    people = rng.permutation(len(y))
    shuffled = y[people][:, rng.permutation(y.shape[1])]
    for estimand in ESTIMANDS:
        found = cell_interval(y, estimand=estimand)
        other = cell_interval(shuffled, estimand=estimand)
        assert (found.low, found.high) == exactly((other.low, other.high))


@given(matrices)
def test_lies_within_its_guard_band(y: np.ndarray) -> None:
    inner, guard = cell_interval(y), guard_band(y)
    assert guard.low <= inner.low <= inner.high <= guard.high
    assert guard.df == min(y.shape[0] - 1, y.shape[1])
    assert guard.se == inner.se


@given(arrays(float, (3, 4, 6), elements=scores))
def test_gives_many_cells_the_limits_of_each(y: np.ndarray) -> None:
    for act, estimand in ((new_items_limits, "new_items"), (these_items_limits, "these_items")):
        low, high = act(y, 0.95)
        for k, scores_of_one in enumerate(y):
            one = cell_interval(scores_of_one, estimand=estimand)
            assert (low[k], high[k]) == exactly((one.low, one.high))


def test_widens_with_the_level(people: np.ndarray) -> None:
    narrow, wide = cell_interval(people, level=0.8), cell_interval(people, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_gives_one_annotator_neither_sd_nor_interval(people: np.ndarray) -> None:
    for estimand in ESTIMANDS:
        cell = cell_interval(people[:1], estimand=estimand)
        assert cell.mean == people[0].mean()
        assert np.isnan([cell.sd, cell.low, cell.high, cell.se, cell.df]).all()
        assert (cell.method, cell.notes) == (
            "none",
            ("A single annotator or run: there is no interval.",),
        )
    assert guard_band(people[:1]).method == "none"


def test_gives_one_item_an_interval_for_new_items_alone() -> None:
    y = [[1.0], [0.5], [1.0]]
    assert (cell_interval(y).method, cell_interval(y).df) == ("wilson", 1)
    these = cell_interval(y, estimand="these_items")
    assert np.isnan(these.low)
    assert these.notes == ("A single item: there is no interval for these items.",)


def test_leaves_out_items_that_nobody_saw(people: np.ndarray) -> None:
    padded = np.column_stack([people, np.full(3, np.nan)])
    assert cell_interval(padded) == cell_interval(people)


def test_has_no_effective_number_of_answers_for_these_items(people: np.ndarray) -> None:
    assert np.isnan(cell_interval(people, estimand="these_items").effective)


def test_keeps_every_mean_when_items_are_clustered(people: np.ndarray) -> None:
    z = cluster_scores(people, list("aabccccb"))
    assert z.shape == (3, 3)
    assert z.mean(axis=1) == exactly(people.mean(axis=1))
    centre = people.mean()
    expected = centre + 4 / (8 / 3) * (people[0, 3:7].mean() - centre)
    assert z[0, 2] == exactly(expected)


def test_leaves_clusters_of_one_item_as_they_are(people: np.ndarray) -> None:
    assert cluster_scores(people, range(8)) == exactly(people)


def test_averages_clusters_of_one_size(people: np.ndarray) -> None:
    pairs = cluster_scores(people, [0, 0, 1, 1, 2, 2, 3, 3])
    assert pairs == exactly(people.reshape(3, 4, 2).mean(axis=2))


def test_keeps_the_mean_of_the_items_where_some_saw_only_a_part(people: np.ndarray) -> None:
    part = people.copy()
    part[0, :2] = np.nan
    z = cluster_scores(part, list("aabbbccc"))
    assert np.isnan(z[0, 0])
    assert np.nanmean(z, axis=0).mean() == exactly(np.nanmean(part, axis=0).mean())
    # Whoever saw everything keeps a mean of their own.
    assert z[1].mean() == exactly(people[1].mean())


def test_rejects_clusters_that_do_not_match_the_items(people: np.ndarray) -> None:
    with pytest.raises(ValueError, match="one cluster label for each column"):
        cluster_scores(people, [1, 2])


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([1, 0, 1], {}, "annotators × items"),
        ([[]], {}, "annotators × items"),
        ([[1, np.inf], [0, 1]], {}, "infinite"),
        ([[1, 0], [np.nan, np.nan]], {}, "holds no score"),
        ([[70, 80], [60, 50]], {}, "not in percent"),
        ([[1, 0], [1, 1]], {"estimand": "E2"}, "'E2'"),
        ([[1, 0], [1, 1]], {"level": 95}, "level is 95"),
    ],
)
def test_rejects_bad_input(scores: list, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cell_interval(scores, **options)

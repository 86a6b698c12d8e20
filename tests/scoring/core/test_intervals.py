import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import optimize, special, stats

from scoring.core.intervals import (
    cell_interval,
    cluster_scores,
    guard_band,
    new_items_limits,
    wilson_limits,
)
from scoring.core.simulation import ScoreModel
from scoring.core.variance import mean_squares, variance_components

CELLS = [("H", "human_cell"), ("M", "model_cell")]
matrices = arrays(
    float,
    array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=7),
    elements=st.sampled_from([0.0, 0.5, 2 / 3, 1.0]),
)


def exactly(value: object) -> object:
    return pytest.approx(value, abs=1e-9)


@pytest.fixture
def values(reference: Callable) -> dict:
    return reference("intervals_and_tests")


@pytest.fixture
def people(values: dict) -> np.ndarray:
    return np.array(values["H"])


@pytest.mark.parametrize(("scores", "cell"), CELLS)
def test_meets_the_interval_for_new_items(values: dict, scores: str, cell: str) -> None:
    found, known = cell_interval(values[scores]), values[cell]
    expected = known["E2_satterthwaite"]
    assert (found.n, found.m) == (known["n"], known["m"])
    assert found.mean == exactly(known["mean"])
    assert found.sd == exactly(known["sd_ddof1"])
    assert found.se == exactly(expected["se"])
    assert found.df == exactly(expected["df"])
    assert (found.low, found.high) == exactly((expected["logit_lo"], expected["logit_hi"]))
    assert (found.method, found.estimand) == ("satterthwaite-logit", "new_items")


@pytest.mark.parametrize(("scores", "cell"), CELLS)
def test_meets_the_interval_for_these_items(values: dict, scores: str, cell: str) -> None:
    found, expected = cell_interval(values[scores], estimand="these_items"), values[cell]["E1_t"]
    assert found.df == expected["df"]
    assert (found.low, found.high) == exactly((expected["lo_clipped"], expected["hi_clipped"]))
    assert found.se == exactly(found.sd / np.sqrt(found.n))


@pytest.mark.parametrize(("scores", "cell"), CELLS)
def test_meets_the_guard_band(values: dict, scores: str, cell: str) -> None:
    found, expected = guard_band(values[scores]), values[cell]["E2_guard_t_n-1"]
    assert (found.low, found.high) == exactly((expected["lo_clipped"], expected["hi_clipped"]))
    assert found.df == found.n - 1


@pytest.mark.parametrize(("scores", "cell"), CELLS)
def test_meets_the_mean_squares_and_components(values: dict, scores: str, cell: str) -> None:
    squares, known = mean_squares(values[scores]), values[cell]
    found = (squares.annotator, squares.item, squares.residual)
    assert found == exactly((known["MSA"], known["MSI"], known["MSE"]))
    assert dataclasses.asdict(variance_components(values[scores])) == exactly(
        known["variance_components"]
    )


def test_meets_the_wilson_interval(values: dict) -> None:
    expected = values["wilson_200_of_200"]
    assert wilson_limits(1.0, 200, 0.95) == exactly(tuple(expected))
    cell = cell_interval(np.ones((3, 200)))
    assert (cell.low, cell.high) == exactly(tuple(expected))
    assert cell.method == "wilson"


@given(matrices)
def test_agrees_with_sums_written_out(y: np.ndarray) -> None:
    n, m = y.shape
    grand = sum(map(sum, y.tolist())) / (n * m)
    rows = [sum(row) / m for row in y.tolist()]
    columns = [sum(column) / n for column in y.T.tolist()]
    squares = mean_squares(y)
    a = m * sum((r - grand) ** 2 for r in rows) / (n - 1)
    i = n * sum((c - grand) ** 2 for c in columns) / (m - 1)
    rest = sum((y[p, q] - rows[p] - columns[q] + grand) ** 2 for p in range(n) for q in range(m))
    e = rest / ((n - 1) * (m - 1))
    assert (squares.annotator, squares.item, squares.residual) == exactly((a, i, e))
    cell = cell_interval(y)
    if a + i > 1e-9:
        assert cell.se**2 == exactly(max(a + i - e, a, i) / (n * m))
        assert min(n - 1, m - 1) <= cell.df <= m - 1


@given(matrices)
def test_solves_the_logit_limits_for_their_distance(y: np.ndarray) -> None:
    cell = cell_interval(y)
    if cell.method == "wilson":
        return
    half = stats.t.ppf(0.975, cell.df) * cell.se / (cell.mean * (1 - cell.mean))

    def distance(limit: float) -> float:
        return abs(special.logit(limit) - special.logit(cell.mean)) - half

    low, high = optimize.brentq(distance, 1e-300, cell.mean), cell.high
    assert cell.low == pytest.approx(low, abs=1e-9)
    # Close to 1 a limit has few digits left to tell its distance by.
    assert high == 1 or distance(high) == pytest.approx(
        0, abs=1e-6 + 4 * np.finfo(float).eps / (1 - high)
    )


@given(matrices, st.integers(0, 99))
def test_does_not_depend_on_the_order_of_people_or_items(y: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shuffled = y[rng.permutation(len(y))][:, rng.permutation(y.shape[1])]
    for estimand in ("new_items", "these_items"):
        found, other = (cell_interval(x, estimand=estimand) for x in (y, shuffled))
        assert found.method == other.method
        assert (found.low, found.high) == pytest.approx((other.low, other.high), abs=1e-7)


@given(matrices)
def test_mirrors_when_scores_become_errors(y: np.ndarray) -> None:
    found, mirrored = cell_interval(y), cell_interval(1 - y)
    limits = (1 - mirrored.high, 1 - mirrored.low)
    assert (found.low, found.high) == pytest.approx(limits, abs=1e-7)


@given(matrices, st.sampled_from(["new_items", "these_items"]))
def test_keeps_its_limits_within_0_and_1_around_the_mean(y: np.ndarray, estimand: str) -> None:
    for cell in (cell_interval(y, estimand=estimand), guard_band(y)):
        assert 0 <= cell.low <= cell.mean + 1e-9
        assert cell.mean - 1e-9 <= cell.high <= 1


def test_widens_with_the_level(people: np.ndarray) -> None:
    narrow, wide = cell_interval(people, level=0.8), cell_interval(people, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


def test_gives_one_annotator_neither_sd_nor_interval(people: np.ndarray) -> None:
    for estimand in ("new_items", "these_items"):
        cell = cell_interval(people[:1], estimand=estimand)
        assert cell.mean == people[0].mean()
        assert np.isnan([cell.sd, cell.low, cell.high, cell.se, cell.df]).all()
        assert cell.method == "none"
    assert guard_band(people[:1]).method == "none"


def test_gives_one_item_an_interval_for_that_item_alone() -> None:
    y = [[1.0], [0.5], [1.0]]
    assert np.isnan(cell_interval(y).low)
    these = cell_interval(y, estimand="these_items")
    assert these.low == exactly(max(0, 2.5 / 3 - stats.t.ppf(0.975, 2) * these.sd / np.sqrt(3)))


def test_marks_fewer_than_five_annotators_as_exploratory(values: dict) -> None:
    assert cell_interval(values["H"]).exploratory
    assert not cell_interval(values["M"]).exploratory


def test_leaves_out_items_that_nobody_saw(people: np.ndarray) -> None:
    padded = np.column_stack([people, np.full(3, np.nan)])
    assert cell_interval(padded) == cell_interval(people)


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


def test_clusters_only_what_each_annotator_saw(people: np.ndarray) -> None:
    part = people.copy()
    part[0, :2] = part[1, 2] = np.nan
    z = cluster_scores(part, list("aabbbccc"))
    assert np.isnan(z[0, 0])
    assert np.nanmean(z, axis=1) == exactly(np.nanmean(part, axis=1))


def test_rejects_clusters_that_do_not_match_the_items(people: np.ndarray) -> None:
    with pytest.raises(ValueError, match="one cluster label for each column"):
        cluster_scores(people, [1, 2])


def test_estimates_components_without_bias_when_scores_are_missing() -> None:
    rng = np.random.default_rng(3)
    n, m = 12, 60
    found = []
    for _ in range(200):
        y = rng.normal(0, 0.1, (n, 1)) + rng.normal(0, 0.2, m) + rng.normal(0, 0.3, (n, m))
        # Some annotators saw most items, some only a few.
        missing = rng.random((n, m)) < np.linspace(0.1, 0.7, n)[:, None]
        found.append(dataclasses.astuple(variance_components(np.where(missing, np.nan, y))))
    assert np.mean(found, axis=0) == pytest.approx([0.01, 0.04, 0.09], rel=0.07)


def test_changes_its_estimates_little_when_one_score_is_missing() -> None:
    y = one_cell(n=8, m=80)
    whole = dataclasses.astuple(variance_components(y))
    y[3, 5] = np.nan
    assert dataclasses.astuple(variance_components(y)) == pytest.approx(whole, abs=1e-3)


def test_has_no_components_for_one_annotator(people: np.ndarray) -> None:
    assert np.isnan(dataclasses.astuple(variance_components(people[:1]))).all()


def test_bootstraps_annotators_who_saw_different_items() -> None:
    y = one_cell(n=8, m=80)
    whole = cell_interval(y)
    part = np.where(np.random.default_rng(1).random(y.shape) < 0.25, np.nan, y)
    found = cell_interval(part, rng=np.random.default_rng(2))
    assert found.method == "two-way-bootstrap"
    assert found.mean == exactly(np.nanmean(part, axis=1).mean())
    assert 0.8 < found.se / whole.se < 1.8
    assert found.n - 1 <= found.df <= found.m - 1


def test_repeats_a_bootstrap_from_its_generator() -> None:
    y = one_cell(n=4, m=30)
    y[0, 0] = np.nan
    assert cell_interval(y) == cell_interval(y)
    seeds = [cell_interval(y, rng=np.random.default_rng(seed)).se for seed in (1, 1, 2)]
    assert seeds[0] == seeds[1] != seeds[2]


def test_leaves_the_global_random_state_alone() -> None:
    before = str(np.random.get_state())
    y = one_cell(n=4, m=30)
    y[0, 0] = np.nan
    cell_interval(y)
    assert str(np.random.get_state()) == before


def test_holds_annotators_without_a_common_item() -> None:
    y = np.full((3, 30), np.nan)
    for k in range(3):
        y[k, k * 10 : k * 10 + 10] = np.random.default_rng(k).random(10)
    cell = cell_interval(y)
    assert 0 < cell.low < cell.mean < cell.high < 1


@pytest.mark.parametrize(
    ("components", "least", "most"),
    [((0.0016, 0.072, 0.0864), 0.93, 0.98), ((0.0053, 0.076, 0.0944), 0.915, 0.97)],
)
def test_covers_the_truth_about_as_often_as_it_says(
    components: tuple[float, float, float], least: float, most: float
) -> None:
    a, i, r = components
    model = ScoreModel.from_components(annotator_var=a, item_var=i, residual_var=r)
    for n, m in [(3, 60), (3, 200), (5, 100)]:
        y = model.draw(n, m, replicates=1500, rng=np.random.default_rng(n + m))
        means = y.mean(axis=(1, 2), dtype=float)
        low, high = new_items_limits(means, mean_squares(y), 0.95)
        assert least <= np.mean((low <= model.mean) & (model.mean <= high)) <= most


def test_covers_the_truth_about_these_items() -> None:
    model = ScoreModel.from_components(annotator_var=0.0016, item_var=0.072, residual_var=0.0864)
    rng = np.random.default_rng(5)
    items = rng.standard_normal(60)
    truth = model.item_means(items).mean()
    people = rng.standard_normal((400, 5, 1), np.float32)
    cells = [
        cell_interval(y, estimand="these_items")
        for y in model.draw_for(people, items.astype(np.float32), rng=rng)
    ]
    assert 0.92 <= np.mean([cell.low <= truth <= cell.high for cell in cells]) <= 0.98


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


def one_cell(n: int, m: int) -> np.ndarray:
    model = ScoreModel.from_components(annotator_var=0.002, item_var=0.07, residual_var=0.09)
    return model.draw(n, m, replicates=1, rng=np.random.default_rng(n))[0].astype(float)

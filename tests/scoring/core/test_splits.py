import numpy as np
import pytest

from scoring.core.intervals import cell_interval
from scoring.core.splits import split_interval

SPLITS = np.repeat(range(5), 3)


def nested_scores(
    splits: np.ndarray, *, split_sd: float, annotator_sd: float, seed: int
) -> np.ndarray:
    rng = np.random.default_rng(seed)
    m = 40
    level = 0.7 + rng.normal(0, split_sd, splits.max() + 1)[splits]
    level = level + rng.normal(0, annotator_sd, len(splits))
    y = level[:, None] + rng.normal(0, 0.05, m) + rng.normal(0, 0.1, (len(splits), m))
    return np.clip(y, 0, 1)


def test_takes_the_split_as_the_unit() -> None:
    y = nested_scores(SPLITS, split_sd=0.05, annotator_sd=0.02, seed=1)
    found = split_interval(y, SPLITS)
    by_split = y.reshape(5, 3, -1).mean(axis=1)
    expected = cell_interval(by_split)
    assert found.cell.df == pytest.approx(expected.df)
    assert (found.cell.low, found.cell.high) == pytest.approx((expected.low, expected.high))
    assert (found.cell.n, found.annotators) == (5, 15)
    assert found.annotator_sd == pytest.approx(y.mean(axis=1).std(ddof=1))


def test_keeps_the_mean_over_annotators_when_splits_differ_in_size() -> None:
    splits = np.array([2, 2, 2, 0, 1, 1])
    y = nested_scores(splits, split_sd=0.05, annotator_sd=0.02, seed=2)
    found = split_interval(y, splits)
    assert found.cell.mean == pytest.approx(y.mean())
    assert found.cell.n == 3


def test_is_wider_than_pretending_that_all_are_one_group() -> None:
    y = nested_scores(SPLITS, split_sd=0.08, annotator_sd=0.01, seed=3)
    nested, flat = split_interval(y, SPLITS).cell, cell_interval(y)
    assert nested.high - nested.low > 1.3 * (flat.high - flat.low)


@pytest.mark.parametrize("splits", [SPLITS, np.array([0, 0, 0, 0, 1, 2, 2, 3, 3, 3, 3, 4])])
def test_tells_the_two_components_apart(splits: np.ndarray) -> None:
    found = [
        split_interval(nested_scores(splits, split_sd=0.06, annotator_sd=0.03, seed=s), splits)
        for s in range(600)
    ]
    assert np.mean([f.split_var for f in found]) == pytest.approx(0.06**2, rel=0.12)
    assert np.mean([f.annotator_var for f in found]) == pytest.approx(0.03**2, rel=0.12)


def test_covers_the_truth_where_one_flat_group_does_not() -> None:
    nested, flat = 0, 0
    for seed in range(300):
        y = nested_scores(SPLITS, split_sd=0.04, annotator_sd=0.01, seed=seed)
        cells = split_interval(y, SPLITS).cell, cell_interval(y)
        nested += cells[0].low <= 0.7 <= cells[0].high
        flat += cells[1].low <= 0.7 <= cells[1].high
    assert 0.91 <= nested / 300 <= 0.99
    assert flat / 300 < 0.85


def test_cannot_tell_a_split_from_its_only_annotator() -> None:
    y = nested_scores(np.arange(5), split_sd=0.05, annotator_sd=0.02, seed=4)
    found = split_interval(y, list("abcde"))
    assert found.cell == cell_interval(y)
    assert np.isnan(found.annotator_var)
    assert found.split_var > 0


def test_takes_annotators_as_the_unit_within_a_single_split() -> None:
    y = nested_scores(np.zeros(4, int), split_sd=0.05, annotator_sd=0.02, seed=5)
    found = split_interval(y, [1, 1, 1, 1])
    assert found.cell == cell_interval(y)
    assert np.isnan(found.split_var)
    assert found.annotator_var >= 0


def test_shows_no_components_when_scores_are_missing() -> None:
    y = nested_scores(SPLITS, split_sd=0.05, annotator_sd=0.02, seed=6)
    y[0, 0] = np.nan
    found = split_interval(y, SPLITS)
    assert np.isnan([found.split_var, found.annotator_var]).all()
    assert found.cell.low < found.cell.mean < found.cell.high


def test_rejects_splits_that_do_not_match_the_annotators() -> None:
    with pytest.raises(ValueError, match="2 annotators but splits"):
        split_interval([[1, 0], [0, 1]], [1])

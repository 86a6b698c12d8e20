import numpy as np
import pytest

from scoring.core.intervals import cell_interval, split_interval

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


def test_takes_the_splits_as_fixed() -> None:
    y = nested_scores(SPLITS, split_sd=0.05, annotator_sd=0.02, seed=1)
    found = split_interval(y, SPLITS)
    assert found.cell == cell_interval(y, groups=SPLITS)
    assert (found.cell.n, found.annotators, found.splits, found.shot_sets) == (15, 15, 5, "these")
    assert found.annotator_sd == pytest.approx(y.mean(axis=1).std(ddof=1))


def test_takes_the_split_as_the_unit_for_new_shot_sets() -> None:
    y = nested_scores(SPLITS, split_sd=0.05, annotator_sd=0.02, seed=1)
    found = split_interval(y, SPLITS, shot_sets="new")
    expected = cell_interval(y.reshape(5, 3, -1).mean(axis=1))
    assert found.cell.df == pytest.approx(expected.df)
    assert (found.cell.low, found.cell.high) == pytest.approx((expected.low, expected.high))
    assert (found.cell.n, found.annotators, found.shot_sets) == (5, 15, "new")


def test_keeps_the_mean_over_annotators_when_splits_differ_in_size() -> None:
    splits = np.array([2, 2, 2, 0, 1, 1])
    y = nested_scores(splits, split_sd=0.05, annotator_sd=0.02, seed=2)
    for shot_sets in ("these", "new"):
        assert split_interval(y, splits, shot_sets=shot_sets).cell.mean == pytest.approx(y.mean())
    assert split_interval(y, splits, shot_sets="new").cell.n == 3


def test_is_wider_for_new_shot_sets() -> None:
    y = nested_scores(SPLITS, split_sd=0.08, annotator_sd=0.01, seed=3)
    these, new = (split_interval(y, SPLITS, shot_sets=name).cell for name in ("these", "new"))
    assert new.high - new.low > 1.3 * (these.high - these.low)


def test_is_not_much_wider_by_the_presence_of_a_second_split() -> None:
    """With the split as the unit it was [9, 99.7]."""
    splits = np.repeat([0, 1], 3)
    y = nested_scores(splits, split_sd=0.05, annotator_sd=0.02, seed=7)
    one, two = cell_interval(y), split_interval(y, splits).cell
    assert two.high - two.low < 1.2 * (one.high - one.low)
    with pytest.raises(ValueError, match="needs 3 splits; this cell has 2"):
        split_interval(y, splits, shot_sets="new")


@pytest.mark.parametrize("splits", [SPLITS, np.array([0, 0, 0, 0, 1, 2, 2, 3, 3, 3, 3, 4])])
def test_tells_the_two_components_apart(splits: np.ndarray) -> None:
    found = [
        split_interval(nested_scores(splits, split_sd=0.06, annotator_sd=0.03, seed=s), splits)
        for s in range(600)
    ]
    assert np.mean([f.split_var for f in found]) == pytest.approx(0.06**2, rel=0.12)
    assert np.mean([f.annotator_var for f in found]) == pytest.approx(0.03**2, rel=0.12)


def test_covers_the_truth_about_new_shot_sets_only_with_the_split_as_the_unit() -> None:
    new, these = 0, 0
    for seed in range(300):
        y = nested_scores(SPLITS, split_sd=0.08, annotator_sd=0.01, seed=seed)
        cell = split_interval(y, SPLITS, shot_sets="new").cell
        fixed = split_interval(y, SPLITS).cell
        new += cell.low <= 0.7 <= cell.high
        these += fixed.low <= 0.7 <= fixed.high
    assert 0.92 <= new / 300 <= 1
    assert these / 300 < 0.93


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
    assert "is not pooled within splits" in found.cell.notes[0]
    assert split_interval(y, np.zeros(15)).cell.notes == ()


def test_rejects_other_shot_sets() -> None:
    with pytest.raises(ValueError, match="'old'"):
        split_interval([[1, 0], [0, 1]], [1, 1], shot_sets="old")


def test_rejects_splits_that_do_not_match_the_annotators() -> None:
    with pytest.raises(ValueError, match="2 annotators but splits"):
        split_interval([[1, 0], [0, 1]], [1])

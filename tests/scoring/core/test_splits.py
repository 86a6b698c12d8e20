from collections.abc import Callable

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


def test_takes_people_of_all_splits_as_one_cell() -> None:
    y = nested_scores(SPLITS, split_sd=0.05, annotator_sd=0.02, seed=1)
    found = split_interval(y, SPLITS)
    assert found.cell == cell_interval(y)
    assert (found.cell.n, found.annotators, found.splits, found.shot_sets) == (15, 15, 5, "these")


def test_takes_the_split_as_the_unit_for_new_shot_sets() -> None:
    y = nested_scores(SPLITS, split_sd=0.05, annotator_sd=0.02, seed=1)
    found = split_interval(y, SPLITS, shot_sets="new")
    expected = cell_interval(y.reshape(5, 3, -1).mean(axis=1))
    assert found.cell.df == pytest.approx(expected.df)
    assert (found.cell.low, found.cell.high) == pytest.approx((expected.low, expected.high))
    assert (found.cell.n, found.annotators, found.shot_sets) == (5, 15, "new")


def test_weighs_every_split_alike_for_new_shot_sets() -> None:
    splits = np.array([2, 2, 2, 0, 1, 1])
    y = nested_scores(splits, split_sd=0.05, annotator_sd=0.02, seed=2)
    assert split_interval(y, splits).cell.mean == pytest.approx(y.mean())
    new = split_interval(y, splits, shot_sets="new").cell
    means = [y[splits == k].mean() for k in range(3)]
    assert (new.n, new.mean) == (3, pytest.approx(np.mean(means)))


def test_is_wider_for_new_shot_sets() -> None:
    y = nested_scores(SPLITS, split_sd=0.08, annotator_sd=0.01, seed=3)
    these, new = (split_interval(y, SPLITS, shot_sets=name).cell for name in ("these", "new"))
    assert new.high - new.low > 1.3 * (these.high - these.low)


def test_needs_three_splits_for_new_shot_sets() -> None:
    splits = np.repeat([0, 1], 3)
    y = nested_scores(splits, split_sd=0.05, annotator_sd=0.02, seed=7)
    with pytest.raises(ValueError, match="needs 3 splits; this cell has 2"):
        split_interval(y, splits, shot_sets="new")


def test_needs_every_item_in_every_split_for_new_shot_sets() -> None:
    y = nested_scores(SPLITS, split_sd=0.05, annotator_sd=0.02, seed=7)
    y[:2, 0] = np.nan
    assert split_interval(y, SPLITS, shot_sets="new").cell.n == 5
    y[2, 0] = np.nan
    with pytest.raises(ValueError, match="every item in every split"):
        split_interval(y, SPLITS, shot_sets="new")


def test_meets_the_known_components_and_intervals(reference: Callable) -> None:
    for row in reference("cell_intervals")["splits"]:
        found = split_interval(row["scores"], row["splits"])
        assert found.annotator_var == pytest.approx(row["components"]["within"], abs=1e-9)
        assert found.split_var == pytest.approx(row["components"]["between"], abs=1e-9)
        if row["new_sets"] is None:
            continue
        new = split_interval(row["scores"], row["splits"], shot_sets="new").cell
        for name in ("mean", "se", "df", "low", "high"):
            assert getattr(new, name) == pytest.approx(row["new_sets"][name], abs=1e-9), name


@pytest.mark.parametrize("splits", [SPLITS, np.array([0, 0, 0, 0, 1, 2, 2, 3, 3, 3, 3, 4])])
def test_tells_the_two_components_apart(splits: np.ndarray) -> None:
    found = [
        split_interval(nested_scores(splits, split_sd=0.06, annotator_sd=0.03, seed=s), splits)
        for s in range(600)
    ]
    assert np.mean([f.split_var for f in found]) == pytest.approx(0.06**2, rel=0.12)
    # What scatters beyond the annotators themselves is noise of their answers.
    assert np.mean([f.annotator_var for f in found]) == pytest.approx(
        0.03**2 + 0.1**2 / 40, rel=0.12
    )


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
    assert np.isnan([found.annotator_var, found.split_var]).all()


def test_takes_annotators_as_the_unit_within_a_single_split() -> None:
    y = nested_scores(np.zeros(4, int), split_sd=0.05, annotator_sd=0.02, seed=5)
    found = split_interval(y, [1, 1, 1, 1])
    assert found.cell == cell_interval(y)
    assert np.isnan([found.annotator_var, found.split_var]).all()


def test_rejects_other_shot_sets() -> None:
    with pytest.raises(ValueError, match="'old'"):
        split_interval([[1, 0], [0, 1]], [1, 1], shot_sets="old")


def test_rejects_splits_that_do_not_match_the_annotators() -> None:
    with pytest.raises(ValueError, match="2 annotators but splits"):
        split_interval([[1, 0], [0, 1]], [1])

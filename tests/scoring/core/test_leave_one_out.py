import numpy as np
import pytest
from scipy import stats

from scoring.core.comparison import PEOPLE, paired_difference, paired_without_each
from scoring.core.intervals import leave_one_out


def scores(n: int, m: int, weak: float | None = None, seed: int = 1) -> np.ndarray:
    """Right with nine items out of ten; the last annotator as stated."""
    rng = np.random.default_rng(seed)
    y = (rng.random((n, m)) < 0.9).astype(float)
    if weak is not None:
        y[-1] = rng.random(m) < weak
    return y


def test_gives_the_range_of_the_mean_without_each() -> None:
    y = scores(4, 50)
    means = [np.delete(y, k, axis=0).mean() for k in range(4)]
    found = leave_one_out(y)
    assert (found.low, found.high) == pytest.approx((min(means), max(means)))
    assert [annotator.mean for annotator in found.annotators] == pytest.approx(means)


def test_compares_each_with_the_others_item_by_item() -> None:
    y = scores(4, 50)
    expected = stats.ttest_rel(y[2], y[[0, 1, 3]].mean(axis=0))
    found = leave_one_out(y).annotators[2]
    assert found.apart == pytest.approx(y[2].mean() - y[[0, 1, 3]].mean())
    assert found.p == pytest.approx(expected.pvalue)


def test_flags_a_weak_person() -> None:
    found = leave_one_out(scores(5, 100, weak=0.4))
    assert [annotator.flagged for annotator in found.annotators] == [False] * 4 + [True]
    assert found.flagged
    assert not leave_one_out(scores(5, 100)).flagged


def test_flags_nobody_for_less_than_20_points_or_for_noise_of_items() -> None:
    y = np.ones((5, 100))
    y[4, :19] = 0
    assert not leave_one_out(y).flagged
    y[4, 19] = 0
    assert leave_one_out(y).annotators[4].flagged
    few = np.ones((5, 5))
    few[4, 0] = 0
    assert leave_one_out(few).annotators[4].apart == pytest.approx(-0.2)
    assert not leave_one_out(few).flagged


def test_flags_who_differs_alike_on_every_item() -> None:
    y = np.vstack([np.ones((4, 10)), np.full((1, 10), 0.5)])
    assert [annotator.p for annotator in leave_one_out(y).annotators][4] == 0
    assert leave_one_out(y).flagged
    assert not leave_one_out(np.ones((3, 10))).flagged


def test_flags_nobody_of_two_by_name() -> None:
    found = leave_one_out(scores(2, 100, weak=0.3))
    assert [annotator.flagged for annotator in found.annotators] == [False, False]
    assert found.flagged == 2


def test_compares_on_what_others_saw_too() -> None:
    y = scores(4, 50)
    y[0, 10:] = np.nan
    y[1:, :5] = np.nan
    found = leave_one_out(y)
    expected = y[0, 5:10].mean() - y[1:, 5:10].mean()
    assert found.annotators[0].apart == pytest.approx(expected)
    y[1:, :10] = np.nan
    assert np.isnan(leave_one_out(y).annotators[0].apart)
    assert not leave_one_out(y).annotators[0].flagged


def test_has_no_range_for_one() -> None:
    found = leave_one_out(scores(1, 10))
    assert np.isnan([found.low, found.high]).all()
    assert (found.annotators, found.flagged) == ((), 0)


def test_compares_with_a_system_without_each() -> None:
    people, system = scores(5, 40), scores(2, 40, seed=2)
    found = paired_without_each(people, system)
    assert [test.n for test in found] == [4] * 5
    expected = paired_difference(people[1:], system)
    assert (found[0].difference, found[0].p) == (expected.difference, expected.p)
    assert paired_without_each(people[:1], system) == ()
    both = paired_without_each(people, system, sides=PEOPLE)
    assert [(test.n, test.r) for test in both] == [(4, 2)] * 5 + [(5, 1)] * 2


NAN = float("nan")


def test_takes_the_mean_of_the_items_where_somebody_left_takes_a_cluster_along() -> None:
    y = np.array([[1, 1, 1, 0], [1, 1, 0, NAN], [1, 0, 1, NAN]])
    found = leave_one_out(y, [0, 0, 0, 1])
    assert found.annotators[0].mean == pytest.approx(2 / 3)


def test_measures_20_points_by_items_and_not_by_clusters_of_unequal_size() -> None:
    """Who saw the small clusters alone is as far from the others as their own items say."""
    clusters = [*range(20), *np.repeat(np.arange(20, 40), 4)]
    weak = np.ones((4, 100))
    weak[0, :9], weak[0, 20:] = 0, np.nan
    found = leave_one_out(weak, clusters).annotators[0]
    assert (found.apart, found.flagged) == (pytest.approx(-0.45), True)
    threes = [*np.repeat(np.arange(12), 3), *range(12, 17)]
    near = np.ones((3, 41))
    near[0, :21:3], near[0, 36:] = 0, np.nan
    found = leave_one_out(near, threes).annotators[0]
    assert (found.apart, found.flagged) == (pytest.approx(-7 / 36), False)

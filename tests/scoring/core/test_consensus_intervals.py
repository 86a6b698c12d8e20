from collections.abc import Callable

import numpy as np
import pytest

from scoring.core.consensus_intervals import consensus_interval


def scores(m: int, right: float, seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).random(m) < right).astype(float)


def test_takes_the_normal_interval_with_many_contexts() -> None:
    y = scores(400, 0.8, seed=1)
    found = consensus_interval([(y, range(400))], resamples=4000)
    half = 1.96 * y.std() / 20
    assert found.mean == y.mean()
    assert (found.low, found.high) == pytest.approx((y.mean() - half, y.mean() + half), abs=0.005)
    assert found == consensus_interval([(y, range(400))], resamples=4000)


def test_is_wider_where_items_share_contexts() -> None:
    y = np.repeat(scores(60, 0.7, seed=2), 3)
    apart = consensus_interval([(y, range(180))])
    together = consensus_interval([(y, np.repeat(range(60), 3))])
    assert together.high - together.low > 1.4 * (apart.high - apart.low)


def test_draws_the_contexts_of_every_task_apart() -> None:
    one = consensus_interval([(scores(100, 0.8, seed=3), range(100))], resamples=4000)
    four = consensus_interval(
        [(scores(100, 0.8, seed=3), range(100))] * 4, rng=np.random.default_rng(1), resamples=4000
    )
    assert (four.mean, four.tasks) == (pytest.approx(one.mean), 4)
    assert four.high - four.low == pytest.approx((one.high - one.low) / 2, rel=0.1)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: consensus_interval([]), "needs a task"),
        (lambda: consensus_interval([([], [])]), "0 scores and 0 contexts"),
        (lambda: consensus_interval([([1, 0], [1])]), "2 scores and 1 contexts"),
        (lambda: consensus_interval([([1, 0], [1, 2])], level=95), "level is 95"),
    ],
)
def test_rejects_bad_input(act: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        act()

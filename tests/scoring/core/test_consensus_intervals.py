from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

from scoring.core.bootstrap import consensus_interval


def scores(m: int, right: float, seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).random(m) < right).astype(float)


def test_takes_the_normal_interval_with_many_contexts() -> None:
    y = scores(400, 0.8, seed=1)
    found = consensus_interval([(y, range(400))], resamples=4000)
    half = 1.96 * y.std() / 20
    assert found == pytest.approx((y.mean() - half, y.mean() + half), abs=0.005)
    assert found == consensus_interval([(y, range(400))], resamples=4000)


def test_is_wider_where_items_share_contexts() -> None:
    y = np.repeat(scores(60, 0.7, seed=2), 3)
    apart = consensus_interval([(y, range(180))])
    together = consensus_interval([(y, np.repeat(range(60), 3))])
    assert together[1] - together[0] > 1.4 * (apart[1] - apart[0])


def test_draws_the_contexts_of_every_task_apart() -> None:
    one = consensus_interval([(scores(100, 0.8, seed=3), range(100))], resamples=4000)
    four = consensus_interval(
        [(scores(100, 0.8, seed=3), range(100))] * 4, rng=np.random.default_rng(1), resamples=4000
    )
    assert four[1] - four[0] == pytest.approx((one[1] - one[0]) / 2, rel=0.1)


@pytest.mark.parametrize("contexts", [2, 30, 400])
def test_leaves_a_sample_without_an_error_as_much_room_as_the_exact_interval(contexts: int) -> None:
    exact = stats.binomtest(contexts, contexts).proportion_ci(method="exact")
    right = consensus_interval([(np.ones(contexts), range(contexts))])
    assert right == (pytest.approx(exact.low), 1)
    wrong = consensus_interval([(np.zeros(contexts), range(contexts))])
    assert wrong == (0, pytest.approx(1 - exact.low))


def test_claims_no_more_of_a_sample_with_an_error_than_of_one_without() -> None:
    right, missed = np.ones(60), np.r_[0, np.ones(59)]
    of_right, of_missed = (consensus_interval([(y, range(60))]) for y in (right, missed))
    assert of_missed[0] <= of_right[0]
    assert of_missed[1] == 1


@pytest.mark.parametrize("contexts", [[40, 40], [20, 60, 60], [3, 500], [5, 5, 6, 7, 200]], ids=str)
def test_of_several_tasks_leaves_the_most_that_could_be_hidden(contexts: list[int]) -> None:
    found = consensus_interval([(np.ones(k), range(k)) for k in contexts])
    problem: dict[str, Any] = {
        "fun": lambda errors: -np.mean(errors),
        "x0": np.full(len(contexts), 0.001),
        "bounds": [(0, 0.999)] * len(contexts),
        "constraints": {
            "type": "ineq",
            "fun": lambda errors: contexts @ np.log1p(-errors) - np.log(0.025),
        },
        "method": "SLSQP",
    }
    hidden = optimize.minimize(**problem)
    assert 1 - found[0] == pytest.approx(-hidden.fun, abs=1e-6)


@pytest.mark.parametrize(("right", "contexts"), [(12, 16), (13, 16), (30, 34), (170, 210)])
def test_has_the_limits_that_all_possible_samples_have(right: int, contexts: int) -> None:
    y = np.r_[np.ones(right), np.zeros(contexts - right)]
    found = consensus_interval([(y, range(contexts))])
    exact = stats.binom(contexts, right / contexts).ppf([0.025, 0.975]) / contexts
    assert found == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("truth", [0.9, 0.97, 0.995])
def test_holds_the_truth_near_the_top(truth: float) -> None:
    chance = np.random.default_rng(7)
    held = []
    for _ in range(300):
        y = (chance.random(60) < truth).astype(float)
        found = consensus_interval([(y, range(60))], resamples=200, rng=chance)
        held.append(found[0] <= truth <= found[1])
    assert np.mean(held) > 0.92


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

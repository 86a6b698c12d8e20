import ast
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.agreement import DISTANCES, alpha_interval, pairwise_s1_interval
from scoring.core.s1 import consensus

answers = st.none() | st.lists(st.sampled_from("abc"), max_size=3)
units = st.lists(st.lists(answers, max_size=4), max_size=6)


def krippendorff_alpha(items: list, **distance: Any) -> float:
    return alpha_interval(items, resamples=1, **distance).value


def mean_pairwise_s1(items: list) -> float:
    return pairwise_s1_interval(items, resamples=1).value


def masi(a: set, b: set) -> float:
    sizes = [np.array(float(len(shared))) for shared in (a & b, a, b)]
    return float(DISTANCES["masi"](*sizes))


def plain_distance(a: set, b: set, distance: str) -> Fraction:
    shared, union = len(a & b), len(a | b)
    if distance == "nominal":
        return Fraction(a != b)
    if not union:
        return Fraction(0)
    if distance == "s1":
        return 1 - Fraction(2 * shared, len(a) + len(b))
    likeness = Fraction(shared, union)
    if distance == "masi" and a != b:
        likeness *= Fraction(2, 3) if a <= b or b <= a else Fraction(1, 3)
    return 1 - likeness


def plain_alpha(items: list, distance: str) -> float:
    """Krippendorff's definition over all pairs of values, in exact fractions."""
    rows = [[set(a) for a in unit if a is not None] for unit in items]
    rows = [row for row in rows if len(row) > 1]
    values = [value for row in rows for value in row]
    observed = sum(
        Fraction(1, len(row) - 1)
        * sum(plain_distance(a, b, distance) for a, b in permutations(row, 2))
        for row in rows
    )
    expected = sum(plain_distance(a, b, distance) for a, b in permutations(values, 2))
    if not expected:
        return np.nan
    return float(1 - (len(values) - 1) * observed / expected)


def test_meets_the_reference_alphas(reference: Callable) -> None:
    known = reference("agreement")
    assert known["alpha"].keys() == {"masi", "s1", "jaccard", "nominal"}
    for distance, (fraction, _) in known["alpha"].items():
        found = krippendorff_alpha(known["items"], distance=distance)
        assert found == pytest.approx(float(Fraction(fraction)), abs=1e-9), distance


def test_meets_the_reference_distances(reference: Callable) -> None:
    for pair, expected in reference("agreement")["masi_distances"].items():
        a, b = map(set, ast.literal_eval(pair))
        assert masi(a, b) == pytest.approx(float(Fraction(expected)), abs=1e-12)
        assert masi(b, a) == masi(a, b)


def test_meets_the_reference_mean_pairwise_s1(reference: Callable) -> None:
    known = reference("agreement")
    assert mean_pairwise_s1(known["items"]) == pytest.approx(known["pairwise_S1_mean"], abs=1e-6)


@pytest.mark.parametrize("distance", DISTANCES)
@given(items=units)
def test_agrees_with_the_definition(distance: str, items: list) -> None:
    found, expected = krippendorff_alpha(items, distance=distance), plain_alpha(items, distance)
    assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)


@given(items=units)
def test_averages_pairs_within_items_first(items: list) -> None:
    rows = [[set(a) for a in unit if a is not None] for unit in items]
    means = [
        np.mean([float(1 - plain_distance(a, b, "s1")) for a, b in permutations(row, 2)])
        for row in rows
        if len(row) > 1
    ]
    expected = np.mean(means) if means else np.nan
    assert mean_pairwise_s1(items) == pytest.approx(expected, abs=1e-9, nan_ok=True)


@given(items=units, seed=st.integers(0, 99))
def test_does_not_depend_on_order_or_names(items: list, seed: int) -> None:
    rng = np.random.default_rng(seed)
    renamed = [
        [None if a is None else [s.upper() for s in a[::-1]] + [""] for a in unit] for unit in items
    ]
    shuffled = [[unit[k] for k in rng.permutation(len(unit))] for unit in renamed[::-1]]
    found = krippendorff_alpha(shuffled)
    assert found == pytest.approx(krippendorff_alpha(items), abs=1e-9, nan_ok=True)


def test_takes_a_distance_of_ones_own() -> None:
    items = [[["a"], ["a", "b"]], [["c"], ["c"]]]

    def size_distance(shared: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return abs(a - b) + 0 * shared

    # Values 1, 2, 1, 1: observed 2 of 4 values, expected 6 of 12 pairs.
    assert krippendorff_alpha(items, distance=size_distance) == pytest.approx(1 - 0.5 / 0.5)


def test_is_one_when_all_agree_and_unknown_when_nothing_differs() -> None:
    assert krippendorff_alpha([[["a"], ["a"]], [["b"], ["b"]]]) == 1
    assert np.isnan(krippendorff_alpha([[["a"], ["a"]], [["a"], ["a"]]]))
    assert np.isnan(krippendorff_alpha([]))
    assert np.isnan(mean_pairwise_s1([[["a"], None]]))


def simulated_items(agree: float) -> list:
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 3, 60)
    given = np.where(rng.random((60, 4)) < agree, truth[:, None], rng.integers(0, 3, (60, 4)))
    return [[["abc"[value]] for value in unit] for unit in given]


def test_bootstraps_over_contexts() -> None:
    items, contexts = simulated_items(0.7), np.arange(60) // 3
    found = alpha_interval(items, contexts, rng=np.random.default_rng(1))
    assert found.value == krippendorff_alpha(items)
    assert found.low < found.value < found.high
    assert (found.units, found.undefined) == (60, 0)
    assert found == alpha_interval(items, contexts, rng=np.random.default_rng(1))
    assert found != alpha_interval(items, contexts, rng=np.random.default_rng(2))


def test_bootstraps_as_resampling_the_items_themselves_does() -> None:
    items, contexts = simulated_items(0.7), np.arange(60) // 3
    rng = np.random.default_rng(3)
    drawn = [
        [items[3 * c + k] for c in rng.integers(0, 20, 20) for k in range(3)] for _ in range(300)
    ]
    for interval, statistic in [
        (alpha_interval, krippendorff_alpha),
        (pairwise_s1_interval, mean_pairwise_s1),
    ]:
        found = interval(items, contexts)
        expected = np.quantile([statistic(resample) for resample in drawn], [0.025, 0.975])
        assert [found.low, found.high] == pytest.approx(expected, abs=0.03)


def test_widens_when_items_share_contexts() -> None:
    items = [unit for unit in simulated_items(0.6)[:20] for _ in range(3)]
    alone = alpha_interval(items)
    together = alpha_interval(items, np.arange(60) // 3)
    assert together.high - together.low > 1.3 * (alone.high - alone.low)


def test_counts_resamples_that_tell_nothing() -> None:
    found = alpha_interval([[["a"], ["a"]], [["b"], ["b"]]])
    assert 400 < found.undefined < 600
    assert (found.value, found.low, found.high) == (1, 1, 1)
    nothing = alpha_interval([])
    assert np.isnan([nothing.value, nothing.low, nothing.high]).all()


def test_keeps_what_more_than_half_chose() -> None:
    assert consensus([["a", "b"], ["b", "c"], ["b", "a"], None]) == ["a", "b"]
    assert consensus([["a"], ["b"]]) == []
    assert consensus([["a", "a"], []]) == []
    assert consensus([["a"], ["a"], []]) == ["a"]
    assert consensus([[""], [""]]) == consensus([]) == []


def test_rejects_bad_input() -> None:
    with pytest.raises(ValueError, match="no distance 'cosine'"):
        krippendorff_alpha([[["a"], ["b"]]], distance="cosine")
    with pytest.raises(ValueError, match="1 items but contexts"):
        alpha_interval([[["a"], ["b"]]], [1, 2])
    for act in (krippendorff_alpha, mean_pairwise_s1, lambda units: consensus(units[0])):
        with pytest.raises(ValueError, match="'Belgrade' is one string"):
            act([["Belgrade", ["Belgrade"]]])

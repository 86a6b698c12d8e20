from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from scoring.core.comparison import (
    benjamini_hochberg,
    common_items,
    holm,
    over_tasks,
    paired_difference,
    sign_flip_p,
)
from scoring.core.intervals import cluster_scores

scores = st.sampled_from([0.0, 0.5, 2 / 3, 1.0])
sides = st.tuples(st.integers(2, 5), st.integers(1, 5), st.integers(2, 8)).flatmap(
    lambda size: st.tuples(
        arrays(float, (size[0], size[2]), elements=scores),
        arrays(float, (size[1], size[2]), elements=scores),
    )
)
p_lists = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def exactly(value: object) -> object:
    return pytest.approx(value, abs=1e-9)


@pytest.fixture
def values(reference: Callable) -> dict:
    return reference("intervals_and_tests")


def test_meets_the_paired_reference(values: dict) -> None:
    found, expected = (
        paired_difference(values["H"], values["M"]),
        values["paired_human_minus_model"],
    )
    assert found.difference == exactly(expected["diff"])
    for name in ("se", "df", "t", "p"):
        assert getattr(found, name) == exactly(expected[name])
    assert [found.low, found.high] == exactly(expected["ci"])
    assert found.sign_flip_p == exactly(expected["item_signflip_exact_p"])
    assert (found.n, found.r, found.m, found.left_out) == (3, 5, 8, 0)


def test_meets_the_adjusted_p_values(values: dict) -> None:
    known = values["adjust"]
    assert holm(known["p"]) == exactly(known["holm"])
    assert benjamini_hochberg(known["p"]) == exactly(known["bh"])


def test_meets_both_sds_over_tasks(values: dict) -> None:
    known = values["aggregate_T5"]
    found = over_tasks(known["means"], known["sds"])
    assert found.mean == exactly(known["mean"])
    assert found.sd == exactly(known["sd_of_mean"])
    assert found.root_sum_sd == exactly(known["clues_readme_sd_sqrt_sum_var"])
    assert found.tasks == 6


def plain_variance(h: np.ndarray, s: np.ndarray) -> float:
    """The five terms, with the sums written out."""
    (n, m), r = h.shape, len(s)

    def mean_square_rows(y: np.ndarray) -> float:
        return m * sum((row.mean() - y.mean()) ** 2 for row in y) / max(1, len(y) - 1)

    def mean_square_rest(y: np.ndarray) -> float:
        rest = sum(
            (y[i, j] - y[i].mean() - y[:, j].mean() + y.mean()) ** 2
            for i in range(len(y))
            for j in range(m)
        )
        return rest / max(1, (len(y) - 1) * (m - 1))

    d = [h[:, j].mean() - s[:, j].mean() for j in range(m)]
    first = mean_square_rows(h) / (n * m)
    second = mean_square_rows(s) / (r * m)
    third = sum((x - np.mean(d)) ** 2 for x in d) / (m - 1) / m
    raw = first + second + third - mean_square_rest(h) / (n * m) - mean_square_rest(s) / (r * m)
    return max(raw, first + second, third)


@given(sides)
def test_agrees_with_sums_written_out(both: tuple[np.ndarray, np.ndarray]) -> None:
    found = paired_difference(*both)
    assert found.se**2 == exactly(plain_variance(*both))
    if not np.isnan(found.p):
        assert found.low < found.difference < found.high
        assert (found.p < 0.05) == (found.low > 0 or found.high < 0)


@given(sides, st.integers(0, 99))
def test_does_not_depend_on_order(both: tuple[np.ndarray, np.ndarray], seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(both[0].shape[1])
    shuffled = [rng.permutation(side)[:, order] for side in both]
    found, other = paired_difference(*both), paired_difference(*shuffled)
    assert found.se == exactly(other.se)
    assert found.p == pytest.approx(other.p, abs=1e-6, nan_ok=True)
    assert found.sign_flip_p == exactly(other.sign_flip_p)


@given(sides)
def test_turns_its_sign_when_the_sides_are_swapped(both: tuple[np.ndarray, np.ndarray]) -> None:
    h, s = both
    if len(s) < 2:
        return
    found, swapped = paired_difference(h, s), paired_difference(s, h)
    assert found.difference == exactly(-swapped.difference)
    assert found.df == pytest.approx(swapped.df, nan_ok=True)
    assert found.p == pytest.approx(swapped.p, nan_ok=True)


def test_treats_two_groups_of_people_alike(values: dict) -> None:
    h, few = np.array(values["M"]), np.array(values["H"])
    there, back = (paired_difference(*both, both_people=True) for both in ((h, few), (few, h)))
    assert (there.difference, there.low, there.p) == exactly((-back.difference, -back.high, back.p))
    assert there.exploratory
    assert back.exploratory
    assert there.notes == back.notes == ("Fewer than 5 annotators: exploratory.",)
    assert not paired_difference(h, few).exploratory
    for both in ((h, few[:1]), (few[:1], h)):
        alone = paired_difference(*both, both_people=True)
        assert np.isnan([alone.se, alone.df, alone.p, alone.low, alone.high]).all()
        assert alone.notes == ("A single annotator: there is no test over people.",)


def test_takes_a_single_run_without_a_run_term(values: dict) -> None:
    h, one = np.array(values["H"]), np.array(values["M"][:1])
    found = paired_difference(h, one)
    assert found.r == 1
    assert found.se**2 == exactly(plain_variance(h, one))
    assert "A single run" in found.notes[0]
    # A run repeated identically adds no run variance: the same test except for df's floor.
    twice = paired_difference(h, np.vstack([one, one]))
    assert twice.se == exactly(found.se)


def test_keeps_only_items_that_both_sides_answered(values: dict) -> None:
    h, s = np.array(values["H"]), np.array(values["M"])
    h[0, 2] = s[1, 5] = np.nan
    found = paired_difference(h, s)
    keep = common_items(h, s)
    assert keep.tolist() == [True, True, False, True, True, False, True, True]
    assert found.left_out == 2
    assert "2 items left out that one side did not answer." in found.notes
    assert found.p == paired_difference(h[:, keep], s[:, keep]).p


def test_leaves_items_out_before_it_clusters(values: dict) -> None:
    h, s, labels = np.array(values["H"]), np.array(values["M"]), np.array(list("aabbccdd"))
    h[0, 0] = np.nan
    found = paired_difference(h, s, clusters=labels)
    expected = paired_difference(
        cluster_scores(h[:, 1:], labels[1:]), cluster_scores(s[:, 1:], labels[1:])
    )
    assert (found.m, found.left_out) == (4, 1)
    assert (found.difference, found.p) == exactly((expected.difference, expected.p))


def test_tells_nothing_without_two_common_items() -> None:
    for people in ([[1, np.nan]], [[np.nan, np.nan]]):
        found = paired_difference(people * 3, [[0, 1]])
        assert np.isnan([found.se, found.t, found.p, found.low, found.sign_flip_p]).all()
        assert any("Fewer than two items" in note for note in found.notes)


def test_has_no_test_for_one_annotator_but_for_these_items(values: dict) -> None:
    found = paired_difference(values["H"][:1], values["M"])
    assert np.isnan([found.se, found.p]).all()
    assert 0 < found.sign_flip_p <= 1
    assert any("A single annotator" in note for note in found.notes)


def test_has_no_test_where_nothing_varies() -> None:
    found = paired_difference(np.ones((3, 6)), np.full((2, 6), 0.5))
    assert (found.difference, found.se) == (0.5, 0)
    assert np.isnan([found.t, found.p, found.low, found.high]).all()
    assert found.sign_flip_p == exactly(2 / 2**6)


def test_marks_fewer_than_five_annotators_as_exploratory(values: dict) -> None:
    assert paired_difference(values["H"], values["M"]).exploratory
    assert not paired_difference(values["M"], values["H"]).exploratory


def simulated(rng: np.random.Generator, n: int, r: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Both sides with the same mean, shared item difficulty and some difficulty of their own."""
    shared = rng.normal(0, 0.2, m)

    def side(size: int, spread: float) -> np.ndarray:
        own = shared + rng.normal(0, 0.1, m)
        return 0.5 + own + rng.normal(0, spread, (size, 1)) + rng.normal(0, 0.3, (size, m))

    return side(n, 0.05), side(r, 0.03)


@pytest.mark.parametrize("size", [(5, 5, 60), (3, 5, 100), (8, 1, 60)])
def test_covers_a_true_difference_of_nothing(size: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(sum(size))
    found = [paired_difference(*simulated(rng, *size)) for _ in range(400)]
    held = np.mean([f.low <= 0 <= f.high for f in found])
    # A single run hides its own variance, as its note says.
    assert (0.88 if size[1] == 1 else 0.92) <= held <= 0.99


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=2, max_size=7))
def test_flips_signs_as_going_through_all_of_them_does(differences: list[float]) -> None:
    observed = abs(sum(differences))
    flips = list(product([1, -1], repeat=len(differences)))
    extreme = sum(
        abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= observed - 1e-9
        for signs in flips
    )
    assert sign_flip_p(differences) == exactly(extreme / len(flips))


def test_draws_flips_close_to_the_exact_answer() -> None:
    d = np.random.default_rng(4).normal(0.12, 0.5, 40)
    drawn = sign_flip_p(d, rng=np.random.default_rng(5))
    assert drawn == sign_flip_p(d, rng=np.random.default_rng(5))
    assert drawn == pytest.approx(stats.ttest_1samp(d, 0).pvalue, abs=0.02)


@given(p_lists)
def test_adjusts_as_the_definitions_say(p: list[float]) -> None:
    size = len(p)
    for i, value in enumerate(p):
        rank = sorted(range(size), key=lambda k: (p[k], k))
        place = rank.index(i)
        down = max((size - k) * p[rank[k]] for k in range(place + 1))
        up = min(size / (k + 1) * p[rank[k]] for k in range(place, size))
        assert holm(p)[i] == exactly(min(1, down))
        assert benjamini_hochberg(p)[i] == exactly(min(1, up))
        assert holm(p)[i] >= benjamini_hochberg(p)[i] - 1e-12 >= value - 2e-12


def test_leaves_an_unknown_p_out_of_the_family() -> None:
    assert holm([0.01, np.nan, 0.04]) == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)
    assert benjamini_hochberg([np.nan]) == pytest.approx([np.nan], nan_ok=True)


def test_has_no_figure_over_tasks_when_one_is_missing() -> None:
    found = over_tasks([0.5, np.nan], [0.1, 0.1])
    assert np.isnan(found.mean)
    assert np.isnan(over_tasks([0.5, 0.6], [0.1, np.nan]).sd)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: paired_difference([[1, 0]], [[1, 0, 1]]), "same items as columns"),
        (lambda: paired_difference([1, 0], [[1, 0]]), "same items as columns"),
        (lambda: paired_difference([[1, np.inf]], [[1, 0]]), "infinite"),
        (lambda: paired_difference([[1, 0]], [[1, 0]], level=2), "level is 2"),
        (lambda: paired_difference([[1, 0]], [[1, 0]], clusters=[1]), "2 items but cluster labels"),
        (lambda: holm([0.5, 1.2]), "between 0 and 1"),
        (lambda: over_tasks([1, 2], [1]), "2 means and 1 SDs"),
    ],
)
def test_rejects_bad_input(act: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        act()

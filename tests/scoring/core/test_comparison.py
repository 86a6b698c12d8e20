from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scoring.core.comparison import common_items, paired_difference
from scoring.core.intervals import cluster_scores

scores = st.sampled_from([0.0, 0.5, 2 / 3, 1.0])
sides = st.tuples(st.integers(2, 5), st.integers(1, 5), st.integers(2, 8)).flatmap(
    lambda size: st.tuples(
        arrays(float, (size[0], size[2]), elements=scores),
        arrays(float, (size[1], size[2]), elements=scores),
    )
)


def exactly(value: object) -> object:
    return pytest.approx(value, abs=1e-9)


@pytest.fixture
def values(reference: Callable) -> dict:
    return reference("intervals_and_tests")


def test_meets_the_known_differences(reference: Callable) -> None:
    for row in reference("differences")["rows"]:
        found = paired_difference(row["people"], row["system"])
        for name, value in row["result"].items():
            assert getattr(found, name) == exactly(value), name


def test_meets_the_known_difference(values: dict) -> None:
    found = paired_difference(values["H"], values["M"])
    known = values["paired_human_minus_model"]
    assert found.difference == exactly(known["diff"])
    assert (found.n, found.r, found.m, found.pair.left_out) == (3, 5, 8, 0)


def plain_variance(h: np.ndarray, s: np.ndarray) -> float:
    """The five terms with the two more items, with the sums written out."""
    h = np.column_stack([h, [[1, 0.5]] * len(h)])
    s = np.column_stack([s, [[0.5, 1]] * len(s)])
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
    assert found.people_mean - found.system_mean == exactly(found.difference)
    assert -1 <= found.low <= found.difference <= found.high <= 1
    assert found.low < found.high
    assert (found.p < 0.05) == (found.low > 0 or found.high < 0)


@given(sides, st.integers(0, 99))
def test_does_not_depend_on_order(both: tuple[np.ndarray, np.ndarray], seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(both[0].shape[1])
    shuffled = [rng.permutation(side)[:, order] for side in both]
    found, other = paired_difference(*both), paired_difference(*shuffled)
    assert found.se == exactly(other.se)
    assert found.p == pytest.approx(other.p, abs=1e-6, nan_ok=True)


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


def test_keeps_items_that_every_run_and_some_annotator_answered(values: dict) -> None:
    h, s = np.array(values["H"]), np.array(values["M"])
    h[:, 2] = s[1, 5] = np.nan
    found = paired_difference(h, s)
    assert common_items(h, s).tolist() == [True, True, False, True, True, False, True, True]
    assert found.pair.left_out == 2
    assert "2 items left out that one side did not answer." in found.notes
    keep = common_items(h, s)
    assert found.p == paired_difference(h[:, keep], s[:, keep]).p


def test_leaves_items_out_before_it_clusters(values: dict) -> None:
    h, s, labels = np.array(values["H"]), np.array(values["M"]), np.array(list("aabbccdd"))
    h[:, 0] = np.nan
    found = paired_difference(h, s, clusters=labels)
    expected = paired_difference(
        cluster_scores(h[:, 1:], labels[1:]), cluster_scores(s[:, 1:], labels[1:])
    )
    assert (found.m, found.pair.left_out) == (4, 1)
    assert (found.difference, found.p) == exactly((expected.difference, expected.p))


def test_counts_annotators_above_the_system_on_what_they_saw() -> None:
    h = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [np.nan, 1.0, np.nan, 1.0]])
    found = paired_difference(h, [[1.0, 0.0, 0.0, 0.0]])
    assert (found.pair.above, found.n) == (2, 3)


def test_compares_annotators_who_met_different_parts() -> None:
    rng = np.random.default_rng(8)
    h, s = simulated(rng, 6, 3, 40)
    h[:3, :20] = np.nan
    h[3:, 20:] = np.nan
    found = paired_difference(h, s)
    assert (found.n, found.m, found.pair.left_out) == (6, 40, 0)
    assert found.difference == exactly((np.nanmean(h, axis=0) - s.mean(axis=0)).mean())
    assert "Annotators met different parts of the test set." in found.notes
    # Nobody has a part in the comparison who saw none of the items.
    s[:, :20] = np.nan
    half = paired_difference(h, s)
    assert (half.n, half.m, half.pair.left_out, half.pair.people_left_out) == (3, 20, 20, 3)


def test_has_no_test_where_most_items_have_one_viewer() -> None:
    h = np.full((3, 9), np.nan)
    for k in range(3):
        h[k, 3 * k : 3 * k + 3] = 1
    found = paired_difference(h, np.zeros((2, 9)))
    assert (found.difference, found.m) == (1, 9)
    assert np.isnan([found.p, found.low]).all()
    assert "Most items were seen by one annotator only: there is no test." in found.notes


def test_pairs_people_with_a_system_by_split(values: dict) -> None:
    rng = np.random.default_rng(9)
    h, s = simulated(rng, 7, 3, 30)
    h += rng.normal(0, 0.3, (7, 1))
    people, runs = [1, 1, 1, 2, 2, 2, 3], [2, 1, 4]
    found = paired_difference(h, s, splits=people, system_splits=runs)
    assert (found.pair.splits, found.n, found.r) == (2, 6, 2)
    assert (found.pair.people_left_out, found.pair.runs_left_out) == (1, 1)
    assert "Paired by 2 splits: 1 annotators and 1 runs of other splits left out." in found.notes
    means = h[:6].mean(axis=1)
    assert found.people_mean == exactly(means.mean())
    plain = paired_difference(h[:6], s[:2])
    pooled = 1 / 4 * sum(3 * means[k : k + 3].var() for k in (0, 3)) / 6
    usual = means.var(ddof=1) / 6
    shorter = (30 / 32) ** 2
    assert found.se**2 - plain.se**2 == exactly(shorter * (pooled - usual))


def test_compares_everybody_where_fewer_than_two_splits_are_shared() -> None:
    h, s = simulated(np.random.default_rng(9), 6, 2, 30)
    found = paired_difference(h, s, splits=[1, 1, 1, 2, 2, 2], system_splits=[2, 4])
    plain = paired_difference(h, s)
    assert (found.pair.splits, found.n, found.p) == (0, 6, plain.p)
    assert "shares fewer than two of the people's splits" in found.notes[-1]
    one = paired_difference(h, s, splits=[1] * 6, system_splits=[1, 2])
    assert (one.p, one.notes) == (plain.p, plain.notes)


def test_pools_both_sides_where_both_are_people() -> None:
    rng = np.random.default_rng(10)
    h, s = simulated(rng, 6, 6, 30)
    h[3:] += 0.3
    splits = [1, 1, 1, 2, 2, 2]
    pooled = paired_difference(h, s, splits=splits, system_splits=splits, both_people=True)
    assert pooled.se < paired_difference(h, s, both_people=True).se
    assert (pooled.n, pooled.r, pooled.pair.people_left_out) == (6, 6, 0)


def test_compares_two_systems_of_a_single_run_each() -> None:
    rng = np.random.default_rng(11)
    a, b = simulated(rng, 1, 1, 50)
    found = paired_difference(a, b, both_systems=True)
    d = np.append(a - b, [0.5, -0.5])
    assert found.se**2 == exactly(d.var(ddof=1) / 52)
    assert found.df == exactly(51)
    assert not found.exploratory
    assert "A single run" in found.notes[0]


def test_tells_nothing_without_two_common_items() -> None:
    for people in ([[1, np.nan]], [[np.nan, np.nan]]):
        found = paired_difference(people * 3, [[0, 1]])
        assert np.isnan([found.se, found.t, found.p, found.low]).all()
        assert any("Fewer than two items" in note for note in found.notes)


def test_has_no_test_for_one_annotator(values: dict) -> None:
    found = paired_difference(values["H"][:1], values["M"])
    assert np.isnan([found.se, found.p]).all()
    assert any("A single annotator" in note for note in found.notes)


def test_tests_even_where_nothing_varies() -> None:
    found = paired_difference(np.ones((5, 60)), np.ones((3, 60)))
    assert (found.difference, found.p) == (0, 1)
    assert found.low == -found.high < 0
    apart = paired_difference(np.ones((5, 60)), np.zeros((3, 60)))
    assert (apart.difference, apart.high) == (1, 1)
    assert apart.low > 0.9


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
@pytest.mark.parametrize("part", [1.0, 0.5])
def test_covers_a_true_difference_of_nothing(size: tuple[int, int, int], part: float) -> None:
    """Also where every annotator saw a part of the items only."""
    rng = np.random.default_rng(sum(size))
    held = []
    for _ in range(400):
        h, s = simulated(rng, *size)
        h[1:][rng.random((size[0] - 1, size[2])) > part] = np.nan
        found = paired_difference(h, s)
        held.append(found.low <= 0 <= found.high)
    # A single run hides its own variance, as its note says.
    assert (0.88 if size[1] == 1 else 0.92) <= np.mean(held) <= 1


def test_covers_nothing_between_sides_that_hardly_err() -> None:
    """Of .98 against .98; without the two more items, .70 of .995 against .98."""
    rng = np.random.default_rng(12)
    drawn = rng.random((400, 8, 100)) < 0.98
    found = [paired_difference(y[:5], y[5:]) for y in drawn.astype(float)]
    assert np.mean([f.low <= 0 <= f.high for f in found]) >= 0.93


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: paired_difference([[1, 0]], [[1, 0, 1]]), "same items as columns"),
        (lambda: paired_difference([1, 0], [[1, 0]]), "same items as columns"),
        (lambda: paired_difference([[1, np.inf]], [[1, 0]]), "infinite"),
        (lambda: paired_difference([[1, 0]], [[1, 0]], level=2), "level is 2"),
        (lambda: paired_difference([[1, 0]], [[1, 0]], clusters=[1]), "2 items but cluster labels"),
        (
            lambda: paired_difference([[1, 0]], [[1, 0]], splits=[1, 2], system_splits=[1]),
            "1 rows of scores but splits",
        ),
    ],
)
def test_rejects_bad_input(act: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        act()

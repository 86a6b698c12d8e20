from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scoring.core.comparison import PEOPLE, SYSTEMS, paired_difference, runs_on
from scoring.core.intervals import cluster_scores

scores = st.sampled_from([0.0, 0.5, 2 / 3, 1.0])
matrices = st.tuples(st.integers(2, 5), st.integers(1, 5), st.integers(2, 8)).flatmap(
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


def scores_of(rows: list) -> np.ndarray:
    return np.array([[np.nan if score is None else score for score in row] for row in rows])


def test_meets_the_known_differences(reference: Callable) -> None:
    for row in reference("differences")["rows"]:
        people = list(map(str, row["people_splits"] or [""]))
        runs, is_other = runs_on(people, list(map(str, row["run_splits"] or row["system"])))
        assert (runs, is_other) == (row["runs_used"], row["exploratory"])
        found = paired_difference(
            scores_of(row["people"]), scores_of(row["system"])[runs], clusters=row["clusters"]
        )
        for name, value in row["result"].items():
            assert getattr(found, name) == pytest.approx(value, abs=1e-9, nan_ok=True), name


@pytest.mark.parametrize(
    ("kind", "one", "other", "sides"),
    [
        ("shots", "people", "other_people", PEOPLE),
        ("systems", "system", "other_system", SYSTEMS),
    ],
)
def test_meets_the_known_differences_of_one_kind(
    reference: Callable, kind: str, one: str, other: str, sides: str
) -> None:
    for row in reference("differences")[kind]:
        found = paired_difference(scores_of(row[one]), scores_of(row[other]), sides=sides)
        for name, value in row["result"].items():
            assert getattr(found, name) == exactly(value), name


def test_meets_the_known_difference(values: dict) -> None:
    found = paired_difference(values["H"], values["M"])
    known = values["paired_human_minus_model"]
    assert found.difference == exactly(known["diff"])
    assert (found.n, found.r, found.m, found.left_out) == (3, 5, 8, 0)


def test_takes_the_runs_on_the_shot_sets_of_the_people() -> None:
    assert runs_on(["1", "2"], ["1", "3", "2", "2"]) == ([0, 2, 3], False)
    assert runs_on(["1"], ["2", "3"]) == ([0, 1], True)
    # Who learned nothing has no shot set.
    assert runs_on([""], ["2", "3"]) == ([0, 1], False)


def plain_variance(h: np.ndarray, s: np.ndarray) -> float:
    """The five terms with the two more items, with the sums written out; of fewer than five runs
    their mean is one row."""
    s = s if len(s) >= 5 else s.mean(axis=0, keepdims=True)
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


@given(matrices)
def test_agrees_with_sums_written_out(both: tuple[np.ndarray, np.ndarray]) -> None:
    found = paired_difference(*both)
    assert found.se**2 == exactly(plain_variance(*both))
    assert found.people_mean - found.system_mean == exactly(found.difference)
    assert -1 <= found.low <= found.difference <= found.high <= 1
    assert found.low < found.high
    assert (found.p < 0.05) == (found.low > 0 or found.high < 0)


@given(matrices, st.integers(0, 99))
def test_does_not_depend_on_order(both: tuple[np.ndarray, np.ndarray], seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(both[0].shape[1])
    shuffled = [rng.permutation(side)[:, order] for side in both]
    found, other = paired_difference(*both), paired_difference(*shuffled)
    assert found.se == exactly(other.se)
    assert found.p == pytest.approx(other.p, abs=1e-6, nan_ok=True)


@given(matrices)
def test_turns_its_sign_when_the_sides_are_swapped(both: tuple[np.ndarray, np.ndarray]) -> None:
    h, s = both
    if len(s) < 2:
        return
    found, swapped = (paired_difference(*pair, sides=PEOPLE) for pair in ((h, s), (s, h)))
    assert found.difference == exactly(-swapped.difference)
    assert found.df == pytest.approx(swapped.df, nan_ok=True)
    assert found.p == pytest.approx(swapped.p, nan_ok=True)


def test_treats_two_groups_of_people_alike(values: dict) -> None:
    h, few = np.array(values["M"]), np.array(values["H"])
    there, back = (paired_difference(*both, sides=PEOPLE) for both in ((h, few), (few, h)))
    assert (there.difference, there.low, there.p) == exactly((-back.difference, -back.high, back.p))
    assert (there.people, back.people) == (3, 3)
    for both in ((h, few[:1]), (few[:1], h)):
        alone = paired_difference(*both, sides=PEOPLE)
        assert np.isnan([alone.se, alone.df, alone.p, alone.low, alone.high]).all()
        assert alone.notes == ("A single annotator: there is no test over people.",)


def test_takes_few_runs_as_one_fixed_row(values: dict) -> None:
    h, few = np.array(values["H"]), np.array(values["M"][:4])
    found, fixed = (
        paired_difference(h, few),
        paired_difference(h, few.mean(axis=0, keepdims=True)),
    )
    assert (found.r, fixed.r) == (4, 1)
    assert (found.se, found.df, found.p) == exactly((fixed.se, fixed.df, fixed.p))
    # A second run does not widen the interval: of a run repeated it is the same.
    twice = paired_difference(h, np.vstack([few[:1], few[:1]]))
    assert twice.se == exactly(paired_difference(h, few[:1]).se)


def test_keeps_items_that_every_run_and_some_annotator_answered(values: dict) -> None:
    h, s = np.array(values["H"]), np.array(values["M"])
    h[:, 2] = s[1, 5] = np.nan
    found = paired_difference(h, s)
    assert found.left_out == 2
    assert "2 items left out that one side did not answer." in found.notes
    keep = [0, 1, 3, 4, 6, 7]
    assert found.p == paired_difference(h[:, keep], s[:, keep]).p


def test_leaves_items_out_before_it_clusters(values: dict) -> None:
    h, s, labels = np.array(values["H"]), np.array(values["M"]), np.array(list("aabbccdd"))
    h[:, 0] = np.nan
    found = paired_difference(h, s, clusters=labels)
    expected = paired_difference(
        cluster_scores(h[:, 1:], labels[1:]), cluster_scores(s[:, 1:], labels[1:])
    )
    assert (found.m, found.left_out) == (4, 1)
    assert (found.difference, found.p) == exactly((expected.difference, expected.p))


def test_counts_annotators_above_the_system_on_what_they_saw() -> None:
    h = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [np.nan, 1.0, np.nan, 1.0]])
    found = paired_difference(h, [[1.0, 0.0, 0.0, 0.0]])
    assert (found.above, found.n) == (2, 3)


def test_compares_annotators_who_met_different_parts() -> None:
    rng = np.random.default_rng(8)
    h, s = simulated(rng, 6, 3, 40)
    h[:3, :20] = np.nan
    h[3:, 20:] = np.nan
    found = paired_difference(h, s)
    assert (found.n, found.m, found.left_out) == (6, 40, 0)
    assert found.difference == exactly((np.nanmean(h, axis=0) - s.mean(axis=0)).mean())
    assert "Annotators met different parts of the test set." in found.notes
    # Nobody has a part in the comparison who saw none of the items.
    s[:, :20] = np.nan
    half = paired_difference(h, s)
    assert (half.n, half.m, half.left_out) == (3, 20, 20)


def test_has_no_test_where_most_items_have_one_viewer() -> None:
    h = np.full((3, 9), np.nan)
    for k in range(3):
        h[k, 3 * k : 3 * k + 3] = 1
    found = paired_difference(h, np.zeros((2, 9)))
    assert (found.difference, found.m) == (1, 9)
    assert np.isnan([found.p, found.low]).all()
    assert "Most items were seen by one annotator only: there is no test." in found.notes


def test_compares_two_systems_of_a_single_run_each() -> None:
    rng = np.random.default_rng(11)
    a, b = simulated(rng, 1, 1, 50)
    found = paired_difference(a, b, sides=SYSTEMS)
    d = np.append(a - b, [0.5, -0.5])
    assert found.se**2 == exactly(d.var(ddof=1) / 52)
    assert found.df == exactly(51)
    assert (found.people, found.notes) == (None, ())


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
    # A single run hides its own variance.
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
    ],
)
def test_rejects_bad_input(act: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        act()

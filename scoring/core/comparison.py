"""People against a system on the same items: the difference of their means, and its interval."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.core.intervals import check_level, cluster_scores
from scoring.core.variance import (
    NOTHING,
    Floats,
    gap_squares,
    item_means,
    mean_squares,
    satterthwaite,
    t_chance,
    t_quantile,
    why_no_fit,
    within,
)

Bools = NDArray[np.bool_]

FEWEST_RUNS = 5
"""From so many runs on they are a sample of the system; fewer are these outputs alone."""
PEOPLE, SYSTEMS = "people", "systems"
"""Both sides of a difference, where they are not people and a system."""


def runs_on(splits: Collection[str], run_splits: Sequence[str]) -> tuple[list[int], bool]:
    """Which runs are compared with people of these splits: those on the same ones, all of people
    who learned nothing; with none on them all, and the comparison is exploratory (the second)."""
    if not any(splits):
        return list(range(len(run_splits))), False
    same = [place for place, split in enumerate(run_splits) if split in splits]
    return (same, False) if same else (list(range(len(run_splits))), True)


@dataclass(frozen=True)
class PairedDifference:
    """One side's mean less the other's, over new people and new items, and over new runs where five
    or more are compared.

    people_mean and system_mean are those over the compared items, so that they subtract. n, r and m
    count the annotators (or rows of the first side), the runs (or rows of the second) and the item
    clusters compared; left_out the items that one side did not answer. above: annotators who score
    higher than the system on what they saw.

    p is two-sided; low and high hold the difference and lie within [−1, 1]. se, df, t and p are
    those with the two more items. Whatever cannot be computed is NaN, and a note says why. sides:
    `people` or `systems` where both sides are that.
    """

    difference: float
    se: float
    df: float
    t: float
    p: float
    low: float
    high: float
    people_mean: float
    system_mean: float
    n: int
    r: int
    m: int
    left_out: int
    above: int
    sides: str
    notes: tuple[str, ...]

    @property
    def people(self) -> int | None:
        """How many people a claim rests on; None between systems."""
        if self.sides == SYSTEMS:
            return None
        return min(self.n, self.r) if self.sides == PEOPLE else self.n


def paired_difference(
    people: ArrayLike,
    system: ArrayLike,
    *,
    level: float = 0.95,
    clusters: ArrayLike | None = None,
    sides: str = "",
) -> PairedDifference:
    """Test n × m scores of people against r × m scores of a system's runs, column by column.

    Compared are the items that every run and at least one annotator answered (NaN: not answered);
    an item's mean is over those who saw it. They are then put together by `clusters` (one label per
    column) as in `cluster_scores`; without labels every column is its own cluster. Runs fewer than
    five are one fixed row, their mean item by item; more are a sample of the system.

    V = MSA_h/(nm) + MSR/(rm) + S²d/m − MSE_h/(nm) − MSE_m/(rm), at least the first two together and
    at least the third; a fixed row has no terms. Satterthwaite's degrees of freedom over all of
    them, within [k − 1, m − 1], k the smaller number of the sides that are samples. All of this
    from the matrices with two more items, on which people score 1 and ½ and the system ½ and 1, so
    m counts two more there. Where annotators met different parts, their terms come from the
    additive fit of `gap_squares`.

    With `sides` of `people` the second side are people too: a sample however few, with gaps allowed
    and no test of a single one; with `systems` fewer than five rows of the first side are a fixed
    row as well. Raises ValueError on other shapes, infinite values or a level outside (0, 1).
    """
    check_level(level)
    h, s = _two_sides(people, system)
    columns = _compared_items(h, s, sides)
    h, s = _answering(h[:, columns]), _answering(s[:, columns])
    n, r = len(h), len(s)
    above = int((np.nanmean(h - item_means(s), axis=1) > NOTHING).sum()) if h.size else 0
    has_gaps = bool(np.isnan(h).any() or np.isnan(s).any())
    ours, theirs = (float(item_means(side).mean()) if h.size else np.nan for side in (h, s))
    # Put into its range against rounding, so that its limits hold it exactly.
    difference = float(np.clip((item_means(h) - item_means(s)).mean(), -1, 1)) if h.size else np.nan
    if clusters is not None:
        h, s = _clustered(h, s, np.asarray(clusters), columns)
    m = h.shape[1]
    why = _why_no_test(h, s, sides)
    se, df = (np.nan, np.nan) if why else _spread(h, s, sides)
    t, p, low, high = t_test(difference, se, df, level)
    left_out = int((~columns).sum())
    notes = (*why, *_notes(left_out, has_gaps=has_gaps))
    rest = (ours, theirs, n, r, m, left_out, above, sides, notes)
    return PairedDifference(difference, se, df, t, p, low, high, *rest)


def compared_sides(
    people: ArrayLike, system: ArrayLike, *, clusters: ArrayLike, sides: str = ""
) -> tuple[Floats, Floats]:
    """The scores of both sides that `paired_difference` compares, all rows, one column a cluster;
    with gaps one an item."""
    h, s = _two_sides(people, system)
    columns = _compared_items(h, s, sides)
    h, s = h[:, columns], s[:, columns]
    return (h, s) if np.isnan(h).any() else _clustered(h, s, np.asarray(clusters), columns)


def paired_without_each(
    people: ArrayLike, system: ArrayLike, *, sides: str = "", **options: Any
) -> tuple[PairedDifference, ...]:
    """`paired_difference` without each annotator in turn, of both sides where both are people; a
    side of one is kept. The options are its own."""
    h, s = _two_sides(people, system)
    pairs = [(np.delete(h, k, axis=0), s) for k in range(len(h)) if len(h) > 1]
    if sides == PEOPLE:
        pairs += [(h, np.delete(s, k, axis=0)) for k in range(len(s)) if len(s) > 1]
    return tuple(paired_difference(one, other, sides=sides, **options) for one, other in pairs)


def _two_sides(people: ArrayLike, system: ArrayLike) -> tuple[Floats, Floats]:
    h, s = np.asarray(people, float), np.asarray(system, float)
    if h.ndim != 2 or s.ndim != 2 or h.shape[1] != s.shape[1] or not len(h) or not len(s):
        raise ValueError(
            f"People's scores have shape {h.shape} and the system's {s.shape}; "
            "give two matrices with the same items as columns."
        )
    for name, side in (("people's", h), ("system's", s)):
        if np.isinf(side).any():
            raise ValueError(f"The {name} scores hold an infinite value.")
    return h, s


def _compared_items(h: Floats, s: Floats, sides: str) -> Bools:
    """Every run must have answered an item, but only one of several people."""

    def answered(side: Floats, *, is_of_people: bool) -> Bools:
        missing = np.isnan(side)
        return np.asarray(~(missing.all(axis=0) if is_of_people else missing.any(axis=0)))

    ours = answered(h, is_of_people=sides != SYSTEMS)
    return np.asarray(ours & answered(s, is_of_people=sides == PEOPLE))


def _answering(scores: Floats) -> Floats:
    """The scores without whoever answered none of the compared items."""
    return scores[~np.isnan(scores).all(axis=1)] if scores.size else scores


def _clustered(
    h: Floats, s: Floats, clusters: NDArray[np.generic], columns: Bools
) -> tuple[Floats, Floats]:
    if clusters.shape != columns.shape:
        raise ValueError(f"There are {len(columns)} items but cluster labels of {clusters.shape}.")
    if not h.size or not s.size:
        return h, s
    return cluster_scores(h, clusters[columns]), cluster_scores(s, clusters[columns])


PEOPLE_ON_EXTRA, SYSTEM_ON_EXTRA = np.array([1.0, 0.5]), np.array([0.5, 1.0])
"""What either side scores on the two more items. Without these, two sides that are both all right
would differ by 0 ± 0."""


def _spread(h: Floats, s: Floats, sides: str) -> tuple[float, float]:
    """SE and degrees of freedom, with the two more items."""
    first = with_two_more(h, PEOPLE_ON_EXTRA, is_sample=sides != SYSTEMS)
    second = with_two_more(s, SYSTEM_ON_EXTRA, is_sample=sides == PEOPLE)
    d = item_means(first) - item_means(second)
    items, samples = float(d.var(ddof=1)) / len(d), [y for y in (first, second) if len(y) > 1]
    terms = [sample_terms(side) for side in samples]
    between, noise = (sum(both[place][0] for both in terms) for place in (0, 1))
    variance = max(between + items - noise, between, items)
    df = satterthwaite(variance, (items, len(d) - 1), *(term for both in terms for term in both))
    least = min(map(len, samples), default=2) - 1
    return float(np.sqrt(variance)), float(within(df, least, len(d) - 1))


def with_two_more(scores: Floats, extra: Floats, *, is_sample: bool) -> Floats:
    """A side that is no sample has one row, its mean, unless it has runs enough to be one."""
    if not is_sample and len(scores) < FEWEST_RUNS:
        scores = item_means(scores)[None]
    return np.column_stack([scores, np.tile(extra, (len(scores), 1))])


def sample_terms(scores: Floats) -> tuple[tuple[float, float], tuple[float, float]]:
    """What a sample adds to the variance, each with its degrees of freedom: between annotators (or
    runs), and the residual noise that this holds once too often."""
    n, m = scores.shape
    if np.isnan(scores).any():
        gaps = gap_squares(scores)
        weight = gaps.c_annotator
        return (weight * gaps.annotator, n - 1), (weight * gaps.residual, gaps.residual_df)
    squares = mean_squares(scores)
    between, noise = float(squares.annotator) / (n * m), float(squares.residual) / (n * m)
    return (between, n - 1), (noise, (n - 1) * (m - 1))


def t_test(
    difference: float, se: float, df: float, level: float
) -> tuple[float, float, float, float]:
    """t, two-sided p, and the limits of a difference of scores, within [−1, 1]; NaN where se is."""
    t = difference / se
    half = float(t_quantile(df, level)) * se
    low, high = np.maximum(difference - half, -1), np.minimum(difference + half, 1)
    return t, t_chance(abs(t), df), float(low), float(high)


def _why_no_test(h: Floats, s: Floats, sides: str) -> tuple[str, ...]:
    if h.shape[1] < 2:
        return ("Fewer than two items that both sides answered: there is no test.",)
    of_people = {PEOPLE: (h, s), SYSTEMS: ()}.get(sides, (h,))
    if any(len(side) < 2 for side in of_people):
        return ("A single annotator: there is no test over people.",)
    reasons = (why_no_fit(side) for side in of_people if np.isnan(side).any())
    return tuple(f"{why}: there is no test." for why in reasons if why)[:1]


def _notes(left_out: int, *, has_gaps: bool) -> Iterator[str]:
    if has_gaps:
        yield "Annotators met different parts of the test set."
    if left_out:
        yield f"{left_out} items left out that one side did not answer."

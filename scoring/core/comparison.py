"""People against a system on the same items: the difference of their means, and its interval."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.core.intervals import EXPLORATORY_BELOW, check_level, cluster_scores
from scoring.core.variance import (
    NOTHING,
    Floats,
    Groups,
    MeanSquares,
    gap_squares,
    item_means,
    mean_squares,
    mostly_single,
    nested_groups,
    pooled_within,
    satterthwaite,
    t_chance,
    t_quantile,
    within,
)

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Pair:
    """Both sides over the compared items, or over their clusters; NaN only where an annotator did
    not see one. The groups are the splits within which a side's variance is pooled.

    above: annotators who score higher than the system on what they saw. splits: how many the sides
    are paired by, 0 where they are not; unpaired: people have several, and the system shares fewer
    than two of them. Left out are items, and the rows of other splits or without a compared item.
    """

    people: Floats
    system: Floats
    people_groups: Groups | None
    system_groups: Groups | None
    above: int
    splits: int
    unpaired: bool
    left_out: int
    people_left_out: int
    runs_left_out: int

    @property
    def differences(self) -> Floats:
        """By item or cluster, people less the system."""
        if not self.people.shape[1]:
            return np.empty(0)
        return item_means(self.people) - item_means(self.system)

    @property
    def has_gaps(self) -> bool:
        return bool(np.isnan(self.people).any() or np.isnan(self.system).any())


def common_items(people: ArrayLike, system: ArrayLike) -> Bools:
    """For each column, whether everybody on both sides answered it."""
    h, s = _two_sides(people, system)
    return np.asarray(~np.isnan(h).any(axis=0) & ~np.isnan(s).any(axis=0))


def pair_up(
    people: ArrayLike,
    system: ArrayLike,
    clusters: ArrayLike | None = None,
    splits: ArrayLike | None = None,
    system_splits: ArrayLike | None = None,
    *,
    both_people: bool = False,
) -> Pair:
    """By the rules of `paired_difference`, whose arguments and errors these are."""
    h, s = _two_sides(people, system)
    labels = _labels(splits, len(h)), _labels(system_splits, len(s))
    shared = set[object]() if both_people else _shared(*labels)
    ours, theirs = _of_splits(labels[0], shared, len(h)), _of_splits(labels[1], shared, len(s))
    columns = _compared_items(h[ours], s[theirs], both_people=both_people)
    if columns.any():
        ours &= ~np.isnan(h[:, columns]).all(axis=1)
        theirs &= ~np.isnan(s[:, columns]).all(axis=1)
    h, s = h[ours][:, columns], s[theirs][:, columns]
    above = _above(h, s)
    if clusters is not None:
        h, s = _clustered(h, s, np.asarray(clusters), columns)
    pooled = shared or both_people
    return Pair(
        people=h,
        system=s,
        people_groups=_groups(labels[0], ours) if pooled else None,
        system_groups=_groups(labels[1], theirs) if both_people else None,
        above=above,
        splits=len(shared),
        unpaired=not pooled and len(set(labels[0] or [])) > 1 and labels[1] is not None,
        left_out=int((~columns).sum()),
        people_left_out=int((~ours).sum()),
        runs_left_out=int((~theirs).sum()),
    )


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


def _labels(splits: ArrayLike | None, rows: int) -> list[object] | None:
    if splits is None:
        return None
    labels = np.asarray(splits)
    if labels.shape != (rows,):
        raise ValueError(f"There are {rows} rows of scores but splits of shape {labels.shape}.")
    return list(labels.tolist())


def _shared(splits: list[object] | None, system_splits: list[object] | None) -> set[object]:
    """The splits to pair the two sides by: none unless there are two or more."""
    shared = set(splits or []) & set(system_splits or [])
    return shared if len(shared) > 1 else set()


def _compared_items(h: Floats, s: Floats, *, both_people: bool) -> Bools:
    """Every run must have answered an item, but only one of several people."""
    ours = ~np.isnan(h).all(axis=0)
    theirs = ~np.isnan(s).all(axis=0) if both_people else ~np.isnan(s).any(axis=0)
    return np.asarray(ours & theirs)


def _of_splits(splits: list[object] | None, shared: set[object], rows: int) -> Bools:
    if splits is None or not shared:
        return np.ones(rows, bool)
    return np.array([split in shared for split in splits])


def _above(h: Floats, s: Floats) -> int:
    if not h.size:
        return 0
    own = np.nanmean(h - item_means(s), axis=1)
    return int((own > NOTHING).sum())


def _clustered(
    h: Floats, s: Floats, clusters: NDArray[np.generic], columns: Bools
) -> tuple[Floats, Floats]:
    if clusters.shape != columns.shape:
        raise ValueError(f"There are {len(columns)} items but cluster labels of {clusters.shape}.")
    if not h.size or not s.size:
        return h, s
    return cluster_scores(h, clusters[columns]), cluster_scores(s, clusters[columns])


def _groups(splits: list[object] | None, rows: Bools) -> Groups | None:
    if splits is None:
        return None
    kept = [split for split, stays in zip(splits, rows, strict=True) if stays]
    return nested_groups(np.array(kept), len(kept))


PEOPLE_ON_EXTRA, SYSTEM_ON_EXTRA = (1.0, 0.5), (0.5, 1.0)
"""What either side scores on the two more items. Without these, two sides that are both all right
would differ by 0 ± 0."""
EXTRA_DIFFERENCES = np.subtract(PEOPLE_ON_EXTRA, SYSTEM_ON_EXTRA)


@dataclass(frozen=True)
class PairedDifference:
    """People's mean less the system's, over new people, new runs and new items.

    people_mean and system_mean are those over the compared items, so that they subtract. n, r and m
    count the compared annotators, runs and item clusters of the pair.

    p is two-sided; low and high hold the difference and lie within [−1, 1]. se, df, t and p are
    those with the two more items. Whatever cannot be computed is NaN, and a note says why.
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
    pair: Pair
    notes: tuple[str, ...]
    both_people: bool
    both_systems: bool

    @property
    def exploratory(self) -> bool:
        """Below this many annotators nobody is called better; runs are not annotators."""
        fewest = min(self.n, self.r) if self.both_people else self.n
        return fewest < EXPLORATORY_BELOW and not self.both_systems


@dataclass(frozen=True)
class Side:
    """What one side adds to the variance of a difference, each with its degrees of freedom:
    between annotators (or runs), and the residual noise that this holds once too often. A single
    run adds nothing."""

    between: float = 0.0
    between_df: int = 0
    noise: float = 0.0
    noise_df: int = 0

    @classmethod
    def of_squares(cls, squares: MeanSquares) -> "Side":
        """From complete scores; of a single run nothing."""
        n, m = squares.n, squares.m
        if n < 2:
            return cls()
        between, noise = float(squares.annotator) / (n * m), float(squares.residual) / (n * m)
        return cls(between, squares.annotator_df, noise, (n - 1) * (m - 1))


def paired_difference(
    people: ArrayLike,
    system: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    splits: ArrayLike | None = None,
    system_splits: ArrayLike | None = None,
    level: float = 0.95,
    both_people: bool = False,
    both_systems: bool = False,
) -> PairedDifference:
    """Test n × m scores of people against r × m scores of a system's runs, column by column.

    Compared are the items that every run and at least one annotator answered (NaN: not answered);
    an item's mean is over those who saw it. They are then put together by `clusters` (one label
    per column) as in `cluster_scores`; without labels every column is its own cluster. With
    `splits` (one label per annotator) and `system_splits` (one per run), of which they share two or
    more, only these splits are compared, and the annotators' variance is pooled within them.

    V = MSA_h/(nm) + MSR/(rm) + S²d/m − MSE_h/(nm) − MSE_m/(rm), at least the first two together
    and at least the third; Satterthwaite's degrees of freedom over all five, within
    [min(n, r) − 1, m − 1], with pooled splits n less their number. All of this from the matrices
    with two more items, on which people score 1 and ½ and the system ½ and 1, so m counts two more
    there. Where annotators met different parts, their terms come from the additive fit of
    `gap_squares`. A single run has no term and no part in the bounds.

    Where the second side are people too (`both_people`), each side may have gaps, each is pooled
    within its own splits, and a single one of them makes no test; `both_systems` compares two
    systems, where a single run is allowed on either side. Raises ValueError on other shapes,
    infinite values or a level outside (0, 1).
    """
    check_level(level)
    pair = pair_up(people, system, clusters, splits, system_splits, both_people=both_people)
    h, s, d = pair.people, pair.system, pair.differences
    n, r, m = len(h), len(s), len(d)
    # Put into its range against rounding, so that its limits hold it exactly.
    difference = float(np.clip(d.mean(), -1, 1)) if m else np.nan
    why = _why_no_test(pair, both_people=both_people, both_systems=both_systems)
    se, df = (np.nan, np.nan) if why else _spread(pair)
    t, p, low, high = t_test(difference, se, df, level)
    return PairedDifference(
        difference=difference,
        se=se,
        df=df,
        t=t,
        p=p,
        low=low,
        high=high,
        people_mean=float(item_means(h).mean()) if m else np.nan,
        system_mean=float(item_means(s).mean()) if m else np.nan,
        n=n,
        r=r,
        m=m,
        pair=pair,
        notes=(*why, *_notes(pair, both_people=both_people, both_systems=both_systems)),
        both_people=both_people,
        both_systems=both_systems,
    )


def paired_spread(
    people: Side, system: Side, item_differences: float, m: int
) -> tuple[float, float]:
    """SE and degrees of freedom of a paired difference, from both sides' terms and the variance of
    the m items' differences; formula in `paired_difference`."""
    items = item_differences / m
    between = people.between + system.between
    raw = between + items - people.noise - system.noise
    variance = max(raw, between, items)
    df = satterthwaite(
        variance,
        (people.between, people.between_df),
        (system.between, system.between_df),
        (items, m - 1),
        (people.noise, people.noise_df),
        (system.noise, system.noise_df),
    )
    several = [side.between_df for side in (people, system) if side.between_df]
    return float(np.sqrt(variance)), float(within(df, min(several, default=1), m - 1))


def t_test(
    difference: float, se: float, df: float, level: float
) -> tuple[float, float, float, float]:
    """t, two-sided p, and the limits of a difference of scores, within [−1, 1]; NaN where se is."""
    t = difference / se
    half = float(t_quantile(df, level)) * se
    low, high = max(-1.0, difference - half), min(1.0, difference + half)
    if np.isnan(half):
        low = high = np.nan
    return t, t_chance(abs(t), df), low, high


def _spread(pair: Pair) -> tuple[float, float]:
    """SE and degrees of freedom, with the two more items."""
    people = _side(_with_two_more(pair.people, PEOPLE_ON_EXTRA), pair.people_groups)
    system = _side(_with_two_more(pair.system, SYSTEM_ON_EXTRA), pair.system_groups)
    d = np.append(pair.differences, EXTRA_DIFFERENCES)
    return paired_spread(people, system, float(d.var(ddof=1)), len(d))


def _with_two_more(scores: Floats, extra: tuple[float, float]) -> Floats:
    return np.column_stack([scores, np.tile(extra, (len(scores), 1))])


def _side(scores: Floats, groups: Groups | None) -> Side:
    """One side's terms, of scores with the two more items."""
    n = len(scores)
    if np.isnan(scores).any():
        found = gap_squares(scores)
        weight = found.c_annotator
        return Side(
            weight * found.annotator, n - 1, weight * found.residual, max(0, found.residual_df)
        )
    squares = mean_squares(scores)
    if groups is not None:
        squares = pooled_within(squares, scores, groups)
    return Side.of_squares(squares)


def _why_no_test(pair: Pair, *, both_people: bool, both_systems: bool) -> tuple[str, ...]:
    """Why nothing can be tested, if so."""
    n, r, m = len(pair.people), len(pair.system), len(pair.differences)
    if m < 2:
        return ("Fewer than two items that both sides answered: there is no test.",)
    if (min(n, r) if both_people else n) < 2 and not both_systems:
        return ("A single annotator: there is no test over people.",)
    if any(np.isnan(side).any() and mostly_single(side) for side in (pair.people, pair.system)):
        return ("Most items were seen by one annotator only: there is no test.",)
    return ()


def _notes(pair: Pair, *, both_people: bool, both_systems: bool) -> Iterator[str]:
    n, r = len(pair.people), len(pair.system)
    fewest = min(n, r) if both_people else n
    single = (r == 1 and not both_people) or (n == 1 and both_systems)
    notes = {
        "A single run: how much runs differ is not known and not counted.": single,
        f"Fewer than {EXPLORATORY_BELOW} annotators: exploratory.": 1 < fewest < EXPLORATORY_BELOW
        and not both_systems,
        "Annotators met different parts of the test set.": pair.has_gaps,
        f"{pair.left_out} items left out that one side did not answer.": pair.left_out > 0,
        f"Paired by {pair.splits} splits: {pair.people_left_out} annotators and "
        f"{pair.runs_left_out} runs of other splits left out.": pair.splits > 0
        and pair.people_left_out + pair.runs_left_out > 0,
        "The system shares fewer than two of the people's splits: everybody is compared, and how "
        "people differ is not pooled within splits.": pair.unpaired,
    }
    yield from (note for note, applies in notes.items() if applies)


def paired_without_each(
    people: ArrayLike, system: ArrayLike, *, splits: ArrayLike | None = None, **options: Any
) -> tuple[PairedDifference, ...]:
    """`paired_difference` without each annotator in turn; the options are its own."""
    h = np.asarray(people, float)
    if len(h) < 2:
        return ()
    labels = None if splits is None else np.asarray(splits)
    return tuple(
        paired_difference(
            np.delete(h, k, axis=0),
            system,
            splits=None if labels is None else np.delete(labels, k),
            **options,
        )
        for k in range(len(h))
    )

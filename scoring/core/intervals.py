"""The interval of one cell: n annotators (or runs) × m items, and what stands beside it.

Two things may be estimated. `these_items`: how other people would do on exactly this test set;
`new_items`: how other people would do on other items like these. The latter is Wilson's interval
(1927) with an effective number of answers, from the matrix with one more item (`one_more_item`),
and Satterthwaite's degrees of freedom (1946).

People of several splits are people of one cell, so that a difference between splits counts as one
between people, for these shot sets; for new ones as well, the split is the unit.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from scoring.core.variance import (
    NOTHING,
    Floats,
    Groups,
    around,
    complete_spread,
    gap_spread,
    group_numbers,
    item_means,
    mean_squares,
    mean_with_one_more,
    score_matrix,
    t_chance,
    t_quantile,
    why_no_fit,
    wilson_limits,
)

ESTIMANDS = ("new_items", "these_items")
EXPLORATORY_BELOW = 5
"""With fewer annotators nobody is called better."""
FEWEST_FOR_SURE = 8
"""With fewer a verdict is at most probable."""
NEVER_SURE = f"No verdict{{on}} can be sure: {{people}} people, and it takes {FEWEST_FOR_SURE}."

WILSON, WILSON_WITH_GAPS, GUARD, STUDENT = "wilson", "wilson-gaps", "guard", "t"
NO_INTERVAL = "none"
"""How an interval was computed."""


@dataclass(frozen=True)
class CellInterval:
    """The interval of a cell's mean, on the scale of the scores. mean: of the items' means. sd:
    over the annotators' means (ddof 1). low and high hold the mean and lie within [0, 1]; for new
    items se and df are those with the one more item. What cannot be computed is NaN, and the method
    `none`; a note says why."""

    mean: float
    sd: float
    n: int
    m: int
    low: float
    high: float
    df: float
    se: float
    method: str
    estimand: str
    level: float
    notes: tuple[str, ...] = ()

    @property
    def mean_with_one_more(self) -> float:
        """p′, the mean of the matrix with one more item."""
        return float(mean_with_one_more(self.mean, self.m))

    @property
    def effective(self) -> float:
        """How many right-or-wrong answers tell as much about new items; NaN for these items."""
        p = self.mean_with_one_more
        return p * (1 - p) / self.se**2 if self.estimand == "new_items" else np.nan


def cell_interval(
    scores: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    estimand: str = "new_items",
    level: float = 0.95,
    rng: np.random.Generator | None = None,
) -> CellInterval:
    """Mean, SD and interval of n × m scores, one row per annotator, one column per item.

    With `clusters`, a label for each column, mean and SD are those of the items, and items of one
    cluster count as one (`cluster_scores`). Values outside [0, 1] are allowed (cluster scores have
    them) as long as the mean lies within. NaN is an item that the annotator did not see. Nothing is
    drawn, so `rng` is of no use.

    Raises ValueError on another shape, an infinite value, an empty row, a mean outside [0, 1], an
    unknown estimand or a level outside (0, 1).
    """
    return _interval(scores, clusters, estimand, level)


def guard_band(
    scores: ArrayLike, *, clusters: ArrayLike | None = None, level: float = 0.95
) -> CellInterval:
    """The interval for new items with the fewest degrees of freedom, min(n − 1, m). It holds that
    interval, and stands in its place for two people, one of whom can spoil any. Arguments and
    errors as for `cell_interval`."""
    return _interval(scores, clusters, "new_items", level, guard=True)


def cluster_scores(scores: ArrayLike, clusters: ArrayLike) -> Floats:
    """n × items scores as n × clusters, one column for each label in order of first appearance.

    z_ij = ȳ + (size_j / mean size) · (mean of annotator i on cluster j − ȳ), with ȳ the mean of the
    items' means: so the mean over the columns is that over the items, for the cell and for every
    annotator who saw all of them, though not where somebody saw a part of a cluster. A cluster that
    an annotator did not see at all is NaN. Raises ValueError unless every column has one label.
    """
    y = np.asarray(scores, float)
    labels = list(np.asarray(clusters).tolist())
    if y.ndim != 2 or y.shape[1] != len(labels):
        raise ValueError(f"Scores of shape {y.shape} need one cluster label for each column.")
    number = {label: k for k, label in enumerate(dict.fromkeys(labels))}
    if len(number) == len(labels):
        return y.copy()
    columns = np.array([number[label] for label in labels])
    order = np.argsort(columns, kind="stable")
    starts = np.searchsorted(columns[order], np.arange(len(number)))
    seen = ~np.isnan(y[:, order])
    sizes = np.add.reduceat(seen.any(axis=0), starts, dtype=float)
    viewed = np.add.reduceat(seen, starts, axis=1, dtype=float)
    centre = np.nanmean(item_means(y[:, ~np.isnan(y).all(axis=0)]))
    deviations = np.add.reduceat(np.where(seen, y[:, order] - centre, 0), starts, axis=1)
    scale = sizes / sizes[sizes > 0].mean()
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(viewed > 0, centre + scale * deviations / viewed, np.nan)


def new_items_limits(scores: Floats, level: float) -> tuple[Floats, Floats]:
    """Limits for new items of complete scores (…, n, m): of one cell, or of many at once."""
    mean = np.clip(scores.mean(axis=(-2, -1), dtype=float), 0, 1)
    spread = complete_spread(scores)
    return wilson_limits(mean, spread.effective, t_quantile(spread.df, level))


def these_items_limits(scores: Floats, level: float) -> tuple[Floats, Floats]:
    """Limits for these items of complete scores (…, n, m): of one cell, or of many at once."""
    mean = np.clip(scores.mean(axis=(-2, -1), dtype=float), 0, 1)
    se, df = _these_items_spread(scores)
    half = t_quantile(df, level) * se
    return around(mean, mean - half, mean + half)


def _interval(
    scores: ArrayLike,
    clusters: ArrayLike | None,
    estimand: str,
    level: float,
    *,
    guard: bool = False,
) -> CellInterval:
    check_estimand(estimand)
    check_level(level)
    y = score_matrix(scores)
    z = y if clusters is None else score_matrix(cluster_scores(scores, clusters))
    (n, m), has_gaps = z.shape, bool(np.isnan(y).any())
    mean = float(item_means(y).mean() if has_gaps else y.mean())
    if not -NOTHING <= mean <= 1 + NOTHING:
        raise ValueError(f"The mean score is {mean:g}; give scores in [0, 1], not in percent.")
    mean, missing = min(max(mean, 0.0), 1.0), _why_none(z, estimand, has_gaps=has_gaps)
    low = high = se = df = np.asarray(np.nan)
    method = NO_INTERVAL
    if missing is None and estimand == "new_items":
        # The mean of the items stands, where somebody saw a part of a cluster too.
        z = z + (mean - float(item_means(z).mean())) if has_gaps else z
        spread = gap_spread(z) if has_gaps else complete_spread(z)
        se, df = spread.se, np.asarray(min(n - 1, m) if guard else spread.df)
        low, high = wilson_limits(mean, spread.effective, t_quantile(df, level))
        method = GUARD if guard else WILSON_WITH_GAPS if has_gaps else WILSON
    elif missing is None:
        se, df = _these_items_spread(z)
        half = t_quantile(df, level) * se
        low, high = around(mean, mean - half, mean + half)
        method = STUDENT
    sd = float(np.nanmean(y, axis=1).std(ddof=1)) if n > 1 else np.nan
    figures = float(low), float(high), float(df), float(se)
    notes = () if missing is None else (missing,)
    return CellInterval(mean, sd, n, m, *figures, method, estimand, level, notes)


def _why_none(y: Floats, estimand: str, *, has_gaps: bool) -> str | None:
    n, m = y.shape
    if n < 2:
        return "A single annotator or run: there is no interval."
    if estimand == "these_items" and m < 2:
        return "A single item: there is no interval for these items."
    if has_gaps and estimand == "these_items":
        return "Annotators did not all see the same items: there is no interval for these items."
    why = why_no_fit(y) if has_gaps else None
    return f"{why}: there is no interval for new items." if why else None


def _these_items_spread(scores: Floats) -> tuple[Floats, Floats]:
    """√(max(MSA, MSE + 1/(nm)) / (nm)), so that equal means do not make it 0, and its degrees of
    freedom."""
    squares = mean_squares(scores)
    size = squares.n * squares.m
    variance = np.maximum(squares.annotator, squares.residual + 1 / size) / size
    return np.sqrt(variance), np.asarray(squares.n - 1.0)


def check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"The level is {level}; it must lie between 0 and 1.")


def check_estimand(estimand: str) -> None:
    if estimand not in ESTIMANDS:
        raise ValueError(f"The estimand is {estimand!r}; it must be one of {ESTIMANDS}.")


APART = 0.2
"""So far from the others, on the scale of the scores, somebody is flagged if noise of items does
not explain it."""
SURELY = 0.01
"""The p at which it does not, shared among the annotators."""
PAIR = 2
"""Of so few nobody can be told apart from the others by name, and one can spoil any interval."""


@dataclass(frozen=True)
class LeftOut:
    """One annotator beside the others, on the items that both saw. mean: the cell's without them.
    apart: their mean less that of the others; p: of the paired t over item clusters. Both NaN
    without two such clusters."""

    mean: float
    apart: float
    p: float
    flagged: bool


@dataclass(frozen=True)
class LeaveOneOut:
    """low and high: the range of the cell's mean when any one annotator is left out; NaN for a
    single one. annotators: in the order of the rows. flagged: how many are unlike the others; of
    two it cannot be said which, so both count and neither is flagged by name."""

    low: float
    high: float
    annotators: tuple[LeftOut, ...]
    flagged: int = 0


def leave_one_out(scores: ArrayLike, clusters: ArrayLike | None = None) -> LeaveOneOut:
    """Leave each annotator out in turn, of n × m scores (NaN: not seen). One is flagged who lies 20
    points or more from the mean of the others, with p ≤ .01/n in a paired t over item clusters (m −
    1 df): a description, not a test. Raises as `cell_interval` does."""
    y = score_matrix(scores)
    if len(y) < 2:
        return LeaveOneOut(np.nan, np.nan, ())
    z = y if clusters is None else score_matrix(cluster_scores(scores, clusters))
    left_out = tuple(_left_out(y, z, k) for k in range(len(y)))
    means = [annotator.mean for annotator in left_out]
    flagged = sum(annotator.flagged for annotator in left_out)
    if len(y) == PAIR:
        left_out = tuple(replace(annotator, flagged=False) for annotator in left_out)
    return LeaveOneOut(min(means), max(means), left_out, flagged)


def _left_out(y: Floats, z: Floats, k: int) -> LeftOut:
    """y: by item, z: by cluster, of which each is one difference."""
    others = np.delete(y, k, axis=0)
    seen = ~np.isnan(others).all(axis=0)
    by_item, by_cluster = _from_others(y, k), _from_others(z, k)
    apart = float(by_item.mean()) if len(by_cluster) > 1 else np.nan
    p = paired_p(by_cluster)
    flagged = abs(apart) >= APART - NOTHING and p <= SURELY / len(y)
    return LeftOut(float(item_means(others[:, seen]).mean()), apart, p, flagged)


def _from_others(y: Floats, k: int) -> Floats:
    """This annotator less the mean of the others who saw it, by column."""
    others = np.delete(y, k, axis=0)
    both = ~np.isnan(others).all(axis=0) & ~np.isnan(y[k])
    return np.asarray(y[k, both] - item_means(others[:, both]))


def paired_p(differences: ArrayLike) -> float:
    """Two-sided p of Student's paired t that the mean of these differences is 0; where they do not
    vary 0, or 1 if they are 0. NaN below two."""
    d = np.asarray(differences, float)
    if len(d) < 2:
        return np.nan
    se = float(d.std(ddof=1)) / np.sqrt(len(d))
    if se <= NOTHING:
        return 0.0 if abs(d.mean()) > NOTHING else 1.0
    return t_chance(abs(float(d.mean())) / se, len(d) - 1)


SHOT_SETS = ("these", "new")
FEWEST_SPLITS = 3
"""From so few splits on, something can be said about new shot sets."""


@dataclass(frozen=True)
class SplitInterval:
    """cell: mean, SD and interval over annotators, or over splits where the shot sets are `new`.
    annotators: how many there are in all. annotator_var, split_var: of the annotators' means within
    splits, and between splits, none below 0; NaN with one split, or one annotator in each."""

    cell: CellInterval
    shot_sets: str
    annotators: int
    splits: int
    split_var: float
    annotator_var: float


def split_interval(
    scores: ArrayLike,
    splits: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    estimand: str = "new_items",
    shot_sets: str = "these",
    level: float = 0.95,
) -> SplitInterval:
    """Interval of annotators × items scores, with the split of each annotator: for `these` shot
    sets `cell_interval`'s; for `new` ones by the splits' item means, so that every split weighs
    alike, which `clusters` then put together. Raises ValueError as that does, for fewer than three
    splits of new shot sets or one that lacks an item, and unless every row has one split."""
    y = score_matrix(scores)
    labels = group_numbers(splits, len(y))
    units = np.asarray(scores, float)
    if shot_sets != "these":
        seen = ~np.isnan(units).all(axis=0)
        clusters = None if clusters is None else np.asarray(clusters)[seen]
        units = _by_split(y, labels, shot_sets)
    split_var, annotator_var = _components(np.nanmean(y, axis=1), labels)
    cell = cell_interval(units, clusters=clusters, estimand=estimand, level=level)
    count = int(labels.max()) + 1
    return SplitInterval(cell, shot_sets, len(y), count, split_var, annotator_var)


def _by_split(y: Floats, labels: Groups, shot_sets: str) -> Floats:
    """The items' means in each split."""
    splits = int(labels.max()) + 1
    if shot_sets not in SHOT_SETS:
        raise ValueError(f"The shot sets are {shot_sets!r}; they must be one of {SHOT_SETS}.")
    if splits < FEWEST_SPLITS:
        raise ValueError(
            f"An interval for new shot sets needs {FEWEST_SPLITS} splits; this cell has {splits}."
        )
    parts = [y[labels == k] for k in range(splits)]
    if any(np.isnan(part).all(axis=0).any() for part in parts):
        raise ValueError("An interval for new shot sets needs every item in every split.")
    return np.array([item_means(part) for part in parts])


def _components(means: Floats, labels: Groups) -> tuple[float, float]:
    """The variances between the splits and within, from annotators' means."""
    sizes = np.bincount(labels)
    n, s = len(means), len(sizes)
    if s in (1, n):
        return np.nan, np.nan
    of_split = np.bincount(labels, means) / sizes
    within = float(((means - of_split[labels]) ** 2).sum()) / (n - s)
    between = float((sizes * (of_split - means.mean()) ** 2).sum()) / (s - 1)
    size = float(n - (sizes**2).sum() / n) / (s - 1)
    return max(0.0, (between - within) / size), within

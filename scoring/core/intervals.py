"""The interval of one cell: n annotators (or runs) × m items, and what stands beside it.

Two things may be estimated. `these_items`: how other people would do on exactly this test set;
`new_items`: how other people would do on other items like these. Formulas: Satterthwaite 1946 for
the degrees of freedom, Wilson 1927 where nothing varies, Owen 2007 for the two-way bootstrap.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from scoring.core.bootstrap import two_way_spread
from scoring.core.variance import (
    NOTHING,
    Floats,
    MeanSquares,
    crossed_spread,
    mean_squares,
    score_matrix,
)

ESTIMANDS = ("new_items", "these_items")
EXPLORATORY_BELOW = 5
"""With fewer annotators an interval is exploratory, and nobody is called better."""


@dataclass(frozen=True)
class CellInterval:
    """A cell's figures on the scale of the scores.

    sd is over the annotators' means (ddof 1). low and high lie within [0, 1]. Whatever cannot be
    computed is NaN, and method is `none`: one annotator has no SD and no interval; one item has no
    interval for new items. se and df are NaN for a Wilson interval too, which uses neither.
    """

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

    @property
    def exploratory(self) -> bool:
        return self.n < EXPLORATORY_BELOW


def cell_interval(
    scores: ArrayLike,
    *,
    estimand: str = "new_items",
    level: float = 0.95,
    rng: np.random.Generator | None = None,
) -> CellInterval:
    """Mean, SD and interval of n × m scores, one row per annotator, one column per item or cluster.

    Values outside [0, 1] are allowed (cluster scores have them) as long as the mean lies within.
    NaN is an item that the annotator did not see: the mean is then over the annotators' own means,
    and the interval for new items comes from a two-way bootstrap drawn from `rng` (a fixed seed
    without one). Where all annotators have one mean while items differ, the interval for these
    items has no width; where nothing differs, either is a Wilson interval over the items.

    Raises ValueError on another shape, an infinite value, an empty row, an unknown estimand or a
    level outside (0, 1).
    """
    y = score_matrix(scores)
    _check(y, estimand, level)
    if estimand == "these_items":
        return _these_items(y, level)
    if min(y.shape) < 2:
        return _interval(y, "new_items", level)
    if np.isnan(y).any():
        return _new_items_with_gaps(y, level, rng)
    return _new_items(y, level)


def guard_band(
    scores: ArrayLike, *, level: float = 0.95, rng: np.random.Generator | None = None
) -> CellInterval:
    """The new-items variance with n−1 degrees of freedom, on the scale of the scores.

    Stands beside the interval for n < 5, where one weak annotator can spoil any interval.
    """
    inner = cell_interval(scores, level=level, rng=rng)
    if not inner.se > 0:
        return inner
    y = score_matrix(scores)
    half = _t(inner.n - 1, level) * inner.se
    limits = (inner.mean - half, inner.mean + half)
    return _interval(y, "new_items", level, limits, inner.se, inner.n - 1, "guard")


def cluster_scores(scores: ArrayLike, clusters: ArrayLike) -> Floats:
    """n × items scores as n × clusters, one column for each label in order of first appearance.

    z_ij = ȳ + (size_j / mean size) · (mean of annotator i on cluster j − ȳ), so every annotator's
    mean over the columns is their mean over the items. Sizes count the items that the annotator
    saw; a cluster that they did not see at all is NaN.
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
    sizes = np.add.reduceat(seen, starts, axis=1, dtype=float)
    centre = np.nanmean(np.nanmean(y, axis=1))
    deviations = np.add.reduceat(np.where(seen, y[:, order] - centre, 0), starts, axis=1)
    mean_sizes = sizes.sum(axis=1, keepdims=True) / (sizes > 0).sum(axis=1, keepdims=True)
    return np.where(sizes > 0, centre + deviations / mean_sizes, np.nan)


def wilson_limits(mean: ArrayLike, trials: int, level: float) -> tuple[Floats, Floats]:
    """The Wilson interval of a proportion of that many trials."""
    p = np.asarray(mean, float)
    z2 = float(stats.norm.ppf((1 + level) / 2)) ** 2
    centre = (p + z2 / (2 * trials)) / (1 + z2 / trials)
    half = np.sqrt(z2 * (p * (1 - p) / trials + z2 / (4 * trials**2))) / (1 + z2 / trials)
    return np.asarray(centre - half), np.asarray(centre + half)


def new_items_limits(mean: ArrayLike, squares: MeanSquares, level: float) -> tuple[Floats, Floats]:
    """Limits for new items, of one cell or of many at once: Wilson where nothing varies."""
    se, df = crossed_spread(squares)
    low, high = _logit_limits(mean, se, df, level)
    wilson_low, wilson_high = wilson_limits(np.clip(mean, 0, 1), squares.m, level)
    return np.where(squares.flat, wilson_low, low), np.where(squares.flat, wilson_high, high)


def these_items_limits(means: Floats, level: float) -> tuple[Floats, Floats]:
    """Limits for these items from the annotators' means (…, n), of one cell or of many."""
    n = means.shape[-1]
    half = _t(n - 1, level) * means.std(axis=-1, ddof=1) / np.sqrt(n)
    return means.mean(axis=-1) - half, means.mean(axis=-1) + half


def _new_items(y: Floats, level: float) -> CellInterval:
    squares = mean_squares(y)
    if squares.flat:
        return _wilson(y, "new_items", level)
    se, df = crossed_spread(squares)
    limits = new_items_limits(y.mean(), squares, level)
    return _interval(y, "new_items", level, limits, se, df, "satterthwaite-logit")


def _new_items_with_gaps(y: Floats, level: float, rng: np.random.Generator | None) -> CellInterval:
    if _is_flat(y):
        return _wilson(y, "new_items", level)
    se, df = two_way_spread(y, rng=rng)
    limits = _logit_limits(_annotator_means(y).mean(), se, df, level)
    return _interval(y, "new_items", level, limits, se, df, "two-way-bootstrap")


def _these_items(y: Floats, level: float) -> CellInterval:
    means = _annotator_means(y)
    n = len(means)
    if n < 2:
        return _interval(y, "these_items", level)
    if _is_flat(y):
        return _wilson(y, "these_items", level)
    se = means.std(ddof=1) / np.sqrt(n)
    limits = these_items_limits(means, level)
    return _interval(y, "these_items", level, limits, se, n - 1, "t")


def _wilson(y: Floats, estimand: str, level: float) -> CellInterval:
    limits = wilson_limits(_annotator_means(y).mean(), y.shape[1], level)
    return _interval(y, estimand, level, limits, method="wilson")


def _interval(
    y: Floats,
    estimand: str,
    level: float,
    limits: tuple[ArrayLike, ArrayLike] = (np.nan, np.nan),
    se: Floats | float = np.nan,
    df: Floats | float = np.nan,
    method: str = "none",
) -> CellInterval:
    means = _annotator_means(y)
    low, high = np.clip(np.asarray(limits, float), 0, 1)
    return CellInterval(
        mean=float(means.mean()),
        sd=float(means.std(ddof=1)) if len(means) > 1 else np.nan,
        n=y.shape[0],
        m=y.shape[1],
        low=float(low),
        high=float(high),
        df=float(df),
        se=float(se),
        method=method,
        estimand=estimand,
        level=level,
    )


def _logit_limits(
    mean: ArrayLike, se: ArrayLike, df: ArrayLike, level: float
) -> tuple[Floats, Floats]:
    """mean ± t·se on the logit scale, transformed back; on the plain scale at 0 and 1."""
    p, half = np.asarray(mean, float), _t(df, level) * np.asarray(se)
    slope = p * (1 - p)
    with np.errstate(invalid="ignore", divide="ignore"):
        inner = slope > 0
        low = np.where(inner, special.expit(special.logit(p) - half / slope), p - half)
        high = np.where(inner, special.expit(special.logit(p) + half / slope), p + half)
    return low, high


def _t(df: ArrayLike, level: float) -> Floats:
    return np.asarray(stats.t.ppf((1 + level) / 2, np.asarray(df, float)))


def _annotator_means(y: Floats) -> Floats:
    return np.asarray(np.nanmean(y, axis=1))


def _is_flat(y: Floats) -> bool:
    spread = max(np.ptp(_annotator_means(y)), np.ptp(np.nanmean(y, axis=0)))
    return bool(spread <= NOTHING)


def _check(y: Floats, estimand: str, level: float) -> None:
    check_estimand(estimand)
    check_level(level)
    mean = _annotator_means(y).mean()
    if not -NOTHING <= mean <= 1 + NOTHING:
        raise ValueError(f"The mean score is {mean:g}; give scores in [0, 1], not in percent.")


def check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"The level is {level}; it must lie between 0 and 1.")


def check_estimand(estimand: str) -> None:
    if estimand not in ESTIMANDS:
        raise ValueError(f"The estimand is {estimand!r}; it must be one of {ESTIMANDS}.")

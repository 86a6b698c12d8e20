"""Bootstraps: their generator, the percentile interval, and resampling annotators and items."""

import numpy as np

from scoring.core.variance import Floats, satterthwaite, variance_components, within

SEED = 20211206
"""The seed of a bootstrap whose caller passes no generator, so that it can be repeated."""

RESAMPLES = 1000


def generator(rng: np.random.Generator | None) -> np.random.Generator:
    return np.random.default_rng(SEED) if rng is None else rng


def percentile_limits(resampled: Floats, level: float) -> tuple[float, float]:
    """The central part of resampled statistics; undefined ones are left out, NaN without any."""
    defined = resampled[~np.isnan(resampled)]
    if not len(defined):
        return np.nan, np.nan
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def resample_counts(size: int, draws: int, resamples: int, rng: np.random.Generator) -> Floats:
    """How often each of `size` units comes up in `draws` draws; one row per resample."""
    picked = rng.integers(0, size, (resamples, draws))
    picked += np.arange(resamples)[:, None] * size
    counts = np.bincount(picked.ravel(), minlength=resamples * size)
    return counts.reshape(resamples, size).astype(float)


def two_way_spread(
    scores: Floats, *, rng: np.random.Generator | None = None, resamples: int = 2000
) -> tuple[Floats, Floats]:
    """SE and degrees of freedom of the mean over annotators whose items differ (NaN: not seen).

    Annotators and items are resampled independently (the pigeonhole bootstrap, Owen 2007), one
    fewer of each than there are, which takes out the bootstrap's small-sample bias (Rao & Wu 1988).
    It counts the residual variance more than once and so errs on the wide side. The degrees of
    freedom are Satterthwaite's on the expected mean squares of the estimated components.
    """
    y = np.asarray(scores, float)
    rng = generator(rng)
    seen = (~np.isnan(y)).astype(float)
    n, m = y.shape
    people = resample_counts(n, n - 1, resamples, rng)
    items = resample_counts(m, m - 1, resamples, rng)
    answers = items @ seen.T
    totals = items @ np.nan_to_num(y).T
    # An annotator none of whose items came up says nothing in that resample.
    means = np.divide(totals, answers, out=np.zeros_like(totals), where=answers > 0)
    weights = people * (answers > 0)
    drawn = weights.sum(axis=1) > 0
    resampled = (weights * means).sum(axis=1)[drawn] / weights.sum(axis=1)[drawn]
    return np.asarray(resampled.std(ddof=1)), _expected_df(y, seen)


def _expected_df(y: Floats, seen: Floats) -> Floats:
    n, m = y.shape
    parts = variance_components(y)
    per_annotator = n / (1 / seen.sum(axis=1)).sum()
    per_item = m / (1 / seen.sum(axis=0)).sum()
    annotators = (parts.annotator + parts.residual / per_annotator) / n
    items = (parts.item + parts.residual / per_item) / m
    residual = parts.residual / seen.sum()
    left = max(1, int(seen.sum()) - n - m + 1)
    df = satterthwaite(
        annotators + items - residual, (annotators, n - 1), (items, m - 1), (residual, left)
    )
    return within(np.nan_to_num(df, nan=n - 1), n - 1, m - 1)

"""Bootstraps: their generator, the percentile interval, and what comes up how often."""

import numpy as np

from scoring.core.variance import Floats

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

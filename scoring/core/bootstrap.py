"""Bootstraps: percentile intervals over contexts and episodes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scoring.core.intervals import check_level
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


# A limit that lies between two items must not depend on the seed.
CONSENSUS_RESAMPLES = 10_000


def consensus_interval(
    tasks: Sequence[tuple[ArrayLike, ArrayLike]],
    *,
    level: float = 0.95,
    resamples: int = CONSENSUS_RESAMPLES,
    rng: np.random.Generator | None = None,
) -> tuple[float, float]:
    """Percentile limits of the mean over tasks of a consensus's mean score, from its score on each
    item and the items' contexts, a pair for each task, whose contexts are drawn apart. A bootstrap
    shows no error that its sample lacks: around 100 % it would have no width. So the limits are at
    least as far from 0 and 1 as a sample that is all right, or all wrong, leaves them.

    `rng` draws them (a fixed seed without one). Raises ValueError without a task or a score of one,
    unless there is one context for each score, or for a level outside (0, 1)."""
    check_level(level)
    if not tasks:
        raise ValueError("A consensus needs a task.")
    chance = generator(rng)
    pairs = [_checked(scores, contexts) for scores, contexts in tasks]
    drawn = [_resampled(scores, contexts, resamples, chance) for scores, contexts in pairs]
    low, high = percentile_limits(np.mean(drawn, axis=0), level)
    unseen = _unseen([int(contexts.max()) + 1 for _, contexts in pairs], level)
    return min(low, 1 - unseen), max(high, unseen)


def _unseen(contexts: Sequence[int], level: float) -> float:
    """The largest mean error, over tasks of so many contexts, that stays unseen in all of them with
    a chance of (1 − level)/2.

    Of one task that is Clopper and Pearson's (1934). Of several it lies where most of it hides, in
    the smallest: 1 − error is in proportion to the contexts, where there is any (Lagrange). What
    is right in part is no likelier to be all right than its score, so that this holds for any.
    """
    k = np.sort(np.asarray(contexts, float))
    # By how many of the smallest tasks have any: the logarithm of 1 − error in a task of one.
    most = (np.log((1 - level) / 2) - np.cumsum(k * np.log(k))) / np.cumsum(k)
    has_any = most + np.log(k) < 0
    share = np.exp(most[has_any][-1])
    return float(np.maximum(1 - share * k, 0).mean())


def _checked(scores: ArrayLike, contexts: ArrayLike) -> tuple[Floats, np.ndarray]:
    y, labels = np.asarray(scores, float), np.asarray(contexts)
    if y.ndim != 1 or not len(y) or y.shape != labels.shape:
        raise ValueError(f"There are {y.size} scores and {labels.size} contexts; give one each.")
    return y, np.unique(labels, return_inverse=True)[1]


def _resampled(
    scores: Floats, contexts: np.ndarray, resamples: int, rng: np.random.Generator
) -> Floats:
    """The mean over the items of each resample of contexts."""
    number = int(contexts.max()) + 1
    sums, sizes = np.bincount(contexts, scores), np.bincount(contexts)
    counts = resample_counts(number, number, resamples, rng)
    return np.asarray((counts @ sums) / (counts @ sizes))


ENOUGH_EPISODES = 20
COVERS_LESS = (
    f"Over fewer than {ENOUGH_EPISODES} episodes an interval covers less: 84 % with 5, 88 % with 8."
)


@dataclass(frozen=True)
class EpisodeScore:
    """The score over episodes: mean, SD (ddof 0, as FLEX reports it) and percentile-bootstrap
    interval."""

    mean: float
    sd: float
    low: float
    high: float
    episodes: int


def episode_score(
    scores: ArrayLike,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    rng: np.random.Generator | None = None,
) -> EpisodeScore:
    """Combine one score per episode. Raises ValueError without any or with one missing."""
    check_level(level)
    y = np.asarray(scores, float)
    if y.ndim != 1 or not y.size or not np.isfinite(y).all():
        raise ValueError("Give one score for each episode; none may be missing.")
    counts = resample_counts(len(y), len(y), resamples, generator(rng))
    low, high = percentile_limits(counts @ y / len(y), level)
    return EpisodeScore(float(y.mean()), float(y.std()), low, high, len(y))

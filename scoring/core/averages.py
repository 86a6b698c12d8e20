"""Figures over tasks, each of which has people and items of its own, and over episodes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scoring.core.bootstrap import RESAMPLES, generator, percentile_limits, resample_counts
from scoring.core.comparison import PairedDifference, t_test
from scoring.core.intervals import CellInterval, check_level
from scoring.core.variance import Floats
from scoring.core.wilson import t_quantile, wilson_limits


@dataclass(frozen=True)
class TaskAggregate:
    """Over T tasks: the mean of their means, and the SD of that mean, √(Σ sd²)/T.

    root_sum_sd is √(Σ sd²), which the CLUES leaderboard prints in its place.
    """

    mean: float
    sd: float
    root_sum_sd: float
    tasks: int


def over_tasks(means: ArrayLike, sds: ArrayLike) -> TaskAggregate:
    """Combine one mean and one SD for each task; NaN wherever one of them is NaN."""
    mean, sd = np.asarray(means, float), np.asarray(sds, float)
    if mean.ndim != 1 or mean.shape != sd.shape or not mean.size:
        raise ValueError(f"There are {mean.size} means and {sd.size} SDs; give one pair per task.")
    root_sum = float(np.sqrt((sd**2).sum()))
    return TaskAggregate(float(mean.mean()), root_sum / len(sd), root_sum, len(sd))


@dataclass(frozen=True)
class AverageInterval:
    """The mean of the task means, for new people and new items, on the scale of the scores.

    se, df, low and high are NaN where a task has no interval. exploratory: a task has fewer than
    five annotators.
    """

    mean: float
    se: float
    df: float
    effective: float
    low: float
    high: float
    tasks: int
    exploratory: bool
    level: float


@dataclass(frozen=True)
class AverageDifference:
    """The mean of the tasks' differences; the other fields as in `AverageInterval`, t and p of the
    two-sided test. Takes a verdict as a `PairedDifference` does."""

    difference: float
    se: float
    df: float
    t: float
    p: float
    low: float
    high: float
    tasks: int
    exploratory: bool
    level: float


def average_interval(cells: Sequence[CellInterval], *, level: float = 0.95) -> AverageInterval:
    """Wilson's interval around the mean of these cells' means, one cell a task, people of its own.

    SE = √(Σ se²)/T over the cells' SEs with one more item; Satterthwaite's degrees of freedom over
    them; the effective number of answers from the mean of their means with one more item. Raises
    ValueError without a cell, or for cells whose intervals are for these items.
    """
    check_level(level)
    if not cells or any(cell.estimand != "new_items" for cell in cells):
        raise ValueError("An average needs cells whose intervals are for new items.")
    mean = float(np.mean([cell.mean for cell in cells]))
    se, df = _spread([cell.se for cell in cells], [cell.df for cell in cells])
    longer = float(np.mean([cell.mean_with_one_more for cell in cells]))
    effective = longer * (1 - longer) / se**2
    low, high = map(float, wilson_limits(mean, effective, t_quantile(df, level)))
    exploratory = any(cell.exploratory for cell in cells)
    return AverageInterval(mean, se, df, effective, low, high, len(cells), exploratory, level)


def average_difference(
    tests: Sequence[PairedDifference], *, level: float = 0.95
) -> AverageDifference:
    """Student's t around the mean of these differences, one a task, people of its own; SE and
    degrees of freedom as in `average_interval`, limits within [−1, 1]. Raises ValueError without a
    test."""
    check_level(level)
    if not tests:
        raise ValueError("An average needs a difference.")
    difference = float(np.mean([test.difference for test in tests]))
    se, df = _spread([test.se for test in tests], [test.df for test in tests])
    t, p, low, high = t_test(difference, se, df, level)
    exploratory = any(test.exploratory for test in tests)
    return AverageDifference(difference, se, df, t, p, low, high, len(tests), exploratory, level)


def _spread(ses: Sequence[float], dfs: Sequence[float]) -> tuple[float, float]:
    """SE and degrees of freedom of a mean of independent figures (Satterthwaite 1946)."""
    squares: Floats = np.square(np.asarray(ses, float))
    total = float(squares.sum())
    df = total**2 / float((squares**2 / np.asarray(dfs, float)).sum())
    return float(np.sqrt(total)) / len(ses), df


@dataclass(frozen=True)
class EpisodeScore:
    """Over episodes: mean, SD (ddof 0, as FLEX reports it) and percentile-bootstrap interval."""

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

"""A cell over several splits: annotators are nested in splits, and every split has the same items.

Five splits of three people are not fifteen people: those who learned from the same examples make
similar errors, so the split is the unit of the interval.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scoring.core.intervals import CellInterval, cell_interval, cluster_scores
from scoring.core.variance import Floats, score_matrix


@dataclass(frozen=True)
class SplitInterval:
    """A cell whose unit is the split, with both variance components.

    cell: mean, SD and interval over the splits (cell.n of them). annotators and annotator_sd: over
    all people. split_var, annotator_var: the components between splits and between annotators of
    one split, none below 0. With one annotator per split the two cannot be told apart: split_var
    holds both and annotator_var is NaN. With a single split split_var is NaN and the unit is the
    annotator. With missing scores both are NaN.
    """

    cell: CellInterval
    annotators: int
    annotator_sd: float
    split_var: float
    annotator_var: float


def split_interval(
    scores: ArrayLike,
    splits: ArrayLike,
    *,
    estimand: str = "new_items",
    level: float = 0.95,
    rng: np.random.Generator | None = None,
) -> SplitInterval:
    """Interval of annotators × items scores, with the split of each annotator.

    A split counts by its number of annotators, so the mean stays the mean over annotators. Raises
    ValueError as `cell_interval` does, and unless there is one split for each row.
    """
    y = score_matrix(scores)
    labels = np.unique(np.asarray(splits), return_inverse=True)[1]
    if labels.shape != (len(y),):
        raise ValueError(f"There are {len(y)} annotators but splits of shape {labels.shape}.")
    several = labels.max() > 0
    unit = cluster_scores(y.T, labels).T if several else y
    split_var, annotator_var = _components(y, labels)
    return SplitInterval(
        cell=cell_interval(unit, estimand=estimand, level=level, rng=rng),
        annotators=len(y),
        annotator_sd=float(np.nanmean(y, axis=1).std(ddof=1)) if len(y) > 1 else np.nan,
        split_var=split_var,
        annotator_var=annotator_var,
    )


def _components(y: Floats, labels: np.ndarray) -> tuple[float, float]:
    """From the mean squares of splits, annotators within splits, and their interactions with
    items."""
    sizes = np.bincount(labels)
    n, m, s = len(y), y.shape[1], len(sizes)
    if m < 2 or n < 2 or np.isnan(y).any():
        return np.nan, np.nan
    by_split = np.array([y[labels == k].mean(axis=0) for k in range(s)])
    inner = y - by_split[labels]
    outer = by_split[labels] - y.mean(axis=0)
    annotators = _excess(inner, n - s)
    between = _excess(outer, s - 1)
    if s == n:
        return max(0.0, between / m), np.nan
    if s == 1:
        return np.nan, max(0.0, annotators / m)
    size = float(n - (sizes**2).sum() / n) / (s - 1)
    split_var = float(between - annotators) / (m * size)
    return max(0.0, split_var), max(0.0, annotators / m)


def _excess(deviations: Floats, df: int) -> float:
    """A main effect's mean square less that of its interaction with items."""
    m = deviations.shape[1]
    means = deviations.mean(axis=1, keepdims=True)
    if df < 1:
        return np.nan
    main = m * (means**2).sum() / df
    crossed = ((deviations - means) ** 2).sum() / (df * (m - 1))
    return float(main - crossed)

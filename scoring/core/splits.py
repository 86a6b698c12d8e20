"""A cell over several splits: annotators are nested in splits, and every split has the same items.

The interval is for these shot sets (the splits are fixed), or for new shot sets as well: five
splits of three people are then not fifteen people, as those who learned from the same examples make
similar errors, and the split is the unit.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scoring.core.intervals import CellInterval, cell_interval, cluster_scores
from scoring.core.variance import Floats, group_numbers, score_matrix

SHOT_SETS = ("these", "new")
FEWEST_SPLITS = 3
"""From so few splits on, something can be said about new shot sets."""


@dataclass(frozen=True)
class SplitInterval:
    """A cell over its splits, with both variance components.

    cell: mean, SD and interval over annotators, or over splits where the shot sets are `new`.
    annotators and annotator_sd: over all people. split_var, annotator_var: the components between
    splits and between annotators of one split, none below 0. With one annotator per split the two
    cannot be told apart: split_var holds both and annotator_var is NaN. With a single split
    split_var is NaN. With missing scores both are NaN.
    """

    cell: CellInterval
    shot_sets: str
    annotators: int
    annotator_sd: float
    splits: int
    split_var: float
    annotator_var: float


def split_interval(
    scores: ArrayLike,
    splits: ArrayLike,
    *,
    estimand: str = "new_items",
    shot_sets: str = "these",
    level: float = 0.95,
) -> SplitInterval:
    """Interval of annotators × items scores, with the split of each annotator.

    For `these` shot sets the annotators' variance is pooled within splits; with one annotator per
    split they are the units, as in one split. For `new` ones a split is a unit that counts by its
    number of annotators, so that the mean stays the same. Raises ValueError as `cell_interval`
    does, for fewer than three splits of new shot sets, and unless there is one split for each row.
    """
    y = score_matrix(scores)
    labels = group_numbers(splits, len(y))
    number = int(labels.max()) + 1
    _check(shot_sets, number)
    if shot_sets == "new":
        units = cluster_scores(y.T, labels).T
        cell = cell_interval(units, estimand=estimand, level=level)
    else:
        cell = cell_interval(y, estimand=estimand, level=level, groups=labels)
    split_var, annotator_var = _components(y, labels)
    return SplitInterval(
        cell=cell,
        shot_sets=shot_sets,
        annotators=len(y),
        annotator_sd=float(np.nanmean(y, axis=1).std(ddof=1)) if len(y) > 1 else np.nan,
        splits=number,
        split_var=split_var,
        annotator_var=annotator_var,
    )


def _check(shot_sets: str, splits: int) -> None:
    if shot_sets not in SHOT_SETS:
        raise ValueError(f"The shot sets are {shot_sets!r}; they must be one of {SHOT_SETS}.")
    if shot_sets == "new" and splits < FEWEST_SPLITS:
        raise ValueError(
            f"An interval for new shot sets needs {FEWEST_SPLITS} splits; this cell has {splits}."
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

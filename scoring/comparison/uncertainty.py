"""The uncertainty of a cell: both intervals, the guard band, and where scores vary."""

from dataclasses import dataclass

import numpy as np

from scoring.comparison.cells import Cell
from scoring.comparison.rows import percent
from scoring.core.intervals import CellInterval, cluster_scores, guard_band
from scoring.core.splits import split_interval
from scoring.core.variance import variance_components


@dataclass(frozen=True)
class Interval:
    """In percent; None where undefined."""

    low: float | None
    high: float | None
    se: float | None
    df: float
    method: str


@dataclass(frozen=True)
class Uncertainty:
    """Components are variances of scores in [0, 1], as the planner takes them."""

    mean: float | None
    sd: float | None
    sd_ddof0: float | None
    n: int
    m: int
    new_items: Interval
    these_items: Interval
    # Beside the interval for n < 5; None elsewhere.
    guard: Interval | None
    annotator_var: float
    item_var: float
    residual_var: float
    splits: int
    split_var: float
    within_split_var: float


def uncertainty(cell: Cell, *, seed: int) -> Uncertainty:
    """Of a cell in which somebody answered something."""
    scores = cluster_scores(cell.scores, cell.clusters)
    new, these = (
        split_interval(scores, cell.splits, estimand=estimand, rng=np.random.default_rng(seed))
        for estimand in ("new_items", "these_items")
    )
    parts = variance_components(scores)
    means = np.nanmean(cell.scores, axis=1)
    guard = None
    if new.cell.exploratory:
        units = cluster_scores(cell.units, cell.clusters)
        guard = _interval(guard_band(units, rng=np.random.default_rng(seed)))
    return Uncertainty(
        mean=percent(new.cell.mean),
        sd=percent(new.annotator_sd),
        sd_ddof0=percent(float(means.std())) if len(means) > 1 else None,
        n=new.annotators,
        m=new.cell.m,
        new_items=_interval(new.cell),
        these_items=_interval(these.cell),
        guard=guard,
        annotator_var=parts.annotator,
        item_var=parts.item,
        residual_var=parts.residual,
        splits=len(set(cell.splits)),
        split_var=new.split_var,
        within_split_var=new.annotator_var,
    )


def _interval(found: CellInterval) -> Interval:
    return Interval(
        percent(found.low), percent(found.high), percent(found.se), found.df, found.method
    )

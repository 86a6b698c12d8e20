"""The uncertainty of a cell: both intervals, the guard band, and where scores vary."""

from dataclasses import dataclass, replace

import numpy as np

from scoring.cells.cell_rows import cell_figures, guard_of
from scoring.cells.cells import Cell
from scoring.cells.rows import known, percent
from scoring.cells.scope import Choices
from scoring.core.intervals import NO_INTERVAL, CellInterval, cluster_scores
from scoring.core.variance import variance_components


@dataclass(frozen=True)
class Interval:
    """In percent; None where undefined."""

    low: float | None
    high: float | None
    se: float | None
    df: float | None
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
    # For n < 5, of two in place of the interval for new items; None elsewhere.
    guard: Interval | None
    # The range of the mean without any one annotator, and how many are unlike the others.
    without_low: float | None
    without_high: float | None
    flagged: int
    annotator_var: float | None
    item_var: float | None
    residual_var: float | None
    splits: int
    shot_sets: str | None
    split_var: float | None
    within_split_var: float | None
    notes: str


def uncertainty(cell: Cell, choices: Choices) -> Uncertainty:
    """Of a cell in which somebody answered something."""
    new, these = (
        cell_figures(cell, replace(choices, estimand=estimand))
        for estimand in ("new_items", "these_items")
    )
    parts = variance_components(cluster_scores(cell.scores, cell.clusters))
    means = np.nanmean(cell.scores, axis=1)
    guard, without = guard_of(cell, new), cell.without_each
    return Uncertainty(
        mean=percent(new.cell.mean),
        sd=percent(float(means.std(ddof=1))) if len(means) > 1 else None,
        sd_ddof0=percent(float(means.std())) if len(means) > 1 else None,
        n=new.annotators,
        m=new.cell.m,
        new_items=_interval(None if new.cell.n == 2 else new.cell),
        these_items=_interval(these.cell),
        guard=None if guard is None else _interval(guard),
        without_low=percent(without.low),
        without_high=percent(without.high),
        flagged=sum(annotator.flagged for annotator in without.annotators),
        annotator_var=known(parts.annotator),
        item_var=known(parts.item),
        residual_var=known(parts.residual),
        splits=len(set(cell.splits)),
        shot_sets=new.shot_sets if new.splits > 1 else None,
        split_var=known(new.split_var),
        within_split_var=known(new.annotator_var),
        notes=" ".join(dict.fromkeys((*new.cell.notes, *these.cell.notes))),
    )


def _interval(interval: CellInterval | None) -> Interval:
    if interval is None:
        return Interval(None, None, None, None, NO_INTERVAL)
    return Interval(
        percent(interval.low),
        percent(interval.high),
        percent(interval.se),
        known(interval.df),
        interval.method,
    )

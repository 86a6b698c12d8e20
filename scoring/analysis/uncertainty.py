"""How sure the figures of a cell are: both intervals, the guard band, where scores vary; what its
annotators answer together, and how far they agree. The columns: tables.toml."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from scoring.cells.cell_rows import answers_by_item, cell_figures
from scoring.cells.cells import Cell, known, percent
from scoring.cells.rows import Row
from scoring.cells.scope import Choices
from scoring.core.agreement import Agreement, alpha_interval, pairwise_s1_interval
from scoring.core.intervals import NO_INTERVAL, PAIR, CellInterval, guard_band
from scoring.core.variance import variance_components

# A line of a table, by the keys of its columns, as it is kept.
Record = Mapping[str, Any]


def uncertainty(cell: Cell, choices: Choices) -> Record:
    """The intervals of a cell in which somebody answered something."""
    new, these = (
        cell_figures(cell, replace(choices, estimand=estimand))
        for estimand in ("new_items", "these_items")
    )
    parts = variance_components(cell.clustered)
    means = np.nanmean(cell.scores, axis=1)
    without = cell.without_each
    guard = guard_band(cell.scores, clusters=cell.clusters)
    return {
        "mean": percent(new.cell.mean),
        "sd": percent(float(means.std(ddof=1))) if len(means) > 1 else None,
        "sd_ddof0": percent(float(means.std())) if len(means) > 1 else None,
        "n": new.annotators,
        "m": new.cell.m,
        # Of two people, the guard band stands in place of the interval for new items.
        **_interval("new_items", None if new.cell.n == PAIR else new.cell),
        **_interval("these_items", these.cell),
        **_interval("guard", guard if new.cell.n == PAIR else None),
        "without_low": percent(without.low),
        "without_high": percent(without.high),
        "flagged": without.flagged,
        "annotator_var": known(parts.annotator),
        "item_var": known(parts.item),
        "residual_var": known(parts.residual),
        "splits": len(set(cell.splits)),
        "shot_sets": new.shot_sets if new.splits > 1 else None,
        "split_var": known(new.split_var),
        "within_split_var": known(new.annotator_var),
        "notes": " ".join(dict.fromkeys((*new.cell.notes, *these.cell.notes))),
    }


def _interval(name: str, interval: CellInterval | None) -> Record:
    """The limits in percent; None where undefined."""
    if interval is None:
        return {f"{name}_method": NO_INTERVAL}
    return {
        f"{name}_low": percent(interval.low),
        f"{name}_high": percent(interval.high),
        f"{name}_df": known(interval.df),
        f"{name}_method": interval.method,
    }


def agreement(cell: Cell, together: Row | None, *, seed: int) -> Record:
    """The agreement of a cell of two people or more, with the row of what they answer together."""
    units = answers_by_item(cell)

    def chance() -> np.random.Generator:
        return np.random.default_rng(seed)

    return {
        "consensus": together.mean if together else None,
        "consensus_low": together.ci_low if together else None,
        "consensus_high": together.ci_high if together else None,
        "n": len(cell.scores),
        "items": together.items if together else None,
        **_limits("masi", alpha_interval(units, cell.clusters, distance="masi", rng=chance())),
        **_limits("pairwise_s1", pairwise_s1_interval(units, cell.clusters, rng=chance())),
        **_limits(
            "nominal", alpha_interval(units, cell.clusters, distance="nominal", rng=chance())
        ),
    }


def _limits(name: str, measured: Agreement) -> Record:
    return {
        name: known(measured.value),
        f"{name}_low": known(measured.low),
        f"{name}_high": known(measured.high),
    }

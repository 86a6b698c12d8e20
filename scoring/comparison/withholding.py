"""Withholding: what a comparison shows to whoever may not see the gold.

Of systems a mean, and its SD over splits, both from the rounded means of whole and well-formed runs
(scoring/comparison/rows.py); nothing that follows from single items. People show no score while
their study is not closed: the reader might join, and see what each answer does to the mean.
Afterwards their figures are rounded, and a single person shows a mean alone.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from scoring.comparison.comparing import ComparisonTable
from scoring.comparison.floors import Bound
from scoring.comparison.over_tasks import Aggregate, aggregates
from scoring.comparison.rows import Row, released
from scoring.comparison.verdicts import Verdicts

# The figures of a row that rest on single items, and what is said about them.
LIMITS = ("ci_low", "ci_high", "guard_low", "guard_high")
OF_INTERVALS = ("m", *LIMITS, "ci_method", "estimand", "units")
SCORES = ("mean", "sd", *LIMITS)
# Beside the mean of a cell they tell one person's score.
OF_PERSONS = ("without_low", "without_high", "flagged", "se", "df")
_NOTHING: dict[str, Any] = dict.fromkeys((*OF_INTERVALS, *OF_PERSONS, "notes"))
_OF_PERSONS: dict[str, Any] = dict.fromkeys(OF_PERSONS)


def withheld_table(table: ComparisonTable) -> ComparisonTable:
    rows = tuple(_withheld(row, table.interim) for row in table.rows)
    return replace(
        table,
        rows=rows,
        consensus=tuple(_withheld(row, table.interim) for row in table.consensus),
        bounds=tuple(map(withheld_bound, table.bounds)),
        # A verdict and its limits follow from single items.
        verdicts=Verdicts(),
        averages=tuple(map(withheld_aggregate, _averages(table, rows))),
    )


def _averages(table: ComparisonTable, rows: Sequence[Row]) -> list[Aggregate]:
    """Over the same tasks, of what is left of the rows."""
    tasks = next((average.tasks for average in table.averages), ())
    return aggregates(rows, tasks)


def _withheld(row: Row, interim: Collection[str]) -> Row:
    if row.study in interim and row.kind != "simulated":
        return replace(row, mean=None, sd=None, **_NOTHING)
    return withheld_row(row)


def withheld_row(row: Row) -> Row:
    if row.kind == "reported":
        return row
    if row.kind == "run":
        return replace(row, mean=row.released_mean, sd=row.released_sd, **_NOTHING)
    if row.single or row.kind == "consensus" or row.n == 1:
        return replace(row, mean=_rounded(row.mean), sd=None, **_NOTHING)
    figures: dict[str, Any] = {name: _rounded(getattr(row, name)) for name in SCORES}
    return replace(row, **figures, **_OF_PERSONS)


def withheld_bound(bound: Bound) -> Bound:
    return replace(bound, score=released(bound.score))


def withheld_aggregate(aggregate: Aggregate) -> Aggregate:
    """Its parts are withheld already."""
    return replace(
        aggregate,
        mean=released(aggregate.mean),
        sd=_rounded(aggregate.sd),
        clues_sd=_rounded(aggregate.clues_sd),
        low=None,
        high=None,
        df=None,
    )


def _rounded(percent: float | None) -> float | None:
    return None if percent is None else released(percent)

"""The figures of a bundle as tables. Those under different policies never share a column."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from annotation.models import ReferencePolicy
from scoring.cells.rows import BY_KEY
from scoring.comparison.row_tables import ESTIMANDS
from scoring.core.s1 import REFERENCE_POLICIES
from scoring.tables.table import Cell, Column, Line, Table

COLUMNS = (
    replace(BY_KEY["task"], is_name=True),
    BY_KEY["shots"],
    replace(BY_KEY["mean"], heading="Mean S1, %"),
    replace(BY_KEY["sd"], heading="SD"),
    replace(BY_KEY["n"], heading="n"),
    BY_KEY["m"],
    replace(BY_KEY["ci_method"], heading="Interval by"),
    BY_KEY["gold_version"],
    Column(
        "who",
        "Who counts",
        "People or simulated annotators; with or without excluded assignments.",
        is_number=False,
    ),
)


def figure_tables(figures: Sequence[Mapping[str, Any]]) -> Iterator[Table]:
    """One for each policy and estimand that has figures."""
    for estimand, references in product(ESTIMANDS, reversed(REFERENCE_POLICIES)):
        rows = [f for f in figures if (f["references"], f["asked"]) == (references, estimand)]
        if rows:
            yield _table(rows, references, estimand)


def _table(rows: Iterable[Mapping[str, Any]], references: str, estimand: str) -> Table:
    title = f"Intervals for {ESTIMANDS[estimand]}, references: {ReferencePolicy(references).label}"
    lines = tuple(Line(_cells(row)) for row in rows)
    return Table(f"figures-{estimand}-{references}", title, "", COLUMNS, lines)


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    shown = {column.key: row.get(column.key) for column in COLUMNS}
    shown["mean"] = Cell(row["mean"], low=row["ci_low"], high=row["ci_high"])
    shown["who"] = _who(row)
    return shown


def _who(row: Mapping[str, Any]) -> str:
    who = "simulated" if row["kind"] == "simulated" else "people"
    return f"{who}, with excluded" if row["with_excluded"] else who

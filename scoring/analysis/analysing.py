"""Analysing: everything about a comparison that takes too long for a page."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from scoring.analysis.curves import Curve, curves
from scoring.analysis.tables import (
    ALL,
    AVERAGE_TESTS,
    AVERAGES,
    CHANGES,
    CURVES,
    SYSTEMS,
    TESTS,
    excluded_record,
)
from scoring.analysis.uncertainty import Record, agreement, uncertainty
from scoring.cells.cells import Cell, CellReader
from scoring.cells.rows import RowKind
from scoring.cells.scope import Choices, Scope
from scoring.comparison.comparing import Comparison, compare, whole_of
from scoring.comparison.keeping import Progress, Store
from scoring.models import Part
from scoring.tables.table import Table, lines_of, records_of
from scoring.tests.verdicts import between_shots, between_systems


@dataclass(frozen=True)
class Analysis:
    """The lines of each table, as they are exported; but curves have their points within."""

    tests: tuple[Record, ...] = ()
    systems: tuple[Record, ...] = ()
    changes: tuple[Record, ...] = ()
    uncertainty: tuple[Record, ...] = ()
    agreement: tuple[Record, ...] = ()
    curves: tuple[Curve, ...] = ()
    aggregates: tuple[Record, ...] = ()
    average_tests: tuple[Record, ...] = ()
    excluded: tuple[Record, ...] = ()


STORE = Store(
    Part.ANALYSIS,
    Analysis,
    9,
    "analyse_comparison",
    columns=tuple(key for table in ALL for key in table.keys),
)


def analyse(scope: Scope, choices: Choices, progress: Progress = lambda *_: None) -> Analysis:
    """Every figure beyond the table itself."""
    reader = CellReader(whole_of(choices))
    # The uncertainty of figures over episodes is shown on their own board.
    people = [
        cell
        for cell in reader.people_of(scope.studies)
        if cell.answered.any() and not cell.is_of_episodes and choices.wants(cell.shots)
    ]
    steps = len(people) + 3
    table = compare(scope, choices, reader)
    sure, agreed = [], []
    for number, cell in enumerate(people):
        progress(number, steps, f"{cell.task}, {cell.shots} shots")
        about = _about(cell, reader)
        sure.append({**about, **uncertainty(cell, choices)})
        if len(cell.scores) > 1:
            together = table.consensus_of(cell)
            agreed.append({**about, **agreement(cell, together, seed=choices.seed)})
    progress(len(people), steps, "differences")
    systems = [
        cell
        for task in scope.tasks
        for cell in reader.systems(task)
        if cell.answered.any() and choices.wants(cell.shots)
    ]
    between = between_systems(systems, margin=scope.study.margin if scope.study else 0.0)
    progress(len(people) + 1, steps, "learning curves")
    learned = [
        curve
        for study in scope.studies
        for simulated in reader.kinds
        for curve in curves(study, reader, simulated=simulated)
        if choices.wants(curve["shots"])
    ]
    progress(len(people) + 2, steps, "over tasks")
    return Analysis(
        tests=records_of(TESTS.columns, [test for test in table.tests if not test.is_reported]),
        systems=records_of(SYSTEMS.columns, between),
        # Of some shots alone the next lower ones are others.
        changes=records_of(
            CHANGES.columns, between_shots(people) if choices.shots else table.changes
        ),
        uncertainty=tuple(sure),
        agreement=tuple(agreed),
        curves=tuple(learned),
        aggregates=records_of(AVERAGES.columns, table.averages),
        average_tests=records_of(AVERAGE_TESTS.columns, table.average_tests),
        excluded=_excluded(table),
    )


def _about(cell: Cell, reader: CellReader) -> dict[str, Any]:
    return {
        "study": cell.study.slug if cell.study else None,
        "simulated": cell.simulated,
        "task": cell.task.slug,
        "shots": cell.shots,
        **reader.scored_under(cell.task),
    }


def _excluded(table: Comparison) -> tuple[Record, ...]:
    of_people = [pair for pair in table.excluded if pair[1].kind == RowKind.HUMAN]
    of_people.sort(key=lambda pair: (pair[1].study or "", pair[1].task))
    return tuple(excluded_record(*pair) for pair in of_people)


def filled(table: Table, analysis: Analysis) -> Table:
    records: Iterable[Record] = getattr(analysis, table.name.replace("-", "_"))
    if table is CURVES:
        records = [{**curve, **point} for curve in analysis.curves for point in curve["points"]]
    return replace(table, lines=lines_of(records))


def analysis_tables(analysis: Analysis) -> list[Table]:
    """Every table of a kept analysis; those without rows are left out."""
    return [table for table in (filled(table, analysis) for table in ALL) if table.lines]

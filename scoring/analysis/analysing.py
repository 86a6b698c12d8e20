"""Analysing: everything about a comparison that takes too long for a page."""

from dataclasses import dataclass

from scoring.analysis.agreement import CellAgreement, cell_agreement
from scoring.analysis.curves import Curve, curves
from scoring.analysis.uncertainty import Uncertainty, uncertainty
from scoring.cells.cells import Cell, CellReader
from scoring.cells.rows import Row
from scoring.cells.scope import Choices, Scope
from scoring.comparison.comparing import Comparison, WithExcluded, compare, whole_of
from scoring.comparison.keeping import Progress, Store
from scoring.models import Part
from scoring.tests.averages import Average
from scoring.tests.differences import Difference
from scoring.tests.verdicts import between_shots, between_systems


@dataclass(frozen=True)
class AnalysedCell:
    study: str | None
    simulated: bool
    task: str
    shots: int | str
    references: str
    normalisation: str
    gold_version: int
    uncertainty: Uncertainty
    # Of two annotators or more.
    agreement: CellAgreement | None
    consensus: Row | None


@dataclass(frozen=True)
class Analysis:
    """What is computed here, beside what the comparison has of the same inputs."""

    cells: tuple[AnalysedCell, ...] = ()
    tests: tuple[Difference, ...] = ()
    systems: tuple[Difference, ...] = ()
    changes: tuple[Difference, ...] = ()
    curves: tuple[Curve, ...] = ()
    averages: tuple[Average, ...] = ()
    average_tests: tuple[Difference, ...] = ()
    excluded: tuple[WithExcluded, ...] = ()


STORE = Store(Part.ANALYSIS, Analysis, 8, "analyse_comparison")


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
    cells = []
    for number, cell in enumerate(people):
        progress(number, steps, f"{cell.task}, {cell.shots} shots")
        cells.append(_about(cell, table, choices))
    progress(len(people), steps, "differences")
    systems = [
        cell
        for task in scope.tasks
        for cell in reader.systems(task)
        if cell.answered.any() and choices.wants(cell.shots)
    ]
    margin = scope.study.margin if scope.study else 0.0
    between = between_systems(systems, margin=margin)
    progress(len(people) + 1, steps, "learning curves")
    learned = [
        curve
        for study in scope.studies
        for simulated in reader.kinds
        for curve in curves(study, reader, simulated=simulated)
        if choices.wants(curve.shots)
    ]
    progress(len(people) + 2, steps, "over tasks")
    return Analysis(
        cells=tuple(cells),
        tests=tuple(test for test in table.tests if not test.is_reported),
        systems=tuple(between),
        # Of some shots alone the next lower ones are others.
        changes=tuple(between_shots(people)) if choices.shots else table.changes,
        curves=tuple(learned),
        averages=table.averages,
        average_tests=table.average_tests,
        excluded=tuple(cell for cell in table.excluded if not cell.including.is_simulated),
    )


def _about(cell: Cell, table: Comparison, choices: Choices) -> AnalysedCell:
    study = cell.study.slug if cell.study else None
    where = study, cell.simulated, cell.task.slug, cell.shots
    is_several = len(cell.scores) > 1
    return AnalysedCell(
        *where,
        references=cell.references,
        normalisation=cell.normalisation,
        gold_version=cell.gold_version,
        uncertainty=uncertainty(cell, choices),
        agreement=cell_agreement(cell, seed=choices.seed) if is_several else None,
        consensus=table.consensus_of(cell) if is_several else None,
    )

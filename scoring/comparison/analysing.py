"""Analysing: everything about a comparison that takes too long for a page."""

from dataclasses import replace
from typing import Any, cast

from annotation.models import Study
from scoring.comparison.agreement import accord
from scoring.comparison.cache import Progress
from scoring.comparison.cell_rows import cell_row
from scoring.comparison.cells import Cell, CellReader, Choices
from scoring.comparison.comparing import compare
from scoring.comparison.curves import curves
from scoring.comparison.differences import against_systems, between_shots
from scoring.comparison.pooled import pooled_tasks
from scoring.comparison.rows import Row
from scoring.comparison.scope import Scope
from scoring.comparison.stored import AnalysedCell, Analysis, Sides
from scoring.comparison.to_json import plain
from scoring.comparison.uncertainty import uncertainty
from scoring.comparison.verdicts import between_systems, judged


def analyse(scope: Scope, choices: Choices, progress: Progress) -> dict[str, Any]:
    """Every figure beyond the table itself, as JSON keeps it."""
    reader = CellReader(choices)
    studies = scope.studies
    # The uncertainty of figures over episodes is shown on their own board.
    people = [
        cell
        for cell in reader.people_of(studies)
        if cell.answered.any() and not cell.is_of_episodes
    ]
    systems = [cell for task in scope.tasks for cell in reader.systems(task) if cell.answered.any()]
    steps = len(people) + 4
    cells = []
    for number, cell in enumerate(people):
        progress(number, steps, f"{cell.task}, {cell.shots} shots")
        cells.append(_about(cell, choices))
    progress(len(people), steps, "differences")
    table = compare(scope, choices)
    tests = against_systems(people, systems, seed=choices.seed)
    margin = scope.study.margin if scope.study else 0.0
    changes = between_shots(people, seed=choices.seed)
    progress(len(people) + 1, steps, "learning curves")
    learned = [
        curve
        for study in studies
        for simulated in ([False, True] if choices.simulated else [False])
        for curve in curves(study, reader, simulated=simulated)
    ]
    progress(len(people) + 2, steps, "annotators and items, pooled")
    pooled = pooled_tasks(people)
    progress(len(people) + 3, steps, "over tasks")
    analysis: dict[str, Any] = plain(
        Analysis(
            cells=tuple(cells),
            tests=tuple(judged(tests, table.verdicts.cells)),
            systems=tuple(between_systems(systems, margin=margin)),
            changes=tuple(changes),
            curves=tuple(learned),
            aggregates=table.averages,
            averages=table.verdicts.averages,
            excluded=tuple(_side_by_side(studies, choices)),
            pooled=tuple(pooled),
        )
    )
    return analysis


def _about(cell: Cell, choices: Choices) -> AnalysedCell:
    return AnalysedCell(
        study=cell.study.slug if cell.study else None,
        simulated=cell.simulated,
        task=cell.task.slug,
        shots=cell.shots,
        references=cell.references,
        normalisation=cell.normalisation,
        gold_version=cell.gold_version,
        uncertainty=uncertainty(cell, choices),
        accord=accord(cell, seed=choices.seed) if len(cell.scores) > 1 else None,
    )


def _side_by_side(studies: list[Study], choices: Choices) -> list[Sides]:
    """Each cell without and with its excluded annotators, where there are any."""
    rows: dict[tuple[str, str, str], dict[str, Row]] = {}
    for side, with_excluded in (("without", False), ("with", True)):
        reader = CellReader(replace(choices, with_excluded=with_excluded, simulated=False))
        answered = (cell for cell in reader.people_of(studies) if cell.answered.any())
        for cell in answered:
            row = cell_row(cell, reader.choices)
            rows.setdefault((row.study or "", row.task, str(row.shots)), {})[side] = row
    return [
        _sides(sides)
        for _, sides in sorted(rows.items(), key=lambda cell: cell[0][:2])
        if "without" not in sides or sides["without"].n != sides["with"].n
    ]


def _sides(sides: dict[str, Row]) -> Sides:
    row = sides["with"]
    where = {"study": row.study, "simulated": False, "task": row.task, "shots": row.shots}
    # Either side may be missing, which only the keys tell.
    return cast(Sides, {**where, **sides})

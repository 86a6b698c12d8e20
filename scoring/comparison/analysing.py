"""Analysing: everything about a comparison that takes longer than a page may."""

from dataclasses import asdict, replace
from typing import Any

from annotation.models import Study
from scoring.comparison.agreement import accord
from scoring.comparison.cache import Progress
from scoring.comparison.cells import Cell, CellReader, Choices
from scoring.comparison.comparing import compare
from scoring.comparison.curves import curves
from scoring.comparison.differences import against_systems, between_shots
from scoring.comparison.over_tasks import aggregates
from scoring.comparison.rows import cell_row
from scoring.comparison.scope import Scope
from scoring.comparison.to_json import plain
from scoring.comparison.uncertainty import uncertainty


def analyse(scope: Scope, choices: Choices, progress: Progress) -> dict[str, Any]:
    """Every figure beyond the table itself, as JSON keeps it."""
    reader = CellReader(choices)
    studies = scope.studies
    # What is not known about a figure over episodes, their own board tells.
    people = [cell for cell in _people(studies, reader) if not cell.is_of_episodes]
    systems = [cell for task in scope.tasks for cell in reader.systems(task) if cell.answered.any()]
    steps = len(people) + 3
    cells = []
    for number, cell in enumerate(people):
        progress(number, steps, f"{cell.task.slug}, {cell.shots} shots")
        cells.append(_about(cell, choices))
    progress(len(people), steps, "differences")
    tests = against_systems(people, systems, seed=choices.seed)
    changes = between_shots(people, seed=choices.seed)
    progress(len(people) + 1, steps, "learning curves")
    learned = [
        {**asdict(curve), "simulated": simulated}
        for study in studies
        for simulated in ([False, True] if choices.simulated else [False])
        for curve in curves(study, reader, simulated=simulated)
    ]
    progress(len(people) + 2, steps, "over tasks")
    rows = compare(scope, choices).rows
    every_task = list(dict.fromkeys(row.task for row in rows))
    return plain(
        {
            "cells": cells,
            "tests": tests,
            "changes": changes,
            "curves": learned,
            "aggregates": aggregates(rows, every_task),
            "excluded": _side_by_side(studies, choices),
        }
    )


def _people(studies: list[Study], reader: CellReader) -> list[Cell]:
    kinds = [False, True] if reader.choices.simulated else [False]
    return [
        cell
        for study in studies
        for simulated in kinds
        for cell in reader.people(study, simulated=simulated)
        if cell.answered.any()
    ]


def _about(cell: Cell, choices: Choices) -> dict[str, Any]:
    return {
        "study": cell.study.slug if cell.study else None,
        "simulated": cell.simulated,
        "task": cell.task.slug,
        "shots": cell.shots,
        "references": cell.references,
        "normalisation": cell.normalisation,
        "gold_version": cell.gold_version,
        "uncertainty": uncertainty(cell, seed=choices.seed),
        "accord": accord(cell, seed=choices.seed) if len(cell.scores) > 1 else None,
    }


def _side_by_side(studies: list[Study], choices: Choices) -> list[dict[str, Any]]:
    """Each cell without and with its excluded annotators, where there are any."""
    found: dict[tuple[str, str, int | str], dict[str, Any]] = {}
    for name, with_excluded in (("without", False), ("with", True)):
        reader = CellReader(replace(choices, with_excluded=with_excluded, simulated=False))
        for cell in _people(studies, reader):
            place = (cell.study.slug if cell.study else "", cell.task.slug, cell.shots)
            found.setdefault(place, {})[name] = asdict(cell_row(cell, reader.choices))
    return [
        {"study": study, "simulated": False, "task": task, "shots": shots, **sides}
        for (study, task, shots), sides in sorted(found.items(), key=lambda each: each[0][:2])
        if sides.get("without", {}).get("n") != sides.get("with", {}).get("n")
    ]

"""Analysing: everything about a comparison that takes longer than a page may.

An analysis is kept with the fingerprint of its inputs, its parameters, its seed and its scorer
version. When one of them changes it is stale: it is shown as such and computed again.
"""

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation import jobs
from annotation.models import Job, JobState, Study
from scoring.acts.comparing import compare
from scoring.analysis.accord import accord
from scoring.analysis.curves import curves
from scoring.analysis.differences import against_systems, between_shots
from scoring.analysis.over_tasks import aggregates
from scoring.analysis.plain import plain
from scoring.analysis.uncertainty import uncertainty
from scoring.cells import Cell, CellReader, Choices
from scoring.core.s1 import SCORER_VERSION
from scoring.matrices import digest
from scoring.models import Comparison
from scoring.rows import cell_row
from scoring.scope import Scope, inputs_fingerprint

JOB = "analyse_comparison"
# Goes up when an analysis holds other figures: what was kept before is not looked at again.
VERSION = 2
Progress = Callable[[int, int, str], None]


def kept_analysis(scope: Scope, choices: Choices) -> Comparison:
    """The kept analysis of these choices, however old; empty if there is none yet."""
    found = Comparison.objects.filter(**scope.columns, parameters_key=_key(choices))
    return found.select_related("job").first() or Comparison(
        **scope.columns,
        parameters_key=_key(choices),
        parameters=asdict(choices),
        seed=choices.seed,
        scorer_version=SCORER_VERSION,
    )


def is_stale(kept: Comparison, fingerprint: str) -> bool:
    return kept.fingerprint != fingerprint or kept.scorer_version != SCORER_VERSION


def order_analysis(
    scope: Scope, choices: Choices, *, fingerprint: str, author: User | None = None
) -> Comparison:
    """Have the analysis computed, unless somebody ordered the same already."""
    with transaction.atomic():
        kept, _ = Comparison.objects.select_for_update().get_or_create(
            **scope.columns,
            parameters_key=_key(choices),
            defaults={
                "parameters": asdict(choices),
                "seed": choices.seed,
                "scorer_version": SCORER_VERSION,
            },
        )
        if kept.job is None or kept.job.is_over:
            arguments = {"comparison": kept.pk, "fingerprint": fingerprint}
            kept.job = jobs.enqueue(JOB, arguments, author=author)
            kept.save(update_fields=["job"])
    return kept


def was_given_up(kept: Comparison, fingerprint: str) -> bool:
    """Whether computing it from just these inputs failed or was stopped: it is not ordered
    again by looking at it."""
    job = kept.job
    given_up = (JobState.FAILED, JobState.CANCELLED)
    return bool(job and job.state in given_up and job.arguments.get("fingerprint") == fingerprint)


def stop_analysis(kept: Comparison) -> None:
    if kept.job_id is not None:
        Job.objects.filter(pk=kept.job_id).update(cancel_requested=True)


def compute_analysis(comparison_id: int, *, at: datetime, progress: Progress) -> Comparison:
    """Compute an ordered analysis and keep it. The same inputs give the same figures, so a
    second run does no harm."""
    kept = Comparison.objects.select_related("study__benchmark", "benchmark").get(pk=comparison_id)
    scope = Scope(kept.study.benchmark if kept.study else kept.benchmark, kept.study)
    shots = tuple(kept.parameters["shots"])
    choices = Choices(**{**kept.parameters, "shots": shots})
    # Taken first: what changes meanwhile makes the result stale at once.
    fingerprint = inputs_fingerprint(scope, CellReader(choices))
    kept.result = plain(analyse(scope, choices, progress))
    kept.fingerprint = fingerprint
    kept.scorer_version = SCORER_VERSION
    kept.computed_at = at
    kept.save(update_fields=["result", "fingerprint", "scorer_version", "computed_at"])
    return kept


def analyse(scope: Scope, choices: Choices, progress: Progress) -> dict[str, Any]:
    """Every figure beyond the table itself."""
    reader = CellReader(choices)
    studies = scope.studies
    people = _people(studies, reader)
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
    return {
        "cells": cells,
        "tests": tests,
        "changes": changes,
        "curves": learned,
        "aggregates": aggregates(rows, every_task),
        "excluded": _side_by_side(studies, choices),
    }


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


def _key(choices: Choices) -> str:
    return digest(asdict(choices), VERSION)

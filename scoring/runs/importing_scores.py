"""Importing figures that are known only as published.

A figure is known by its benchmark, task, kind, system, method, parameters, references, source
and shots. Importing the same figure again changes nothing. A changed one is refused: what was
published does not change; to correct a slip, delete the stored figure first (in the admin).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction

from annotation.models import Benchmark
from annotation.models.errors import BadInput
from scoring.models import ReportedScore, shots_label
from scoring.runs.formats.records import ReadOptions, Refused, over
from scoring.runs.formats.reported import ReadScore, read

FIGURES = ("mean", "sd", "n")


@dataclass
class ScoresReport:
    file: str
    added: int = 0
    unchanged: int = 0
    refused: list[str] = field(default_factory=list)
    # Tasks whose data are not imported: their figures are stored all the same.
    tasks_not_there: list[str] = field(default_factory=list)


def import_scores(*, path: Path, benchmark: Benchmark, options: ReadOptions) -> ScoresReport:
    """Every figure of a file. Raises BadInput if none can be used."""
    report = ScoresReport(path.name)
    with transaction.atomic():
        for record in read(path, options):
            if isinstance(record, Refused):
                report.refused.append(f"{record.where}: {record.reason}")
            else:
                _store(record, benchmark, options, report)
    if not report.added and not report.unchanged:
        why = report.refused[0] if report.refused else f"{path.name} holds none."
        raise BadInput(f"No figure was imported. {why}")
    report.tasks_not_there = _not_there(benchmark)
    return report


def _store(
    score: ReadScore, benchmark: Benchmark, options: ReadOptions, report: ScoresReport
) -> None:
    run = over(score.run, options.run)
    if run.benchmark not in ("", benchmark.name):
        report.refused.append(
            f"{score.where}: the figure is about the benchmark “{run.benchmark}”, "
            f"not {benchmark.name}."
        )
        return
    figures = {name: getattr(score, name) for name in FIGURES}
    stored, is_new = ReportedScore.objects.get_or_create(
        benchmark=benchmark,
        task=run.task,
        kind=score.kind,
        system=run.system,
        method=run.method,
        parameters=run.parameters,
        shots=score.shots,
        references=score.references,
        source=score.source,
        defaults=figures,
    )
    differing = [name for name in FIGURES if getattr(stored, name) != figures[name]]
    if is_new:
        report.added += 1
    elif not differing:
        report.unchanged += 1
    else:
        report.refused.append(f"{score.where}: {_difference(stored, figures, differing)}")


def _difference(
    stored: ReportedScore, figures: dict[str, float | None], differing: Iterable[str]
) -> str:
    said = ", ".join(f"{name} {getattr(stored, name)}, not {figures[name]}" for name in differing)
    return (
        f"{stored.system} on {stored.task} with {shots_label(stored.shots)} shots is stored with "
        f"{said}; delete the stored figure in the admin if the file is right."
    )


def _not_there(benchmark: Benchmark) -> list[str]:
    figures = ReportedScore.objects.filter(benchmark=benchmark).order_by("task")
    there = benchmark.tasks.values("slug")
    return list(figures.exclude(task__in=there).values_list("task", flat=True).distinct())

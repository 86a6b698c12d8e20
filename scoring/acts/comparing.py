"""Comparing: people and systems on the same test items, as rows of one table.

Everything is scored with one code, at the latest gold version of each task.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.models import Benchmark, Study, Task
from scoring.analysis.floors import Bound, bounds
from scoring.cells import CellReader, Choices
from scoring.models import ReportedScore, shots_label
from scoring.rows import Row, annotator_rows, as_plain, cell_row


@dataclass(frozen=True)
class ComparisonTable:
    benchmark: str
    study: str | None
    choices: Choices
    rows: tuple[Row, ...]
    # The floors and ceilings that the figures are read against.
    bounds: tuple[Bound, ...] = ()

    @property
    def references(self) -> str | None:
        """The policy that all scored rows have in common; None where they differ."""
        policies = {row.references for row in self.rows if row.kind != "reported"}
        return self.choices.references or (policies.pop() if len(policies) == 1 else None)

    def as_plain(self) -> dict[str, Any]:
        return {
            "benchmark": self.benchmark,
            "references": self.references,
            "rows": [as_plain(row) for row in self.rows],
        }


def compare(
    *, benchmark: Benchmark, study: Study | None = None, choices: Choices | None = None
) -> ComparisonTable:
    """The table of one study, or of all studies of a benchmark, beside the stored runs and
    the published figures on the same tasks."""
    reader = CellReader(choices or Choices())
    tasks = compared_tasks(benchmark, study)
    rows: list[Row] = []
    for each in compared_studies(benchmark, study):
        rows += people_rows(reader, each)
    for task in tasks:
        rows += [cell_row(cell, reader.choices) for cell in reader.systems(task)]
    published = reported_rows(benchmark, [task.slug for task in tasks] if study else None)
    rows += [row for row in published if reader.choices.wants(row.shots)]
    return ComparisonTable(
        benchmark=benchmark.name,
        study=study.slug if study else None,
        choices=reader.choices,
        rows=tuple(rows),
        bounds=tuple(bound for task in tasks for bound in bounds(task, reader.policy(task))),
    )


def compared_tasks(benchmark: Benchmark, study: Study | None) -> list[Task]:
    """A study is compared on its own tasks alone."""
    tasks = benchmark.tasks.all()
    return list(tasks.filter(batches__study=study).distinct() if study else tasks)


def compared_studies(benchmark: Benchmark, study: Study | None) -> list[Study]:
    return [study] if study else list(benchmark.studies.order_by("created_at", "pk"))


def people_rows(reader: CellReader, study: Study) -> list[Row]:
    """A study's cells, each followed by its annotators; simulated ones if asked for."""
    cells = reader.people(study)
    if reader.choices.simulated:
        cells += reader.people(study, simulated=True)
    return [
        row for cell in cells for row in [cell_row(cell, reader.choices), *annotator_rows(cell)]
    ]


def reported_rows(benchmark: Benchmark, tasks: Sequence[str] | None) -> list[Row]:
    """The published figures, as they were published; of all tasks or of the named ones."""
    scores = ReportedScore.objects.filter(benchmark=benchmark)
    if tasks is not None:
        scores = scores.filter(task__in=tasks)
    return [
        Row(
            kind="reported",
            system=score.system,
            method=score.method or None,
            task=score.task,
            shots=shots_label(score.shots),
            mean=score.mean,
            sd=score.sd,
            n=score.n,
            references=score.references,
            parameters=score.parameters,
            source=score.source,
        )
        for score in scores.order_by("pk")
    ]

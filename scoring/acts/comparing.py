"""Comparing: people and systems on the same test items, as rows of one table.

Everything is scored with one code, at the latest gold version of each task unless another one
is asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.models import Benchmark, Study
from scoring.analysis.floors import Bound, bounds
from scoring.cells import CellReader, Choices
from scoring.core.s1 import SCORER_VERSION
from scoring.models import ReportedScore, shots_label
from scoring.rows import Row, annotator_rows, as_plain, cell_row
from scoring.scope import Scope, inputs_fingerprint


@dataclass(frozen=True)
class ComparisonTable:
    benchmark: str
    study: str | None
    choices: Choices
    rows: tuple[Row, ...]
    # The floors and ceilings that the figures are read against.
    bounds: tuple[Bound, ...] = ()
    fingerprint: str = ""

    @property
    def references(self) -> str | None:
        """The policy that all scored rows have in common; None where they differ."""
        policies = {row.references for row in self.rows if row.kind != "reported"}
        return self.choices.references or (policies.pop() if len(policies) == 1 else None)

    @property
    def provenance(self) -> str:
        """What the figures rest on, in one line of plain English for documents."""
        return (
            f"Inputs {self.fingerprint[:12]}, seed {self.choices.seed}, "
            f"scorer version {SCORER_VERSION}, interval for {self.choices.estimand}, "
            f"references {self.references or 'as each task says'}."
        )

    def as_plain(self) -> dict[str, Any]:
        return {
            "benchmark": self.benchmark,
            "references": self.references,
            "rows": [as_plain(row) for row in self.rows],
        }


def compare(scope: Scope, choices: Choices | None = None) -> ComparisonTable:
    """The table of one study, or of all studies of a benchmark, beside the stored runs and
    the published figures on the same tasks."""
    reader = CellReader(choices or Choices())
    tasks = scope.tasks
    rows = [row for study in scope.studies for row in people_rows(reader, study)]
    for task in tasks:
        rows += [cell_row(cell, reader.choices) for cell in reader.systems(task)]
    # Of a benchmark also those for tasks whose data are not here.
    published = reported_rows(scope.benchmark, [t.slug for t in tasks] if scope.study else None)
    rows += [row for row in published if reader.choices.wants(row.shots)]
    return ComparisonTable(
        benchmark=scope.benchmark.name,
        study=scope.study.slug if scope.study else None,
        choices=reader.choices,
        rows=tuple(rows),
        bounds=tuple(bound for task in tasks for bound in bounds(task, reader.policy(task))),
        fingerprint=inputs_fingerprint(scope, reader),
    )


def people_rows(reader: CellReader, study: Study) -> list[Row]:
    """A study's cells, each followed by its annotators; simulated ones if asked for."""
    cells = reader.people(study)
    if reader.choices.simulated:
        cells += reader.people(study, simulated=True)
    return [
        row for cell in cells for row in [cell_row(cell, reader.choices), *annotator_rows(cell)]
    ]


def reported_rows(benchmark: Benchmark, tasks: Sequence[str] | None = None) -> list[Row]:
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

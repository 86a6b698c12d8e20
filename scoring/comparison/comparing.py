"""Comparing: people and systems on the same test items, as rows of one table.

Everything is scored by the same code, at the latest gold version of each task unless another is
asked for. A table is kept with its inputs' fingerprint, and recomputed when that changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import User

from annotation.models import Benchmark, Study
from scoring.comparison.agreement import consensus_row
from scoring.comparison.cache import (
    Progress,
    find_kept,
    is_stale,
    keep,
    order,
    stop,
    was_given_up,
)
from scoring.comparison.cells import Cell, CellReader, Choices
from scoring.comparison.floors import Bound, bounds
from scoring.comparison.rows import Row, annotator_rows, cell_row
from scoring.comparison.scope import Scope, inputs_fingerprint, unscored_answers
from scoring.comparison.stored import StoredTable
from scoring.comparison.to_json import plain
from scoring.core.s1 import SCORER_VERSION
from scoring.models import Comparison, Part, ReportedScore, shots_label

# How many answers are scored while somebody waits for the page: about a second's worth.
MOST_WHILE_WAITING = 150_000


@dataclass(frozen=True)
class ComparisonTable:
    benchmark: str
    study: str | None
    choices: Choices
    rows: tuple[Row, ...]
    # What more than half of a cell's annotators chose: rows of their own, beside the cells.
    consensus: tuple[Row, ...] = ()
    # The floors and ceilings that the figures are read against.
    bounds: tuple[Bound, ...] = ()
    # All numbers of shots that have rows, whichever the reader chose.
    shots_offered: tuple[str, ...] = ()
    fingerprint: str = ""

    @property
    def references(self) -> str | None:
        """The policy that all scored rows have in common; None where they differ."""
        policies = {row.references for row in self.rows if row.kind != "reported"}
        return self.choices.references or (policies.pop() if len(policies) == 1 else None)

    @property
    def figures(self) -> tuple[Row, ...]:
        """The rows of a table for readers: cells with their consensus, and systems."""
        return (*(row for row in self.rows if not row.single), *self.consensus)

    @property
    def estimand(self) -> str:
        return self.choices.estimand.replace("_", " ")

    @property
    def provenance(self) -> str:
        """What the figures rest on, in one line of plain English for documents."""
        return (
            f"Inputs {self.fingerprint[:12]}, seed {self.choices.seed}, "
            f"scorer version {SCORER_VERSION}, interval for {self.estimand}, "
            f"references {self.references or 'as each task says'}."
        )


def compare(scope: Scope, choices: Choices | None = None) -> ComparisonTable:
    """The table of one study, or of all studies of a benchmark, beside the stored runs and the
    published figures on the same tasks: as kept, or computed now and kept."""
    choices = choices or Choices()
    fingerprint = inputs_fingerprint(scope, CellReader(_whole(choices)))
    kept = _find(scope, choices)
    if is_stale(kept, fingerprint):
        _compute_now(scope, choices, kept, fingerprint)
    return _as_table(scope, choices, kept)


@dataclass(frozen=True)
class Glance:
    """What can be shown of a table at once."""

    # None while the first one is being computed.
    table: ComparisonTable | None
    kept: Comparison
    is_stale: bool = False

    @property
    def is_waiting(self) -> bool:
        return self.is_stale and self.kept.job is not None and not self.kept.job.is_over


def glance(scope: Scope, choices: Choices, *, author: User | None = None) -> Glance:
    """The table for a page: if many answers must be scored first, a worker does it, and until then
    the table is shown as it was. Viewing it does not restart what was stopped."""
    reader = CellReader(_whole(choices))
    fingerprint = inputs_fingerprint(scope, reader)
    kept = _find(scope, choices)
    stale = is_stale(kept, fingerprint)
    if stale and unscored_answers(scope, reader) <= MOST_WHILE_WAITING:
        _compute_now(scope, choices, kept, fingerprint)
        stale = False
    if stale and not was_given_up(kept, fingerprint):
        kept = order(scope, Part.TABLE, reader.choices, fingerprint=fingerprint, author=author)
    return Glance(_as_table(scope, choices, kept) if kept.result else None, kept, stale)


def order_table(scope: Scope, choices: Choices, *, author: User | None = None) -> Comparison:
    whole = _whole(choices)
    fingerprint = inputs_fingerprint(scope, CellReader(whole))
    return order(scope, Part.TABLE, whole, fingerprint=fingerprint, author=author)


def stop_table(scope: Scope, choices: Choices) -> None:
    stop(_find(scope, choices))


def compute_table(scope: Scope, choices: Choices, progress: Progress) -> dict[str, Any]:
    """The rows of the table and its bounds, as JSON keeps them."""
    reader = CellReader(choices)
    people = [cell for study in scope.studies for cell in _people(reader, study)]
    rows = [row for cell in people for row in (cell_row(cell, choices), *annotator_rows(cell))]
    tasks = scope.tasks
    for number, task in enumerate(tasks):
        progress(number, len(tasks), task.slug)
        rows += [cell_row(cell, choices) for cell in reader.systems(task)]
    # For a benchmark, also those for tasks whose data are not here.
    rows += reported_rows(scope.benchmark, [t.slug for t in tasks] if scope.study else None)
    found = [
        bound
        for task in tasks
        for bound in bounds(task, reader.policy(task), reader.gold_version(task))
    ]
    together = [consensus_row(cell) for cell in people if cell.answered.sum() > 1]
    stored: dict[str, Any] = plain(StoredTable(tuple(rows), tuple(together), tuple(found)))
    return stored


def _compute_now(scope: Scope, choices: Choices, kept: Comparison, fingerprint: str) -> None:
    whole = _whole(choices)
    kept.result = compute_table(scope, whole, lambda *progress: None)
    kept.fingerprint = fingerprint
    keep(scope, Part.TABLE, whole, kept.result, fingerprint)


def _find(scope: Scope, choices: Choices) -> Comparison:
    return find_kept(scope, Part.TABLE, _whole(choices))


def _whole(choices: Choices) -> Choices:
    """No figure depends on which shots are shown, so one table is kept for all of them."""
    return replace(choices, shots=())


def _as_table(scope: Scope, choices: Choices, kept: Comparison) -> ComparisonTable:
    rows, together = ([Row(**row) for row in kept.result[part]] for part in ("rows", "consensus"))
    return ComparisonTable(
        benchmark=scope.benchmark.name,
        study=scope.study.slug if scope.study else None,
        choices=choices,
        rows=tuple(row for row in rows if choices.wants(row.shots)),
        consensus=tuple(row for row in together if choices.wants(row.shots)),
        bounds=tuple(Bound(**bound) for bound in kept.result["bounds"]),
        shots_offered=tuple(dict.fromkeys(str(row.shots) for row in rows)),
        fingerprint=kept.fingerprint,
    )


def _people(reader: CellReader, study: Study) -> list[Cell]:
    """A study's cells; those of simulated annotators if asked for."""
    cells = reader.people(study)
    return cells + reader.people(study, simulated=True) if reader.choices.simulated else cells


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

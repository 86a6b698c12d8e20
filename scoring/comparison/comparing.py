"""Comparing: people and systems on the same test items, as rows of one table.

Everything is scored by the same code, at the latest gold version of each task unless another is
asked for. A table is kept with its inputs' fingerprint, and recomputed when that changes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib.auth.models import User

from annotation.models import Benchmark
from scoring.comparison.agreement import (
    ConsensusScores,
    consensus_limits,
    consensus_row,
    consensus_scores,
)
from scoring.comparison.cache import (
    Progress,
    enqueue,
    find_kept,
    is_stale,
    keep,
    stop,
    was_given_up,
)
from scoring.comparison.cell_rows import annotator_rows, cell_row
from scoring.comparison.cells import Cell, CellReader, Choices
from scoring.comparison.floors import Bound, bounds
from scoring.comparison.over_tasks import Aggregate, aggregate_of_plain, aggregates, sharing
from scoring.comparison.rows import Row
from scoring.comparison.scope import Scope, inputs_fingerprint, unscored_answers
from scoring.comparison.stored import StoredTable
from scoring.comparison.to_json import plain
from scoring.comparison.verdicts import AverageVerdict, CellVerdict, Verdicts, verdicts
from scoring.core.normalisation import NONE
from scoring.core.s1 import SCORER_VERSION
from scoring.core.splits import FEWEST_SPLITS
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
    # People beside each system: of a cell, and of the mean over tasks.
    verdicts: Verdicts = field(default_factory=Verdicts)
    # Means over all tasks, of whoever has all of them.
    averages: tuple[Aggregate, ...] = ()
    # The studies (slugs) that are not closed: their figures may still change.
    interim: tuple[str, ...] = ()
    # All numbers of shots that have rows, whichever the reader chose.
    shots_offered: tuple[str, ...] = ()
    # What readers call the tasks, by slug; not kept, since a figure never depends on it.
    task_names: Mapping[str, str] = field(default_factory=dict)
    fingerprint: str = ""

    def without_persons(self) -> "ComparisonTable":
        """For readers who may not see people one by one, not even by pseudonym."""
        return replace(self, rows=tuple(row for row in self.rows if not row.single))

    @property
    def offers_new_shot_sets(self) -> bool:
        """Whether some cell of people has splits enough for an interval over new ones."""
        return any(row.splits >= FEWEST_SPLITS for row in self.rows)

    @property
    def references(self) -> str | None:
        """The policy that all scored rows have in common; None where they differ."""
        policies = {row.references for row in self.rows if row.kind != "reported"}
        return self.choices.references or (policies.pop() if len(policies) == 1 else None)

    @property
    def normalisation(self) -> str:
        return self._of_tasks("normalisation") or NONE

    @property
    def gold_version(self) -> str:
        return self._of_tasks("gold_version")

    def _of_tasks(self, key: str) -> str:
        """What the scored rows have there; each with its tasks where they differ."""
        named = sorted({(value, row.task) for row in self.rows if (value := getattr(row, key))})
        values = list(dict.fromkeys(value for value, _ in named))
        if len(values) < 2:
            return "".join(map(str, values))
        parts = (
            (value, [self.task_names.get(task, task) for other, task in named if other == value])
            for value in values
        )
        return "; ".join(f"{value} ({', '.join(tasks)})" for value, tasks in parts)

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
            f"scorer version {SCORER_VERSION}, interval for {self.estimand} and "
            f"{self.choices.shot_sets} shot sets{' as well' * (self.choices.shot_sets == 'new')}, "
            f"references {self.references or 'as each task says'}, "
            f"normalisation {self.normalisation}"
            + (f", gold version {self.gold_version}." if self.gold_version else ".")
            + (f" {self.warning}" if self.warning else "")
        )

    @property
    def warning(self) -> str:
        """Empty where the figures are final."""
        return f"Interim, not closed: {', '.join(self.interim)}." if self.interim else ""


def compare(scope: Scope, choices: Choices | None = None) -> ComparisonTable:
    """The table of one study, or of all studies of a benchmark, beside the stored runs and the
    published figures on the same tasks: as kept, or computed now and kept."""
    choices = choices or Choices()
    whole = _whole(choices)
    fingerprint = inputs_fingerprint(scope, CellReader(whole))
    kept = find_kept(scope, Part.TABLE, whole)
    if is_stale(kept, fingerprint):
        _compute_now(scope, whole, kept, fingerprint)
    return _as_table(scope, choices, kept)


def kept_table(scope: Scope, choices: Choices) -> ComparisonTable | None:
    """As kept; None if that is not of the present inputs."""
    whole = _whole(choices)
    kept = find_kept(scope, Part.TABLE, whole)
    if is_stale(kept, inputs_fingerprint(scope, CellReader(whole))):
        return None
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
    whole = _whole(choices)
    reader = CellReader(whole)
    fingerprint = inputs_fingerprint(scope, reader)
    kept = find_kept(scope, Part.TABLE, whole)
    stale = is_stale(kept, fingerprint)
    if stale and unscored_answers(scope, reader) <= MOST_WHILE_WAITING:
        _compute_now(scope, whole, kept, fingerprint)
        stale = False
    if stale and not was_given_up(kept, fingerprint):
        kept = enqueue(scope, Part.TABLE, whole, fingerprint=fingerprint, author=author)
    return Glance(_as_table(scope, choices, kept) if kept.result else None, kept, stale)


def enqueue_table(scope: Scope, choices: Choices, *, author: User | None = None) -> Comparison:
    whole = _whole(choices)
    fingerprint = inputs_fingerprint(scope, CellReader(whole))
    return enqueue(scope, Part.TABLE, whole, fingerprint=fingerprint, author=author)


def stop_table(scope: Scope, choices: Choices) -> None:
    stop(find_kept(scope, Part.TABLE, _whole(choices)))


def compute_table(scope: Scope, choices: Choices, progress: Progress) -> dict[str, Any]:
    """The rows of the table and its bounds, as JSON keeps them."""
    reader = CellReader(choices)
    people = reader.people_of(scope.studies)
    rows = [row for cell in people for row in (cell_row(cell, choices), *annotator_rows(cell))]
    tasks = scope.tasks
    systems: list[Cell] = []
    for number, task in enumerate(tasks):
        progress(number, len(tasks), str(task))
        systems += reader.systems(task)
    rows += [cell_row(cell, choices) for cell in systems]
    # For a benchmark, also those for tasks whose data are not here.
    published = reported_rows(scope.benchmark, [t.slug for t in tasks] if scope.study else None)
    rows += published
    every_task = list(dict.fromkeys(row.task for row in rows))
    all_bounds = [
        bound
        for task in tasks
        for bound in bounds(task, reader.policy(task), reader.gold_version(task))
    ]
    shared = sharing(people)
    together = [(cell, consensus_scores(cell)) for cell in people if cell.answered.sum() > 1]
    majorities = [consensus_row(cell, scored, seed=choices.seed) for cell, scored in together]
    stored: dict[str, Any] = plain(
        StoredTable(
            rows=tuple(rows),
            consensus=tuple(majorities),
            bounds=tuple(all_bounds),
            verdicts=verdicts(_answered(people), _answered(systems), published, every_task),
            averages=(
                *aggregates(rows, every_task, shared),
                *(
                    _with_limits(average, majorities, together, choices.seed)
                    for average in aggregates(majorities, every_task, shared)
                ),
            ),
        )
    )
    return stored


def _with_limits(
    average: Aggregate,
    majorities: Sequence[Row],
    together: Sequence[tuple[Cell, ConsensusScores]],
    seed: int,
) -> Aggregate:
    """The average of a consensus with its interval, where tasks share no people."""
    whose = (average.study, average.system, average.shots)
    of_tasks = [
        scored
        for row, (_, scored) in zip(majorities, together, strict=True)
        if (row.study, row.system, row.shots) == whose and row.task in average.tasks
    ]
    if average.notes:
        return average
    low, high = consensus_limits(of_tasks, seed=seed)
    return replace(average, low=low, high=high)


def _answered(cells: Iterable[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.answered.any()]


def _compute_now(scope: Scope, whole: Choices, kept: Comparison, fingerprint: str) -> None:
    kept.result = compute_table(scope, whole, lambda *progress: None)
    kept.fingerprint = fingerprint
    keep(scope, Part.TABLE, whole, kept.result, fingerprint)


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
        verdicts=_kept_verdicts(kept.result["verdicts"], choices),
        averages=tuple(
            aggregate
            for aggregate in map(aggregate_of_plain, kept.result["averages"])
            if choices.wants(aggregate.shots)
        ),
        interim=scope.interim,
        shots_offered=tuple(dict.fromkeys(str(row.shots) for row in rows)),
        task_names=scope.task_names,
        fingerprint=kept.fingerprint,
    )


def _kept_verdicts(kept: dict[str, Any], choices: Choices) -> Verdicts:
    cells = (CellVerdict(**{**row, "notes": tuple(row["notes"])}) for row in kept["cells"])
    averages = (
        AverageVerdict(**{**row, "tasks": tuple(row["tasks"]), "notes": tuple(row["notes"])})
        for row in kept["averages"]
    )
    return Verdicts(
        tuple(cell for cell in cells if choices.wants(cell.shots)),
        tuple(average for average in averages if choices.wants(average.shots)),
    )


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

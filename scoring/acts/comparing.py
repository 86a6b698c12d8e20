"""Comparing: people and systems on the same test items, as rows of one table.

Everything is scored here with one code, at the latest gold version of each task.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, TypeVar

from annotation.models import (
    Assignment,
    Benchmark,
    ItemSet,
    ReferencePolicy,
    Study,
    Task,
)
from scoring.core.bootstrap import SEED
from scoring.core.intervals import ESTIMANDS
from scoring.matrices import (
    Floats,
    ScoredItems,
    assignment_scores,
    run_scores,
    scored_items,
)
from scoring.models import ReportedScore, Run, shots_label
from scoring.rows import Row, Vector, as_plain, cell_row, single_row

T = TypeVar("T")

PEOPLE = "Human"
SIMULATED = "Simulated annotators"


@dataclass(frozen=True)
class Choices:
    """What the reader of a comparison chooses."""

    # None: each task's own policy.
    references: str | None = None
    estimand: str = "new_items"
    simulated: bool = False
    with_excluded: bool = False
    seed: int = SEED

    def __post_init__(self) -> None:
        if self.references not in (None, *ReferencePolicy.values):
            raise ValueError(f"The reference policy is {self.references!r}; it is set or any.")
        if self.estimand not in ESTIMANDS:
            raise ValueError(f"The estimand is {self.estimand!r}; it is one of {ESTIMANDS}.")


@dataclass(frozen=True)
class ComparisonTable:
    benchmark: str
    study: str | None
    choices: Choices
    rows: tuple[Row, ...]

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
    comparing = _Comparing(choices or Choices())
    tasks = list(benchmark.tasks.all())
    if study:
        tasks = [task for task in tasks if task.batches.filter(study=study).exists()]
    rows: list[Row] = []
    for each in [study] if study else benchmark.studies.order_by("created_at", "pk"):
        rows += comparing.people_rows(each)
    for task in tasks:
        rows += comparing.run_rows(task)
    rows += reported_rows(benchmark, [task.slug for task in tasks] if study else None)
    return ComparisonTable(
        benchmark=benchmark.name,
        study=study.slug if study else None,
        choices=comparing.choices,
        rows=tuple(rows),
    )


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


class _Comparing:
    """One comparison; the items of each test set are read once for all of its rows."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self._items: dict[int, ScoredItems] = {}

    def people_rows(self, study: Study) -> list[Row]:
        """A study's cells, each followed by its annotators; simulated ones if asked for."""
        assignments = Assignment.objects.filter(study=study).order_by("pk")
        assignments = assignments.select_related(
            "annotator", "batch__task", "batch__training_set", "batch__test_set"
        )
        counted = assignments.completed() if self.choices.with_excluded else assignments.counted()
        cell = Row("human", study=study.slug, system=PEOPLE)
        rows = self._cells(counted.of_people(), cell, "annotator")
        if self.choices.simulated:
            cell = Row("simulated", study=study.slug, system=SIMULATED)
            rows += self._cells(counted.simulated(), cell, "simulated")
        return rows

    def _cells(self, assignments: Iterable[Assignment], cell: Row, kind: str) -> list[Row]:
        cells: dict[tuple[str, int], list[Assignment]] = defaultdict(list)
        for assignment in assignments:
            cells[assignment.batch.task.slug, assignment.batch.shots].append(assignment)
        rows: list[Row] = []
        for (_, shots), members in sorted(cells.items(), key=itemgetter(0)):
            row = replace(self._of_task(cell, members[0].batch.task), shots=shots)
            vectors = self.assignment_vectors(members)
            rows.append(self._figures(row, vectors))
            for member, vector in zip(members, vectors, strict=True):
                person = replace(
                    row, kind=kind, system=member.annotator.pseudonym, split=member.batch.split
                )
                rows.append(single_row(person, vector))
        return rows

    def run_rows(self, task: Task) -> list[Row]:
        """A task's systems, each over its splits or episodes."""
        runs = task.runs.complete().select_related("task", "test_set").order_by("pk")
        systems: dict[tuple[str, str, int | None], list[Run]] = defaultdict(list)
        for run in sorted(runs, key=_reading_order):
            systems[run.system, run.method, run.shots].append(run)
        return [
            self._figures(
                replace(
                    self._of_task(Row("run", system=system, method=method), task),
                    shots=shots_label(shots),
                    parameters=members[0].parameters,
                ),
                self.run_vectors(members),
            )
            for (system, method, shots), members in systems.items()
        ]

    def assignment_vectors(self, members: Sequence[Assignment]) -> list[Vector]:
        """Each assignment's scores; annotators are nested in batches, which are splits."""
        scores: dict[int, Floats] = {}
        for test_set, those in _by(members, lambda member: member.batch.test_set).items():
            task = those[0].batch.task
            scores |= assignment_scores(those, self._scored_items(test_set), self._policy(task))
        return [
            Vector(self._scored_items(each.batch.test_set), scores[each.pk], split=each.batch_id)
            for each in members
        ]

    def run_vectors(self, members: Sequence[Run]) -> list[Vector]:
        """Each run's scores; several runs on one split are nested in it."""
        scores: dict[int, Floats] = {}
        for test_set, those in _by(members, lambda member: member.test_set).items():
            policy = self._policy(those[0].task)
            scores |= run_scores(those, self._scored_items(test_set), policy)
        return [
            Vector(self._scored_items(each.test_set), scores[each.pk], split=_split_of(each))
            for each in members
        ]

    def _figures(self, row: Row, vectors: Sequence[Vector]) -> Row:
        return cell_row(row, vectors, estimand=self.choices.estimand, seed=self.choices.seed)

    def _of_task(self, row: Row, task: Task) -> Row:
        version = task.latest_gold_version().number
        return replace(row, task=task.slug, references=self._policy(task), gold_version=version)

    def _policy(self, task: Task) -> str:
        return self.choices.references or task.reference_policy

    def _scored_items(self, test_set: ItemSet) -> ScoredItems:
        if test_set.pk not in self._items:
            version = test_set.task.latest_gold_version().number
            self._items[test_set.pk] = scored_items(test_set, version)
        return self._items[test_set.pk]


def _by(members: Iterable[T], key: Callable[[T], ItemSet]) -> dict[ItemSet, list[T]]:
    groups: dict[ItemSet, list[T]] = defaultdict(list)
    for member in members:
        groups[key(member)].append(member)
    return groups


def _reading_order(run: Run) -> tuple[object, ...]:
    """Fully supervised last, whatever a database does with nulls."""
    unlimited = run.shots is None
    return run.system, run.method, unlimited, run.shots or 0, run.split or 0, run.episode or 0


def _split_of(run: Run) -> str:
    if run.split is None and run.episode is None:
        return f"run {run.pk}"
    return f"{run.split} {run.episode}"

"""What a study asked: its tasks with their items, and its batches."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from annotation.benchmarks.findings import WARNING
from annotation.benchmarks.naming import names_of
from annotation.models import Batch, Item, Study, Task


@dataclass(frozen=True)
class Correction:
    number: int
    reason: str
    at: datetime


@dataclass(frozen=True)
class TaskFacts:
    task: Task
    # What it is called in the text.
    name: str
    # Of the test sets together: items, and contexts that items share.
    items: int
    contexts: int
    shots: tuple[int, ...]
    splits: int
    # The description as annotators saw it; empty before the start.
    description: str
    # What they were shown and screened by; None before the start.
    shown_gold: int | None
    scored_gold: int
    corrections: tuple[Correction, ...]
    # What the audit of the data warns of.
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Design:
    tasks: tuple[TaskFacts, ...]
    batches: int
    wanted: int
    # Numbers of training items, least to most; zero-shot is 0.
    training_items: tuple[int, ...]
    # Numbers of test items of one assignment.
    test_items: tuple[int, ...]

    @property
    def shots(self) -> list[int]:
        return sorted({shots for facts in self.tasks for shots in facts.shots})


def design(study: Study) -> Design:
    batches = list(study.batches.select_related("task", "training_set", "test_set", "gold_version"))
    by_task: dict[Task, list[Batch]] = {}
    for batch in batches:
        by_task.setdefault(batch.task, []).append(batch)
    names = names_of(by_task)
    training = {batch.training_set.items.count() if batch.training_set else 0 for batch in batches}
    return Design(
        tasks=tuple(_task_facts(task, names[task.slug], those) for task, those in by_task.items()),
        batches=len(batches),
        wanted=sum(batch.wanted for batch in batches),
        training_items=tuple(sorted(training)),
        test_items=tuple(sorted({batch.test_set.items.count() for batch in batches})),
    )


def _task_facts(task: Task, name: str, batches: Sequence[Batch]) -> TaskFacts:
    test_sets = {batch.test_set_id for batch in batches}
    items = Item.objects.filter(item_set__in=test_sets)
    shown = {batch.gold_version.number for batch in batches if batch.gold_version}
    latest = task.latest_gold_version().number
    return TaskFacts(
        task=task,
        name=name,
        # A part of a test set holds items of the whole one.
        items=items.order_by().values("example").distinct().count(),
        contexts=items.order_by().values("example__context_hash").distinct().count(),
        shots=tuple(sorted({batch.shots for batch in batches})),
        splits=len({batch.split for batch in batches if batch.split is not None}),
        description=batches[0].description,
        shown_gold=max(shown, default=None),
        scored_gold=latest,
        corrections=tuple(
            Correction(version.number, version.reason, version.created_at)
            for version in task.gold_versions.filter(number__gt=min(shown, default=latest))
        ),
        warnings=tuple(
            finding["message"] for finding in task.audit if finding["severity"] == WARNING
        ),
    )

"""A whole study for benchmarks: people on every task and number of shots, and systems on the same
items, as many as in a large paper.

The rows are written in bulk, as the acts would have left them.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from annotation.models import (
    Assignment,
    Batch,
    Example,
    Judgement,
    Kind,
    Outcome,
    Role,
    Study,
    Task,
    WorkState,
)
from annotation.studies.lifecycle import start_study
from scoring.runs.formats.records import RunFields
from scoring.runs.storing import add_predictions, finish_run, open_run
from tests import make

PIECES = ["Anna", "Boris", "Anna met", "today"]


@dataclass(frozen=True)
class Size:
    tasks: int = 6
    shots: Sequence[int] = (0, 10, 20, 30)
    annotators: int = 5
    items: int = 600
    systems: int = 20
    splits: Sequence[int] = (1, 2, 3, 4, 5)

    @property
    def judgements(self) -> int:
        return self.tasks * len(self.shots) * self.annotators * self.items

    @property
    def runs(self) -> int:
        """Systems run at every number of shots except zero."""
        return self.tasks * self.systems * len(self._trained) * len(self.splits)

    @property
    def predictions(self) -> int:
        return self.runs * self.items

    @property
    def _trained(self) -> list[int]:
        return [shots for shots in self.shots if shots]


def store_study(size: Size) -> Study:
    """A study that everybody completed."""
    rng = random.Random(1)
    benchmark = make.benchmark("whole-study")
    study = make.study(benchmark, slug="whole-study")
    for number in range(size.tasks):
        task = make.task(
            benchmark, slug=f"task-{number}", kind=Kind.SPANS, training=0, tests=size.items
        )
        for shots in size.shots:
            _store_batch(study, task, shots, size.annotators)
    start_study(study, at=make.NOON)
    for batch in study.batches.select_related("test_set", "study__channel"):
        for _ in range(size.annotators):
            _work_through(batch, rng)
    return study


def store_runs(study: Study, size: Size) -> None:
    """By the acts of the product: opened, filled, finished."""
    rng = random.Random(2)
    for task in study.benchmark.tasks.all():
        test_set = task.item_sets.get(role=Role.TEST)
        examples = list(test_set.examples.values_list("pk", flat=True))
        for fields in _fields(task, size):
            run = open_run(test_set=test_set, fields=fields, source_format="benchmark")
            add_predictions(run, {pk: tuple(_answer(rng)) for pk in examples})
            finish_run(run, report={})


def _fields(task: Task, size: Size) -> Iterator[RunFields]:
    for system in range(size.systems):
        for shots in size._trained:
            for split in size.splits:
                yield RunFields(
                    system=f"System {system}", method="FT", task=task.slug, shots=shots, split=split
                )


def _store_batch(study: Study, task: Task, shots: int, wanted: int) -> None:
    training_set = None
    if shots:
        names = [f"{shots} shots, example {number}" for number in range(shots)]
        examples = [make.example(task, name, role=Role.TRAINING) for name in names]
        training_set = make.item_set(task, examples, name=f"train-{shots}-1", shots=shots, split=1)
    test_set = task.item_sets.get(role=Role.TEST)
    Batch.objects.create(
        study=study, task=task, training_set=training_set, test_set=test_set, wanted=wanted
    )


def _work_through(batch: Batch, rng: random.Random) -> None:
    assignment = make.joined(batch)
    training = list(batch.training_set.examples.all()) if batch.training_set else []
    shown = [(example, Role.TRAINING) for example in training]
    shown += [(example, Role.TEST) for example in batch.test_set.examples.all()]
    Judgement.objects.bulk_create(
        [
            _judgement(assignment, example, role, step, rng)
            for step, (example, role) in enumerate(shown)
        ],
        batch_size=2_000,
    )
    Assignment.objects.filter(pk=assignment.pk).update(
        state=WorkState.FINISHED,
        outcome=Outcome.COMPLETED,
        consented_at=make.NOON,
        training_ended_at=make.NOON,
        finished_at=make.NOON + timedelta(hours=1),
    )


def _judgement(
    assignment: Assignment, example: Example, role: str, step: int, rng: random.Random
) -> Judgement:
    return Judgement(
        assignment=assignment,
        example=example,
        role=role,
        step=step,
        answer=_answer(rng),
        shown_at=make.NOON,
        submitted_at=make.NOON,
        paid_ms=1_000,
    )


def _answer(rng: random.Random) -> list[str]:
    return rng.sample(PIECES, rng.randint(0, 2))

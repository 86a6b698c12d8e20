"""A whole study for benchmarks: people on every task and number of shots, and systems on the same
items, as many as in a large paper.

The rows are written in bulk, as the acts would have left them.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotation.models import Batch, Kind, Role, Study, Task
from annotation.studies.lifecycle import start_study
from scoring.runs.formats.records import RunFields
from scoring.runs.storing import add_predictions, finish_run, open_run
from tests import make
from tools.benchmarks.completed import complete

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
        complete(batch, size.annotators, lambda _person, _step: _answer(rng))
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


def _answer(rng: random.Random) -> list[str]:
    return rng.sample(PIECES, rng.randint(0, 2))

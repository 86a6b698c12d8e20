"""Measurements for tests: studies that people completed, runs, published figures."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from annotation.models import Assignment, Batch, Benchmark, Example, Gold, Kind, Role, Study, Task
from annotation.studies.lifecycle import start_study
from scoring.analysis.analysing import analyse
from scoring.analysis.kept import STORE
from scoring.cells.scope import Choices, Scope, inputs_fingerprint
from scoring.models import Comparison, ReportedScore, Run
from scoring.runs.formats.records import RunFields
from scoring.runs.storing import add_predictions, finish_run, open_run
from tests import make


def cell(
    wrong: Iterable[int] = (0, 1, 2), *, tests: int = 6, training: int = 3, kind: str = Kind.CHOICE
) -> Batch:
    """A batch that one person completed for each number of wrong answers (training ones come
    first)."""
    batch = make.running_batch(wanted=10, tests=tests, training=training, kind=kind)
    for number in wrong:
        make.worked_through(batch, wrong=number)
    return batch


def on_a_part(people: int = 3, *, items: int = 3, tests: int = 7) -> Batch:
    """People who saw the first items of a test set alone, no two with the same mistakes."""
    task = make.task(make.benchmark(), training=3, tests=tests)
    examples = [item.example for item in task.item_sets.get(name="test").items.all()[:items]]
    part = make.item_set(task, examples, name=f"test-part-{items}", role=Role.TEST)
    batch = make.batch(make.study(task.benchmark), task, wanted=people)
    Batch.objects.filter(pk=batch.pk).update(test_set=part)
    start_study(batch.study, at=make.NOON)
    batch.refresh_from_db()
    for number in range(people):
        make.worked_through(batch, wrong=3 + number % (items + 1))
    return batch


def study_with_splits(splits: int = 2, people: int = 2, *, tests: int = 6) -> list[Batch]:
    """One task, one number of shots, several splits; no two people make the same mistakes."""
    benchmark = make.benchmark()
    task = make.task(benchmark, training=3, tests=tests)
    first = task.item_sets.get(name="train-3-1")
    for split in range(2, splits + 1):
        make.item_set(
            task, list(first.examples.all()), name=f"train-3-{split}", shots=3, split=split
        )
    study = make.study(benchmark)
    batches = [
        Batch.objects.create(
            study=study,
            task=task,
            training_set=task.item_sets.get(name=f"train-3-{split}"),
            test_set=task.item_sets.get(name="test"),
            wanted=people,
        )
        for split in range(1, splits + 1)
    ]
    start_study(study, at=make.NOON)
    for number, batch in enumerate(batches):
        batch.refresh_from_db()
        for person in range(people):
            make.worked_through(batch, wrong=3 + (number + person) % tests)
    return batches


def run(
    task: Task,
    *,
    wrong: int = 0,
    missing: int = 0,
    answers: Mapping[int, list[str]] | None = None,
    complete: bool = True,
    at: datetime | None = None,
    **fields: Any,
) -> Run:
    """A run that answers its first items wrong and leaves out its last ones; or gives the specified
    answers, by example."""
    test_set = fields.pop("test_set", None) or task.item_sets.get(name="test")
    owner, report = fields.pop("owner", None), fields.pop("report", {})
    about: dict[str, Any] = {
        "system": "BERT-Base",
        "method": "FT",
        "shots": 3,
        "split": 1,
        **fields,
    }
    made = open_run(test_set=test_set, fields=RunFields(**about), source_format="test", owner=owner)
    examples = [item.example for item in test_set.items.select_related("example")]
    if answers is None:
        golds = first_golds(examples)
        answers = {
            example.pk: ["?"] if place < wrong else golds[example.pk]
            for place, example in enumerate(examples[: len(examples) - missing])
        }
    add_predictions(made, {pk: tuple(answer) for pk, answer in answers.items()})
    if complete:
        finish_run(made, report=report, at=at)
    return made


def gold(example: Example) -> list[str]:
    return first_golds([example])[example.pk]


def first_golds(examples: Sequence[Example]) -> dict[int, list[str]]:
    golds = Gold.objects.filter(example__in=examples).order_by("-version__number")
    return {gold.example_id: gold.alternative_texts()[0] for gold in golds}


def reported(benchmark: Benchmark, task: str, **fields: Any) -> ReportedScore:
    return ReportedScore.objects.create(
        benchmark=benchmark,
        task=task,
        **{
            "kind": "model",
            "system": "GPT-3",
            "method": "ICL",
            "shots": 10,
            "mean": 85.9,
            "sd": 3.7,
            "n": 5,
            "references": "unknown",
            "source": "CLUES Table 6",
            **fields,
        },
    )


def analysed(study: Study, *, of_benchmark: bool = False) -> Comparison:
    """The analysis of a study, or of its benchmark, computed from the present data."""
    study = make.closed(study)
    scope, choices = Scope(study.benchmark, None if of_benchmark else study), Choices()
    fingerprint = inputs_fingerprint(scope, choices)
    return STORE.keep(scope, choices, analyse(scope, choices), fingerprint)


def all_assignments(batch: Batch) -> list[Assignment]:
    return list(batch.assignments.order_by("pk"))

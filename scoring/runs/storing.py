"""A run from its first prediction to its completion, however the predictions arrive."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotation.benchmarks.formats.lines import is_text
from annotation.benchmarks.subsets import PART
from annotation.models import Benchmark, ItemSet, Kind, Role, Task
from annotation.models.errors import BadInput, Frozen, Refusal
from scoring.models import Prediction, Run, RunState
from scoring.runs.formats.fields import check_complete, stored_shots
from scoring.runs.formats.records import RunFields
from scoring.runs.free_text import distinct

MOST_PIECES = 1_000
LONGEST_PIECE = 10_000

Answers = Mapping[int, tuple[str, ...]]


class DifferentAnswer(Refusal):
    """An example that has a prediction is given another one."""

    def __init__(self, example_ids: list[int]) -> None:
        super().__init__("An example has another prediction already; a prediction is final.")
        self.example_ids = example_ids


class StoredAlready(Refusal):
    """The same predictions of the same system exist as another run."""

    def __init__(self, run: Run) -> None:
        super().__init__(f"These predictions are stored already, as run {run.pk}.")
        self.run = run


@dataclass(frozen=True)
class Added:
    stored: int
    repeated: int
    different: list[int]


def find_task(benchmark: Benchmark, slug: str) -> Task:
    tasks = {task.slug: task for task in benchmark.tasks.all()}
    if slug in tasks:
        return tasks[slug]
    if not slug and len(tasks) == 1:
        return next(iter(tasks.values()))
    there = f"there are {', '.join(tasks)}" if tasks else "it has none"
    said = f"has no task “{slug}”" if slug else "has several tasks and nothing names one"
    raise BadInput(f"the benchmark {benchmark.name} {said}; {there} (give one with --task).")


def find_test_set(task: Task, episode: int | None) -> ItemSet:
    """The whole set: predictions are never for a part that a study may have cut from it."""
    every = task.item_sets.filter(role=Role.TEST, episode=episode)
    sets = list(every.exclude(name__contains=PART))
    if len(sets) == 1:
        return sets[0]
    if sets:
        raise BadInput(
            f"the task {task.slug} has several test sets ({', '.join(s.name for s in sets)}), "
            "and nothing says which one was answered."
        )
    if episode is not None:
        raise BadInput(f"the task {task.slug} has no episode {episode}.")
    raise BadInput(
        f"the task {task.slug} has no test set outside its episodes: "
        "add the field “episode”, or give --episode."
    )


def open_run(
    *,
    test_set: ItemSet,
    fields: RunFields,
    source_format: str,
    source_name: str = "",
    owner: User | None = None,
) -> Run:
    """A run that accepts predictions. Raises BadInput where something needed is not said."""
    check_complete(fields)
    return Run.objects.create(
        task=test_set.task,
        test_set=test_set,
        system=fields.system,
        method=fields.method,
        parameters=fields.parameters,
        shots=stored_shots(fields),
        split=fields.split,
        episode=fields.episode,
        citation=fields.citation,
        url=fields.url,
        uses_labelled=fields.uses_labelled,
        uses_unlabelled=fields.uses_unlabelled,
        protocol=list(fields.protocol),
        source_format=source_format,
        source_name=source_name[-300:],
        owner=owner,
    )


def check_answer(pieces: tuple[str, ...], kind: str) -> tuple[str, ...]:
    """The answer as it is stored. Raises BadInput if it cannot be."""
    for piece in pieces:
        if not is_text(piece):
            raise BadInput("the prediction holds a character that is not text")
        if len(piece) > LONGEST_PIECE:
            raise BadInput(f"a piece of the prediction is longer than {LONGEST_PIECE} characters")
    answer = distinct(pieces)
    if len(answer) > MOST_PIECES:
        raise BadInput(f"the prediction has more than {MOST_PIECES} pieces")
    # If several labels were allowed, one could give them all, and score on every example.
    if kind == Kind.CHOICE and len(answer) > 1:
        raise BadInput("a choice takes one label, but the prediction has several")
    return answer


def add_predictions(run: Run, answers: Answers, *, all_or_none: bool = False) -> Added:
    """Store answers by example. Repeating an answer does no harm; a different one is never stored,
    and with `all_or_none` the whole piece is refused (DifferentAnswer)."""
    with transaction.atomic():
        # Locked so that nothing comes in during the completion, or during this piece.
        held = Run.objects.select_for_update().get(pk=run.pk)
        if held.is_complete:
            raise Frozen("This run is complete, and a complete run is final: make a new run.")
        there = dict(
            Prediction.objects.filter(run=run, example_id__in=list(answers)).values_list(
                "example_id", "answer"
            )
        )
        different = [pk for pk, old in there.items() if set(old) != set(answers[pk])]
        if different and all_or_none:
            raise DifferentAnswer(different)
        new = [
            Prediction(run=run, example_id=pk, answer=list(answer))
            for pk, answer in answers.items()
            if pk not in there
        ]
        Prediction.objects.bulk_create(new, batch_size=1_000)
    return Added(len(new), len(there) - len(different), different)


def finish_run(run: Run, *, report: Mapping[str, Any]) -> None:
    """Make the run complete, and final; a complete run stays as it is. Raises StoredAlready if it
    exists as another run, BadInput if it has no predictions."""
    checksum = ""
    try:
        with transaction.atomic():
            if Run.objects.select_for_update().get(pk=run.pk).is_complete:
                return
            checksum = checksum_of(run)
            Run.objects.filter(pk=run.pk).update(
                state=RunState.COMPLETE, checksum=checksum, report={**report, **_coverage(run)}
            )
    except IntegrityError:
        same = Run.objects.filter(checksum=checksum).first()
        if same is None:
            raise
        raise StoredAlready(same) from None
    finally:
        run.refresh_from_db()


def checksum_of(run: Run) -> str:
    """SHA-256 over what the run is and what it says, the same on every machine."""
    rows = run.predictions.order_by().values_list("example__identity", "answer")
    predictions = sorted((identity, sorted(answer)) for identity, answer in rows)
    if not predictions:
        raise BadInput("The run has no predictions: upload some, then finish it.")
    identity = [
        run.benchmark.name,
        run.task.slug,
        run.test_set.name,
        run.system,
        run.method,
        run.parameters,
        run.shots,
        run.split,
        run.episode,
    ]
    text = json.dumps([identity, predictions], ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def _coverage(run: Run) -> dict[str, int]:
    matched = run.predictions.count()
    return {"matched": matched, "missing": run.test_set.items.count() - matched}

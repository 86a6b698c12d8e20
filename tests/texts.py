"""Batches of texts that a test writes itself, where those of `tests.make` are too plain."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from annotation.models import Batch, Example, Gold, Role, Task
from annotation.studies.lifecycle import start_study
from tests import make


@dataclass(frozen=True)
class Text:
    """One example as a page shows it, with its gold."""

    context: str
    question: str = "Which cities are named?"
    gold: Sequence[str] = ()
    more_gold: Sequence[Sequence[str]] = ()
    explanation: str = ""
    candidates: Sequence[str] = field(default=())
    options: Sequence[str] = ()


def running_batch_of(
    kind: str,
    *,
    training: Sequence[Text] = (),
    tests: Sequence[Text] = (),
    wanted: int = 3,
    study: dict[str, Any] | None = None,
    **task_fields: Any,
) -> Batch:
    """A batch of a started study; without training it is zero-shot."""
    bench = make.benchmark()
    task = make.task(bench, kind=kind, training=0, tests=0, **task_fields)
    if training:
        examples = [_example(task, text, n, Role.TRAINING) for n, text in enumerate(training)]
        shots = make.item_set(task, examples, name="train", shots=len(training), split=1)
        if shots.choices:  # practice offers what is right
            shots.choices = sorted({*shots.choices, *(t for text in training for t in text.gold)})
            shots.save()
    shown = tests or [Text("Oslo.", gold=["Oslo"], candidates=["Oslo"])]
    items = [_example(task, text, n, Role.TEST) for n, text in enumerate(shown)]
    test_set = task.item_sets.get(name="test")
    for position, example in enumerate(items):
        test_set.items.create(example=example, position=position, source_id=str(position))
    made = make.batch(
        make.study(bench, **(study or {})), task, zero_shot=not training, wanted=wanted
    )
    start_study(made.study, at=make.NOON)
    made.refresh_from_db()
    return made


def _example(task: Task, text: Text, number: int, role: str) -> Example:
    made = make.example(task, f"{role} {number}", role=role)
    made.context = [text.context]
    made.question = text.question
    made.options = list(text.options)
    made.context_hash = sha256(text.context.encode()).hexdigest()
    made.candidates = [
        [0, *match.span()]
        for candidate in text.candidates
        for match in re.finditer(re.escape(candidate), text.context)
    ]
    made.save()
    alternatives = [text.gold, *text.more_gold]
    Gold.objects.filter(example=made).update(
        alternatives=[[{"text": piece} for piece in pieces] for pieces in alternatives],
        explanation=text.explanation,
    )
    return made


# Texts for pages that have to scroll

LONG = (
    "The Danube rises in the Black Forest and passes through ten countries. Vienna, Bratislava, "
    "Budapest and Belgrade stand on its banks, and no other river of the world runs through as "
    "many capitals. Barges carry grain, ore and sand; in summer there are more passenger ships "
    "than barges. In Ulm, where the boats for the long journey down used to be built, the river "
    "is still narrow enough to throw a stone across. "
) * 4


def long_texts(count: int) -> list[Text]:
    """Several questions about one long text, as in named entity recognition."""
    kinds = ("rivers", "cities", "people", "forests", "ships")
    cities = ["Vienna", "Budapest", "Belgrade", "Bratislava", "Ulm"]
    golds: tuple[list[str], ...] = (["Danube"], cities, [], [], [])
    return [
        Text(LONG, question=f"Which {kind} are named?", gold=gold)
        for kind, gold in list(zip(kinds, golds, strict=True))[:count]
    ]

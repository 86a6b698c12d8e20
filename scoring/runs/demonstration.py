"""The demonstration's systems, with runs of all five splits beside the people.

One is a rule, which is applied here. The other is a model that was tuned and asked when the
demonstration was made; its answers lie in a file, since tuning needs libraries that few have:

- first a line with what is the same for all: `system`, `method`, `parameters`, `made` (the day),
  `format`, `seed`, and all of `tuning`;
- then one for each shot set that was tuned on: `task`, `shots`, `split`, its `shown` examples,
  what is `tuned`, its `notes`, and the `answers` by the examples' own ids.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.db import transaction

from annotation.kinds import answer_kind, asked, gold_in_force, mentions
from annotation.models import Benchmark, Example, ItemSet, Role, Task
from annotation.simulation.demonstration import RUNS
from scoring.models import Method, Run
from scoring.runs.formats.records import RunFields
from scoring.runs.joining import ItemFinder
from scoring.runs.storing import (
    Answers,
    StoredAlready,
    add_predictions,
    find_test_set,
    finish_run,
    open_run,
    storable_answer,
)

FORMAT = "demonstration"
# Of the answers that were made beforehand.
NOTE = "tuned and asked by finetune_model on {}, and stored with the demonstration"
NAME = "Word overlap"
_WORD = re.compile(r"\w+")
_CAPITALISED = re.compile(r"[A-Z]\w*(?: [A-Z]\w*)*")


class WordOverlap:
    """A small real system: it learns from a shot set by the words that examples share, and knows
    nothing else, so its scores differ by shots and split as any system's do.

    - where a label or any text answers: the answer of the training example with which the text
      shares the largest part of its words.
    - where an entity does: the one that is mentioned most often.
    - where pieces of the text do: what was gold for the same question in training and stands in the
      text; besides, runs of capitalised words that share a word with such gold. At most the first
      few where the task limits them.
    """

    def __init__(self, task: Task, shot_set: ItemSet) -> None:
        self.task = task
        self.examples: list[Example] = list(shot_set.examples.order_by("items__position"))
        version = task.latest_gold_version().number
        golds = gold_in_force([example.pk for example in self.examples], task.pk, version)
        self.golds = {pk: gold.alternative_texts()[0] for pk, gold in golds.items()}

    def predict(self, example: Example) -> list[str]:
        kind = answer_kind(self.task.kind)
        if kind.takes_pieces:
            return self._remembered_spans(example)
        if kind.takes_options and not kind.takes_labels:
            return [Counter(mentions(asked(example, ()))).most_common(1)[0][0]]
        words = _words(example)
        nearest = max(self.examples, key=lambda known: _overlap(words, _words(known)))
        return self.golds[nearest.pk]

    def _remembered_spans(self, example: Example) -> list[str]:
        text = " ".join(example.context)
        golds = {
            gold
            for known in self.examples
            if known.question == example.question
            for gold in self.golds[known.pk]
        }
        words = {word for gold in golds for word in _WORD.findall(gold)}
        spans = [gold for gold in sorted(golds) if gold in text]
        spans += [run for run in _CAPITALISED.findall(text) if words & set(_WORD.findall(run))]
        return list(dict.fromkeys(spans))[: self.task.max_spans]


def _words(example: Example) -> frozenset[str]:
    return frozenset(word.lower() for part in example.context for word in _WORD.findall(part))


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right) if left | right else 0.0


def load_demonstration_runs(benchmark: Benchmark, stored: Path = RUNS) -> int:
    """A run of each system for each shot set that has none yet; returns how many were added.
    Tasks that the benchmark lacks are passed over."""
    tasks = {task.slug: task for task in benchmark.tasks.all()}
    ruled = sum(_ruled_run(shot_set) for task in tasks.values() for shot_set in _missing(task))
    with stored.open(encoding="utf-8") as file:
        common, *lines = map(json.loads, file)
    done = {task.pk: _done(task, common["system"]) for task in tasks.values()}
    return ruled + sum(
        _stored_run(task, common, line)
        for line in lines
        if (task := tasks.get(line["task"])) and (line["shots"], line["split"]) not in done[task.pk]
    )


def _missing(task: Task) -> list[ItemSet]:
    done = _done(task, NAME)
    shot_sets = task.item_sets.filter(role=Role.TRAINING)
    return [shot_set for shot_set in shot_sets if (shot_set.shots, shot_set.split) not in done]


def _done(task: Task, system: str) -> set[tuple[int | None, int | None]]:
    return set(Run.objects.filter(task=task, system=system).values_list("shots", "split"))


def _ruled_run(shot_set: ItemSet) -> bool:
    task = shot_set.task
    system, test_set = WordOverlap(task, shot_set), find_test_set(task, None)
    answers = {example.pk: tuple(system.predict(example)) for example in test_set.examples.all()}
    fields = RunFields(system=NAME, method=Method.OTHER, shots=shot_set.shots, split=shot_set.split)
    return _store(test_set, fields, answers, {})


def _stored_run(task: Task, common: Mapping[str, Any], line: Mapping[str, Any]) -> bool:
    items = ItemFinder(find_test_set(task, None))
    given = line["answers"].items()
    said = {name: common[name] for name in ("system", "method", "parameters")}
    report = {
        "notes": [NOTE.format(common["made"]), *line["notes"]],
        "prompts": {
            "format": common["format"],
            "seed": common["seed"],
            "shown": line["shown"],
        },
        "tuning": common["tuning"],
        "tuned": line["tuned"],
    }
    return _store(
        items.item_set,
        RunFields(**said, shots=line["shots"], split=line["split"]),
        {items.find(key): storable_answer(tuple(pieces)) for key, pieces in given},
        report,
    )


@transaction.atomic
def _store(
    test_set: ItemSet, fields: RunFields, answers: Answers, report: Mapping[str, Any]
) -> bool:
    run = open_run(test_set=test_set, fields=fields, source_format=FORMAT)
    add_predictions(run, answers)
    try:
        finish_run(run, report=report)
    except StoredAlready:
        # Two shot sets that teach it the same give the same answers, and once is enough.
        run.delete()
        return False
    return True

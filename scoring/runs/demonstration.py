"""The demonstration's systems, with runs of all five splits beside the people.

One is a rule, which is applied here. The other is a model that was tuned and asked when the
demonstration was made; its answers lie in a file, since tuning needs libraries that few have:

- first a line with what is the same for all: `system`, `method`, `parameters`, `made` (the day),
  `format`, `seed`, and all of `tuning`;
- then one for each shot set that was tuned on: `task`, `shots`, `split`, its `shown` examples,
  what is `tuned`, its `notes`, and the `answers` by the examples' own ids.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from django.db import transaction

from annotation.kinds.scoring import gold_in_force
from annotation.models import Benchmark, Example, ItemSet, Role, Task
from annotation.simulation.demonstration import RUNS
from scoring.models import Method, Run
from scoring.runs.formats.records import RunFields
from scoring.runs.joining import ItemFinder
from scoring.runs.storing import (
    StoredAlready,
    add_predictions,
    find_test_set,
    finish_run,
    open_run,
    storable_answer,
)
from scoring.runs.word_overlap import NAME, WordOverlap

FORMAT = "demonstration"
# Of the answers that were made beforehand.
NOTE = "tuned and asked by finetune_model on {}, and stored with the demonstration"


def load_demonstration_runs(benchmark: Benchmark, stored: Path = RUNS) -> int:
    """A run of each system for each shot set that has none yet; returns how many were added.
    Tasks that the benchmark lacks are passed over."""
    ruled = sum(_run_on(shot_set) for task in benchmark.tasks.all() for shot_set in _missing(task))
    return ruled + sum(_stored_runs(benchmark, stored))


def as_stored(runs: list[Run], made: str) -> Iterator[str]:
    """The lines of the file, from runs of one system that have just been made."""
    first = runs[0]
    prompts, tuning = first.report["prompts"], first.report["tuning"]
    yield _line(
        system=first.system,
        method=first.method,
        parameters=first.parameters,
        made=made,
        format=prompts["format"],
        seed=prompts["seed"],
        tuning=tuning,
    )
    for run in runs:
        names = dict(run.test_set.items.values_list("example_id", "source_id"))
        given = dict(run.predictions.values_list("example_id", "answer"))
        yield _line(
            task=run.task.slug,
            shots=run.shots,
            split=run.split,
            shown=run.report["prompts"]["shown"],
            tuned=run.report["tuned"],
            notes=run.report["notes"],
            answers={names[pk]: given[pk] for pk in sorted(given, key=lambda pk: names[pk])},
        )


def _line(**fields: Any) -> str:
    return json.dumps(fields, ensure_ascii=False)


def _stored_runs(benchmark: Benchmark, stored: Path) -> Iterator[bool]:
    with stored.open(encoding="utf-8") as file:
        common = json.loads(next(file))
        tasks = {task.slug: task for task in benchmark.tasks.all()}
        done = {task.pk: _done(task, common["system"]) for task in tasks.values()}
        for line in map(json.loads, file):
            task = tasks.get(line["task"])
            if task and (line["shots"], line["split"]) not in done[task.pk]:
                yield _store(task, common, line)


def _store(task: Task, common: Mapping[str, Any], line: Mapping[str, Any]) -> bool:
    items = ItemFinder(find_test_set(task, None))
    return _filled(
        items.item_set,
        RunFields(
            system=common["system"],
            method=common["method"],
            parameters=common["parameters"],
            shots=line["shots"],
            split=line["split"],
        ),
        lambda: {
            items.find(key): storable_answer(tuple(pieces))
            for key, pieces in line["answers"].items()
        },
        {
            "notes": [NOTE.format(common["made"]), *line["notes"]],
            "prompts": {
                "format": common["format"],
                "seed": common["seed"],
                "shown": line["shown"],
            },
            "tuning": common["tuning"],
            "tuned": line["tuned"],
        },
    )


def _missing(task: Task) -> list[ItemSet]:
    done = _done(task, NAME)
    shot_sets = task.item_sets.filter(role=Role.TRAINING)
    return [shot_set for shot_set in shot_sets if (shot_set.shots, shot_set.split) not in done]


def _done(task: Task, system: str) -> set[tuple[int | None, int | None]]:
    return set(Run.objects.filter(task=task, system=system).values_list("shots", "split"))


def _run_on(shot_set: ItemSet) -> bool:
    task = shot_set.task
    system = _trained(task, shot_set)
    test_set = find_test_set(task, None)
    return _filled(
        test_set,
        RunFields(system=NAME, method=Method.OTHER, shots=shot_set.shots, split=shot_set.split),
        lambda: {example.pk: tuple(system.predict(example)) for example in test_set.examples.all()},
        {},
    )


@transaction.atomic
def _filled(
    test_set: ItemSet,
    fields: RunFields,
    answers: Callable[[], Mapping[int, tuple[str, ...]]],
    report: Mapping[str, Any],
) -> bool:
    run = open_run(test_set=test_set, fields=fields, source_format=FORMAT)
    add_predictions(run, answers())
    try:
        finish_run(run, report=report)
    except StoredAlready:
        # Two shot sets that teach it the same give the same answers, and once is enough.
        run.delete()
        return False
    return True


def _trained(task: Task, shot_set: ItemSet) -> WordOverlap:
    examples: list[Example] = list(shot_set.examples.order_by("items__position"))
    version = task.latest_gold_version().number
    golds = gold_in_force([example.pk for example in examples], task.pk, version)
    return WordOverlap(
        kind=task.kind,
        max_spans=task.max_spans,
        examples=examples,
        golds={pk: gold.alternative_texts()[0] for pk, gold in golds.items()},
    )

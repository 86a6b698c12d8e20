"""The demonstration's systems, with runs of all five splits beside the people.

One is a rule (tests/scoring/runs/word_overlap.py); the others are models, asked when the
demonstration was made (tools/demonstration_runs.py). A file has first a line with what is the same
for all runs, and then one for each: `task`, `shots`, `split`, `answers` by the examples' own ids.
Of a model, it also has the `notes` and the `report` of its runs.
"""

import json
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.access.rights import make_owner
from annotation.models import Benchmark
from annotation.simulation.demonstration import DEMO, RUNS
from scoring.models import Run
from scoring.runs import storing
from scoring.runs.formats.records import ReadOptions, RunFields
from scoring.runs.formats.reported import import_scores
from scoring.runs.joining import ItemFinder

FORMAT = "demonstration"
# Tables 5 to 7 of the paper; tests/oracles/README.md says what stands in it.
CLUES = DEMO / "clues_results.json"
SOURCE = "Mukherjee et al., CLUES, NeurIPS 2021 (https://arxiv.org/abs/2111.02570), figures alone."


@transaction.atomic
def load_published(owner: User | None = None) -> None:
    """Bring CLUES as it was published, people and systems, unless there is a benchmark `clues`."""
    benchmark, is_new = Benchmark.every.get_or_create(name="clues", defaults={"source": SOURCE})
    if is_new:
        make_owner(benchmark, owner)
        import_scores(path=CLUES, benchmark=benchmark, options=ReadOptions())


def load_demonstration_runs(benchmark: Benchmark) -> int:
    """How many runs were added; tasks that the benchmark lacks are passed over."""
    tasks = {task.slug: task for task in benchmark.tasks.all()}
    items = {slug: ItemFinder(storing.find_test_set(task, None)) for slug, task in tasks.items()}
    added = 0
    for path in RUNS:
        common, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        runs = Run.objects.filter(task__in=tasks.values(), system=common["system"])
        done = set(runs.values_list("task__slug", "shots", "split"))
        for line in lines:
            if line["task"] in tasks and (line["task"], line["shots"], line["split"]) not in done:
                added += _store(items[line["task"]], common, line)
    return added


@transaction.atomic
def _store(items: ItemFinder, common: Mapping[str, Any], line: Mapping[str, Any]) -> bool:
    said = {name: common[name] for name in ("system", "method", "parameters")}
    fields = RunFields(**said, shots=line["shots"], split=line["split"])
    run = storing.open_run(test_set=items.item_set, fields=fields, source_format=FORMAT)
    answered = line["answers"].items()
    answers = {items.find(key): storing.storable_answer(tuple(texts)) for key, texts in answered}
    storing.add_predictions(run, answers)
    report = {**common.get("report", {}), **line.get("report", {})}
    if "notes" in common:  # of the rule there is nothing to say
        report["notes"] = [*common["notes"], *line["notes"]]
    try:
        storing.finish_run(run, report=report)
    except storing.StoredAlready:
        run.delete()
        return False
    return True

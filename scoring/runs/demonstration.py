"""The demonstration's system, run on every shot set: five splits beside the people."""

from annotation.kinds.scoring import gold_in_force
from annotation.models import Benchmark, Example, ItemSet, Role, Task
from scoring.models import Method, Run
from scoring.runs.formats.records import RunFields
from scoring.runs.storing import StoredAlready, add_predictions, finish_run, open_run
from scoring.runs.word_overlap import NAME, WordOverlap


def load_demonstration_runs(benchmark: Benchmark) -> int:
    """A run for each shot set that has none yet; returns how many were added."""
    return sum(_run_on(shot_set) for task in benchmark.tasks.all() for shot_set in _missing(task))


def _missing(task: Task) -> list[ItemSet]:
    done = set(Run.objects.filter(task=task, system=NAME).values_list("shots", "split"))
    shot_sets = task.item_sets.filter(role=Role.TRAINING)
    return [shot_set for shot_set in shot_sets if (shot_set.shots, shot_set.split) not in done]


def _run_on(shot_set: ItemSet) -> bool:
    task = shot_set.task
    system = _trained(task, shot_set)
    test_set = task.item_sets.get(role=Role.TEST)
    fields = RunFields(system=NAME, method=Method.OTHER, shots=shot_set.shots, split=shot_set.split)
    run = open_run(test_set=test_set, fields=fields, source_format="demonstration")
    examples = test_set.examples.all()
    add_predictions(run, {example.pk: tuple(system.predict(example)) for example in examples})
    try:
        finish_run(run, report={})
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

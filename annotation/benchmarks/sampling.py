"""Sampling: few-shot episodes from one labelled data set.

What was drawn is a task of its own with its item sets, and keeps the parameters, the seed and the
checksum of it all: sampling it again, on any machine, gives the same or an error.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.contrib.auth.models import User

from annotation.benchmarks.formats.content import ReadExample, ReadSet, ReadTask, episode_sets
from annotation.benchmarks.formats.flex import TRANSFERS
from annotation.benchmarks.formats.labelled import LabelledData, distinct, labelled_example
from annotation.benchmarks.importing import check_names, store_tasks
from annotation.benchmarks.storing import TaskReport, exposure_key_for
from annotation.kinds import answer_kind
from annotation.kinds.choice import KIND as CHOICE
from annotation.kinds.gold import gold_in_force
from annotation.models import Role, Task, Transfer
from annotation.models.errors import BadInput
from scoring.core import episodes as core
from scoring.core.episodes import FLEX_CLASS, FLEX_DOMAIN_AND_TASK, Episode, EpisodeRules


@dataclass(frozen=True)
class Preset:
    """A published configuration; classes is how many the data set has, if that is fixed."""

    rules: EpisodeRules
    transfer: str = ""
    classes: int | None = None


def _replicated(shots: int, *, classes: int | None = None) -> Preset:
    """A setting of earlier work as in FLEX's toolkit: few-shot only, the same shots for every
    class, at most 40 test examples of each."""
    rules = EpisodeRules(
        few_shot=90, zero_shot=0, least_shots=shots, most_shots=shots, most_test=40
    )
    if classes is None:
        return Preset(rules)
    rules = replace(rules, classes_transfer=True, least_classes=classes, most_classes=classes)
    return Preset(rules)


FLEX = {
    Transfer.CLASS: FLEX_CLASS,
    **dict.fromkeys((Transfer.DOMAIN, Transfer.TASK), FLEX_DOMAIN_AND_TASK),
}
CLASSES = {"mr": 2, "cr": 2, "snli": 3, "scitail": 2, "subj": 2, "trec": 6, "conll": 4}
PRESETS: dict[str, Preset] = {
    **{f"flex-{transfer}": Preset(rules, transfer) for transfer, rules in FLEX.items()},
    **{
        f"flex-{name}": Preset(FLEX[transfer], transfer, CLASSES.get(name))
        for name, transfer in TRANSFERS.items()
    },
    "bao-1": _replicated(1, classes=5),
    "bao-5": _replicated(5, classes=5),
    "gao-16": _replicated(16),
    "bansal-4": _replicated(4),
    "bansal-8": _replicated(8),
    "bansal-16": _replicated(16),
}


def changed(rules: EpisodeRules, changes: dict[str, Any]) -> EpisodeRules:
    with _refusing():
        return replace(rules, **changes)


def labelled_task(task: Task) -> LabelledData:
    """An imported task as a data set: each content of its sets once, with its present gold."""
    if not answer_kind(task.kind).takes_one_label:
        raise BadInput(f"The task {task.slug} has no single labels to choose from ({task.kind}).")
    examples = list(task.examples.order_by("id"))
    if any(example.options or example.images for example in examples):
        raise BadInput(
            f"The task {task.slug} has items with options of their own or images, which episodes "
            "do not hold."
        )
    golds = gold_in_force([e.pk for e in examples], task.pk, task.latest_gold_version().number)
    return distinct(
        f"{task.benchmark.name}/{task.slug}",
        (
            labelled_example(
                where=f"{task.slug}, {example.identity}",
                source_id=example.identity.partition(":")[2][:200],
                context=example.context,
                question=example.question,
                label=golds[example.pk].alternative_texts()[0][0],
            )
            for example in examples
        ),
    )


def sample(
    data: LabelledData,
    *,
    rules: EpisodeRules,
    seed: int,
    benchmark: str,
    task: str,
    fields: dict[str, Any] | None = None,
    expected: str = "",
    owner: User | None = None,
) -> tuple[TaskReport, str, int]:
    """Draw the sets and store them as this task; `fields` describe a new task. Returns its report,
    the checksum of its sets, and how many they are.

    Raises BadInput if the data set cannot give such sets, if their checksum is not the expected
    one, or if the task exists with other sets.
    """
    check_names(benchmark, task)
    drawn = _drawn(data, rules, seed, expected)
    record: dict[str, Any] = {
        "kind": "episodes",
        # As JSON returns it, so that it can be compared.
        "parameters": json.loads(json.dumps(asdict(rules))),
        "seed": seed,
        "checksum": core.checksum(drawn),
    }
    known = {example.content_hash: example for example in data.examples}
    sets = [made for episode in drawn for made in _sets_of_episode(episode, known, data.file)]

    def read() -> list[ReadTask]:
        _check_same(Task.objects.filter(benchmark__name=benchmark, slug=task).first(), record)
        defaults = {"title": task, "exposure_key": exposure_key_for(data.labels), **(fields or {})}
        stated = {"kind": CHOICE.name, "sampling": record}
        return [ReadTask(task, stated, defaults, sets, data.notes)]

    [report] = store_tasks(benchmark, read, owner=owner)
    return report, record["checksum"], len(sets)


def _drawn(data: LabelledData, rules: EpisodeRules, seed: int, expected: str) -> list[Episode]:
    if seed < 0:
        raise BadInput(f"The seed is {seed}; it must be a whole number from 0.")
    with _refusing(f"{data.file}: "):
        drawn = core.sample_episodes(data.labels, rules, seed=seed)
    if expected:
        with _refusing():
            core.verify_checksum(drawn, expected)
    return drawn


@contextmanager
def _refusing(where: str = "") -> Iterator[None]:
    """What the core finds wrong, as a refusal."""
    try:
        yield
    except ValueError as error:
        raise BadInput(f"{where}{error}") from error


def _check_same(present: Task | None, record: dict[str, Any]) -> None:
    """A task is sampled once: repeating it changes nothing, anything else is refused."""
    if present is None:
        return
    known = present.sampling
    if not known.get("parameters"):
        raise BadInput(f"The task {present.slug} was imported, not sampled: name another one.")
    if (known["parameters"], known["seed"]) != (record["parameters"], record["seed"]):
        raise BadInput(
            f"The task {present.slug} was sampled with other parameters or another seed "
            f"({known['seed']}): name another task for these."
        )
    if known["checksum"] != record["checksum"]:
        raise BadInput(
            f"The data set is not what the task {present.slug} was sampled from: the sampled sets "
            f"now have checksum {record['checksum'][:12]}…, not {known['checksum'][:12]}…. "
            "Sample from the former file, or name another task."
        )


def _sets_of_episode(episode: Episode, known: dict[str, ReadExample], file: str) -> list[ReadSet]:
    rows = [
        # Question ids are unique over all episodes, as predictions name nothing else.
        replace(known[content], role=role, source_id=f"{episode.number}-{content[:16]}")
        for role, contents in ((Role.TRAINING, episode.training), (Role.TEST, episode.test))
        for content in contents
    ]
    return episode_sets(episode.number, episode.labels, rows, file)

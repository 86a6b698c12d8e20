"""The gold that a benchmark's file proposes instead of its own, for the owner to take."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.benchmarks.formats.own_options import WAYS, Way
from annotation.kinds import answer_kind, gold_in_force
from annotation.models import Example, Task

BETWEEN = ","


@dataclass(frozen=True)
class Proposals:
    # By example: the alternatives that differ from its gold.
    takeable: dict[Example, list[list[str]]]
    # What names no options of theirs.
    others: list[Example]


def proposals_of(task: Task) -> Proposals:
    """Read in the one way, by letter, index or text, that fits most of the task's."""
    examples = list(task.examples.exclude(proposed="").select_related("task").order_by("pk"))
    version = task.latest_gold_version().number
    golds = gold_in_force([example.pk for example in examples], task.pk, version)
    readings = [[_read(example, way) for example in examples] for way in WAYS.values()]
    best = max(readings, key=lambda reading: sum(map(bool, reading)), default=[])
    takeable = {}
    for example, alternatives in zip(examples, best, strict=True):
        if alternatives and alternatives != golds[example.pk].alternative_texts():
            takeable[example] = alternatives
    unread = [one for one, alternatives in zip(examples, best, strict=True) if not alternatives]
    return Proposals(takeable, unread)


def _read(example: Example, way: Way) -> list[list[str]]:
    names: Sequence[str] = [name.strip() for name in example.proposed.split(BETWEEN)]
    numbers = [way(name, example.options) for name in names]
    if None in numbers:
        return []
    texts = [str(number) for number in numbers]
    return [texts] if answer_kind(example.task.kind).takes_sets else [[text] for text in texts]

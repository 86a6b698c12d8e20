"""Findings of an audit, and the material they are made from.

`Task.audit` is a list of findings, each {code, severity, message, examples, figures}:

- code names the check; severity is "warning" (something to be known before the data are
  used) or "note";
- message is one or two sentences; examples are up to five cases, as short texts;
- figures are the numbers behind the message: counts and shares as they are, and scores in
  percent by reference policy, such as {"any": {"empty": 51.3}, "set": {"empty": 51.3}}.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import QuerySet

from annotation.benchmarks.chains import Chain, Contents, chains_of, shot_contents
from annotation.benchmarks.subsets import PART
from annotation.kinds import answer_kind
from annotation.kinds.base import AskedExample, Tested, asked
from annotation.models import Example, Gold, Item, ItemSet, Role, Task
from scoring.core.normalisation import normalised, normalised_golds

WARNING, NOTE = "warning", "note"
MOST_EXAMPLES = 5
LONGEST_EXAMPLE = 160


@dataclass(frozen=True)
class Finding:
    code: str
    severity: str
    message: str
    examples: tuple[str, ...] = ()
    figures: dict[str, Any] = field(default_factory=dict)


def warning(code: str, message: str, cases: Sequence[str], **figures: int) -> Finding | None:
    """A warning about these cases, if there are any."""
    if not cases:
        return None
    shown = tuple(shortened(case) for case in cases[:MOST_EXAMPLES])
    figures = {"count": len(cases), **figures}
    return Finding(code, WARNING, message.format(count=len(cases)), shown, figures)


def shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_EXAMPLE else f"{text[: LONGEST_EXAMPLE - 1]}…"


def stands_in(text: str, example: Example) -> bool:
    return any(text in segment for segment in example.context)


@dataclass(frozen=True)
class Row:
    """One item of one set, with its gold."""

    item_set: ItemSet
    source_id: str
    example: Example
    alternatives: list[list[dict[str, Any]]]

    @cached_property
    def asked(self) -> AskedExample:
        return asked(self.example, self.item_set.choices)

    @cached_property
    def texts(self) -> list[list[str]]:
        return [[span["text"] for span in spans] for spans in self.alternatives]

    @cached_property
    def gold(self) -> set[str]:
        """All the gold texts, of whichever alternative."""
        return {text for texts in self.texts for text in texts}

    def says(self, what: object = "") -> str:
        """The row in one line, for an example of a finding."""
        text = f"{self.item_set.name} {self.source_id}: {what or ' / '.join(self.example.context)}"
        return shortened(text)


class TestMaterial:
    """The test rows of a task at one version of its gold: all that its floors and its ceiling
    are computed from."""

    def __init__(self, task: Task, gold_version: int) -> None:
        self.task = task
        self.test = _rows(task, gold_version, [Role.TEST])

    @cached_property
    def tested(self) -> Tested:
        return Tested(
            [row.asked for row in self.test],
            [normalised_golds(row.texts, self.task.normalisation) for row in self.test],
        )

    def givable(self, row: Row) -> set[str]:
        """The gold texts that an answer could hold, as S1 compares them."""
        texts = answer_kind(self.task.kind).givable(row.gold, row.asked)
        return set(normalised(texts, self.task.normalisation))

    @property
    def most(self) -> int | None:
        """How many texts one answer may hold."""
        return answer_kind(self.task.kind).most_texts(self.task.max_spans)


class Material(TestMaterial):
    """All rows of a task at its latest gold, as the checks need them."""

    def __init__(self, task: Task) -> None:
        self.task = task
        rows = _rows(task, task.latest_gold_version().number, Role.values)
        self.test = [row for row in rows if row.item_set.role == Role.TEST]
        self.training = [row for row in rows if row.item_set.role == Role.TRAINING]
        # Each example once, by its first row.
        self.distinct = list({row.example.pk: row for row in reversed(rows)}.values())[::-1]

    @cached_property
    def contents(self) -> Contents:
        return shot_contents(self.task)

    @cached_property
    def chains(self) -> list[Chain]:
        return chains_of(self.contents)


def _rows(task: Task, gold_version: int, roles: Collection[str]) -> list[Row]:
    # Fetched once, and not again with each of their items. A part's items are the whole set's.
    whole = task.item_sets.filter(role__in=roles).exclude(name__contains=PART)
    sets = {item_set.pk: item_set for item_set in whole}
    items = Item.objects.filter(item_set__in=whole)
    golds = _golds_in_force(items, gold_version)
    return [
        Row(
            sets[item.item_set_id],
            item.source_id,
            item.example,
            golds.get(item.example_id, [[]]),
        )
        for item in items.select_related("example").order_by(
            "item_set__role", "item_set__shots", "item_set__split", "item_set", "position"
        )
    ]


def _golds_in_force(
    items: QuerySet[Item], gold_version: int
) -> dict[int, list[list[dict[str, Any]]]]:
    golds = Gold.objects.filter(
        example__in=items.values("example"), version__number__lte=gold_version
    )
    return dict(golds.order_by("version__number").values_list("example_id", "alternatives"))

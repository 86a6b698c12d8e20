"""The rows of a task with their gold, and what can be scored on them: by no skill, at best."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from django.db.models import QuerySet

from annotation.benchmarks.chains import Chain, Contents, chains_of, shot_contents
from annotation.kinds import answer_kind
from annotation.kinds.base import AskedExample, Floor, Golds, asked
from annotation.models import Example, Gold, Item, ItemSet, Role, Task
from annotation.models.benchmark import PART
from scoring.core import s1 as core
from scoring.core.normalisation import normalised, normalised_golds

LONGEST_EXAMPLE = 160
# A ceiling below this, in percent, is a warning.
ALMOST_ALL = 99.995


def shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_EXAMPLE else f"{text[: LONGEST_EXAMPLE - 1]}…"


@dataclass(frozen=True)
class Row:
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
        return {text for texts in self.texts for text in texts}

    def says(self, what: object = "") -> str:
        # A row of options alone has no text.
        shown = what or " / ".join(self.example.context) or " / ".join(self.example.options)
        return shortened(f"{self.item_set.name} {self.source_id}: {shown}")


class TestMaterial:
    """The test rows of a task at one version of its gold: all that its floors and its ceiling
    are computed from."""

    def __init__(self, task: Task, gold_version: int, only: Collection[int] | None = None) -> None:
        """only: of the examples with these primary keys; None for all."""
        self.task = task
        rows = _rows(_whole_sets(task, [Role.TEST]), gold_version)
        self.test = [row for row in rows if only is None or row.example.pk in only]

    @cached_property
    def golds(self) -> Golds:
        return [normalised_golds(row.texts, self.task.normalisation) for row in self.test]

    def givable(self, row: Row) -> set[str]:
        texts = answer_kind(self.task.kind).givable(row.gold, row.asked)
        return set(normalised(texts, self.task.normalisation))

    @property
    def most(self) -> int | None:
        return answer_kind(self.task.kind).most_texts(self.task.max_spans)


class Material(TestMaterial):
    """All rows of a task at its latest gold, as the checks need them; only: as of its test."""

    def __init__(self, task: Task, only: Collection[int] | None = None) -> None:
        self.task = task
        rows = _rows(_whole_sets(task, Role.values), task.latest_gold_version().number)
        rows = [row for row in rows if only is None or row.example.pk in only]
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


def _whole_sets(task: Task, roles: Collection[str]) -> QuerySet[ItemSet]:
    # A part's items are the whole set's.
    return task.item_sets.filter(role__in=roles).exclude(name__contains=PART)


def _rows(whole: QuerySet[ItemSet], gold_version: int) -> list[Row]:
    # Fetched once, and not again with each of their items.
    sets = {item_set.pk: item_set for item_set in whole.order_by()}
    items = Item.objects.filter(item_set__in=whole)
    in_force = Gold.objects.filter(
        example__in=items.values("example"), version__number__lte=gold_version
    ).order_by("version__number")
    golds = dict(in_force.values_list("example_id", "alternatives"))
    return [
        Row(sets[item.item_set_id], item.source_id, item.example, golds.get(item.example_id, [[]]))
        for item in items.select_related("example").order_by(
            "item_set__role",
            "item_set__shots",
            "item_set__split",
            "item_set__episode",
            "item_set__name",
            "position",
        )
    ]


def floor_scores(material: TestMaterial, policy: str) -> dict[str, float]:
    """What no skill earns, in percent, by the rule that gives the answers."""
    asked = [row.asked for row in material.test]
    golds, floors = material.golds, floors_of(material)
    return {floor.rule: 100 * floor.score(asked, golds, policy) for floor in floors}


def ceiling_score(material: TestMaterial, policy: str) -> float:
    """The most that can be earned, in percent."""
    offered, most = [material.givable(row) for row in material.test], material.most
    return 100 * core.ceiling_score(material.golds, offered=offered, most=most, references=policy)


def unanswerable(task: Task, sets: Collection[int]) -> tuple[list[str], float]:
    """The test items of these sets that no allowed answer gets wholly right, by their ids, and the
    best possible score on all of the sets in percent; by the latest gold, under the task's own
    policy. An audit that found none is believed."""
    policy = task.reference_policy
    ceilings = [finding["figures"] for finding in task.audit if finding["code"] == "ceiling"]
    if all(figures[policy] > ALMOST_ALL for figures in ceilings):
        return [], 100.0
    asked = Item.objects.filter(item_set__in=sets).values_list("example", "source_id")
    names = dict(asked)
    material = TestMaterial(task, task.latest_gold_version().number, names)
    best = {
        row.example.pk: core.ceiling_score(
            [gold], offered=[material.givable(row)], most=material.most, references=policy
        )
        for row, gold in zip(material.test, material.golds, strict=True)
    }
    lost = sorted(names[pk] for pk, score in best.items() if score < 1)
    return lost, 100 * fmean(best.values()) if best else 100.0


def not_offered(item_set: ItemSet) -> list[str]:
    """The items of a set whose gold nobody who sees the set could choose."""
    number = item_set.task.latest_gold_version().number
    rows = _rows(ItemSet.objects.filter(pk=item_set.pk), number)
    return [row.says() for row in rows if not offers_gold(item_set.task, row)]


def offers_gold(task: Task, row: Row) -> bool:
    """Whether people can give what is right, where they choose."""
    kind = answer_kind(task.kind)
    givable = kind.givable(row.gold, row.asked)
    return not kind.takes_options or (row.gold <= givable if kind.takes_sets else bool(givable))


def floors_of(material: TestMaterial) -> tuple[Floor, ...]:
    return answer_kind(material.task.kind).floors

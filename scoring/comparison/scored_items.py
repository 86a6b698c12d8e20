"""The items of test sets as the scorer needs them: in their order, with their gold at one version.

A benchmark of episodes has thousands of sets, so the sets of a task are read together.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from annotation.benchmarks.formats.content import checksum
from annotation.models import Gold, Item, ItemSet, Task
from scoring.core.normalisation import normalised_golds

# The alternatives of one gold, each a set of texts.
Texts = tuple[tuple[str, ...], ...]
# The example, the id that the set's file gives it, and its context.
ItemRow = tuple[int, str, str]
# More sets than this are filtered in Python: a query takes only so many values.
MOST_NAMED = 500


@dataclass(frozen=True)
class ScoredItems:
    item_set_id: int
    task_id: int
    gold_version: int
    example_ids: tuple[int, ...]
    source_ids: tuple[str, ...]
    # Items that share a context are one cluster.
    clusters: tuple[str, ...]
    golds: tuple[Texts, ...]
    normalisation: str
    fingerprint: str

    @cached_property
    def compared(self) -> list[list[list[str]]]:
        """The golds as S1 compares them."""
        return [normalised_golds(gold, self.normalisation) for gold in self.golds]

    def __len__(self) -> int:
        return len(self.example_ids)


def scored_items(
    task: Task, item_sets: Collection[ItemSet], gold_version: int
) -> dict[int, ScoredItems]:
    """By the primary key of the set; all of one task."""
    rows = _rows_of(task, {item_set.pk for item_set in item_sets})
    golds = _golds_of(task, gold_version)
    return {pk: _scored(task, pk, own, golds, gold_version) for pk, own in rows.items()}


def _rows_of(task: Task, pks: Collection[int]) -> dict[int, list[ItemRow]]:
    rows: dict[int, list[ItemRow]] = {pk: [] for pk in pks}
    items = Item.objects.filter(item_set__task=task).order_by("item_set_id", "position")
    if len(rows) <= MOST_NAMED:
        items = items.filter(item_set__in=rows)
    columns = ("item_set_id", "example_id", "source_id", "example__context_hash")
    for item_set, *row in items.values_list(*columns).iterator():
        if item_set in rows:
            rows[item_set].append(tuple(row))
    return rows


def _golds_of(task: Task, version: int) -> dict[int, Texts]:
    """Of all examples of the task; the newest if an example has several golds."""
    golds = Gold.objects.filter(version__task=task, version__number__lte=version)
    rows = golds.order_by("version__number").values_list("example_id", "alternatives")
    return {
        example: tuple(tuple(span["text"] for span in spans) for spans in alternatives)
        for example, alternatives in rows
    }


def _scored(
    task: Task, pk: int, rows: Sequence[ItemRow], golds: Mapping[int, Texts], version: int
) -> ScoredItems:
    own = tuple(golds[row[0]] for row in rows)
    return ScoredItems(
        item_set_id=pk,
        task_id=task.pk,
        gold_version=version,
        example_ids=tuple(row[0] for row in rows),
        source_ids=tuple(row[1] for row in rows),
        clusters=tuple(row[2] for row in rows),
        golds=own,
        normalisation=task.normalisation,
        fingerprint=checksum([rows, own, task.normalisation]),
    )

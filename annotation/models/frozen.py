"""The frozen content of a batch, as a process may cache it: it holds no gold. And the order in
which an annotator meets its examples: it follows from the assignment's stored seed by SHA-256
alone, so it is the same on every machine and under every version of Python, and can be rebuilt from
an export."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Protocol, TypeVar

from annotation.models.benchmark import Item, ItemSet, Role
from annotation.models.study import Batch


@dataclass(frozen=True)
class FrozenExample:
    """What an annotator may see of an example."""

    pk: int
    role: str
    position: int
    context: tuple[str, ...]
    context_hash: str
    question: str
    candidates: tuple[tuple[int, int, int], ...]
    # Those that its set offers, in a stable order.
    labels: tuple[str, ...]


@dataclass(frozen=True)
class StudyRules:
    """What a started study fixes: names and rules that no page needs to query again."""

    title: str
    hourly_rate: Decimal
    currency: str
    lease_minutes: int
    idle_after_s: int
    item_cap_s: int
    reading_cap_s: int
    reveal_cap_s: int


_RULES = tuple(field.name for field in fields(StudyRules))


@dataclass(frozen=True)
class BatchContent:
    batch_id: int
    rules: StudyRules
    task_id: int
    kind: str
    max_spans: int | None
    language: str
    direction: str
    title: str
    description: str
    gold_version: int
    reference_policy: str
    normalisation: str
    training: tuple[FrozenExample, ...]
    test: tuple[FrozenExample, ...]

    @cached_property
    def steps(self) -> int:
        return len(self.training) + len(self.test)

    @cached_property
    def by_pk(self) -> dict[int, FrozenExample]:
        return {example.pk: example for example in (*self.training, *self.test)}


@lru_cache(maxsize=256)
def batch_content(batch_id: int) -> BatchContent:
    """The content of a batch of a study that has started (only that is frozen)."""
    batch = Batch.objects.select_related(
        "study", "task", "training_set", "test_set", "gold_version"
    ).get(pk=batch_id)
    if batch.gold_version is None:
        raise ValueError(f"Batch {batch_id} has not been started: its content can still change.")
    return _content(batch, batch.description, batch.gold_version.number)


def draft_content(batch: Batch) -> BatchContent:
    """As it would be frozen if the study started now; it is never kept."""
    return _content(batch, batch.task.description, batch.task.latest_gold_version().number)


def _content(batch: Batch, description: str, gold_version: int) -> BatchContent:
    task = batch.task
    return BatchContent(
        batch_id=batch.pk,
        rules=StudyRules(**{name: getattr(batch.study, name) for name in _RULES}),
        task_id=task.pk,
        kind=task.kind,
        max_spans=task.max_spans,
        language=task.language,
        direction=task.direction,
        title=task.heading,
        description=description,
        gold_version=gold_version,
        reference_policy=task.reference_policy,
        normalisation=task.normalisation,
        training=_examples(batch.training_set) if batch.training_set else (),
        test=_examples(batch.test_set),
    )


@lru_cache(maxsize=4096)
def sequence(batch_id: int, order_seed: str) -> tuple[FrozenExample, ...]:
    """Training, then test, in this assignment's order."""
    content = batch_content(batch_id)
    return (
        *shuffled(content.training, f"{order_seed}:{Role.TRAINING}"),
        *shuffled(content.test, f"{order_seed}:{Role.TEST}"),
    )


def _examples(item_set: ItemSet) -> tuple[FrozenExample, ...]:
    items = Item.objects.filter(item_set=item_set).select_related("example").order_by("position")
    return tuple(_frozen(item, item_set) for item in items)


def _frozen(item: Item, item_set: ItemSet) -> FrozenExample:
    example = item.example
    return FrozenExample(
        pk=example.pk,
        role=item_set.role,
        position=item.position,
        context=tuple(example.context),
        context_hash=example.context_hash,
        question=example.question,
        candidates=tuple((s, start, end) for s, start, end in example.candidates),
        labels=tuple(item_set.choices),
    )


class Positioned(Protocol):
    """What shuffling needs to know about an item."""

    @property
    def context_hash(self) -> str: ...

    @property
    def position(self) -> int: ...


ItemT = TypeVar("ItemT", bound=Positioned)
T = TypeVar("T")


def shuffled(items: Iterable[ItemT], seed: str) -> list[ItemT]:
    """The items in seeded order; those of one context stay together, in file order."""
    return sorted(items, key=lambda item: (_rank(seed, item.context_hash), item.position))


def tie_broken(ranked: Sequence[tuple[int, T]], seed: str) -> list[T]:
    """Sorted by rank; ties broken by seeded chance on the value's text."""
    by_rank = sorted(ranked, key=lambda pair: (pair[0], _rank(seed, str(pair[1]))))
    return [value for _, value in by_rank]


def _rank(seed: str, key: str) -> bytes:
    return sha256(f"{seed}:{key}".encode()).digest()

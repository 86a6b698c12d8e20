"""The frozen content of a batch, as a process may cache it: it holds no gold. And the order in
which an annotator meets its examples: it follows from the assignment's stored seed by SHA-256
alone, so it is the same on every machine and under every version of Python, and can be rebuilt from
an export."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any, TypeVar

from annotation.models.assignment import CHECK
from annotation.models.batch import Batch
from annotation.models.benchmark import Item, ItemSet, Role, Task
from annotation.models.study import Shuffle, Study
from scoring.core.normalisation import as_of
from scoring.core.s1 import SCORER_VERSION


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
    # Its own, in the file's order, and their numbers in the order that this annotator sees.
    options: tuple[str, ...] = ()
    options_order: tuple[int, ...] = ()
    images: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)


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
    shuffle_by: str
    shuffle_options: bool
    has_decoy: bool


_RULES = tuple(field.name for field in fields(StudyRules))
# Of a task.
_AS_STORED = ("kind", "max_spans", "language", "direction", "reference_policy", "markup", "sample")


@dataclass(frozen=True)
class TaskContent:
    """The content of the batch's own task, or of the one that its checks are of."""

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
    markup: str
    sample: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True)
class BatchContent(TaskContent):
    training: tuple[FrozenExample, ...]
    test: tuple[FrozenExample, ...]
    checks: tuple[FrozenExample, ...] = ()
    check_task: TaskContent | None = None
    least_check_score: float | None = None
    # What whoever shows the items has found out about all of them, once a process.
    derived: dict[str, Any] = field(default_factory=dict, init=False, hash=False, compare=False)

    @cached_property
    def steps(self) -> int:
        return self.test_from + len(self.test)

    @cached_property
    def test_from(self) -> int:
        """The first step of the test."""
        return len(self.checks) + len(self.training)

    @cached_property
    def by_pk(self) -> dict[int, FrozenExample]:
        examples = (*self.checks, *self.training, *self.test)
        return {example.pk: example for example in examples}

    def task_at(self, step: int) -> TaskContent:
        """The task whose example, or whose description, is shown at a step."""
        return self.check_task if self.check_task and step < len(self.checks) else self

    def task_of(self, example: FrozenExample) -> TaskContent:
        return self.check_task if self.check_task and example.role == CHECK else self

    def in_order(self, seed: str) -> tuple[FrozenExample, ...]:
        """Checks, training, then test, in the order of an assignment's seed."""
        parts = ((self.checks, CHECK), (self.training, Role.TRAINING), (self.test, Role.TEST))
        ordered = tuple(
            example
            for examples, role in parts
            for example in shuffled(examples, f"{seed}:{role}", by=self.rules.shuffle_by)
        )
        if not self.rules.shuffle_options:
            return ordered
        return tuple(
            _with_order(example, seed) if example.options else example for example in ordered
        )


@lru_cache(maxsize=256)
def batch_content(batch_id: int) -> BatchContent:
    """The content of a batch of a study that has started (only that is frozen)."""
    batch = Batch.objects.select_related(
        "study", "task", "training_set", "test_set", "gold_version", "check_gold_version", "pool"
    ).get(pk=batch_id)
    if batch.gold_version is None:
        raise ValueError(f"Batch {batch_id} has not been started: its content can still change.")
    checks, version = batch.check_set, batch.check_gold_version
    return _content(
        batch,
        _of_task(batch, batch.task, batch.description, batch.gold_version.number),
        _of_task(batch, checks.task, batch.check_description, version.number)
        if checks and version
        else None,
    )


def draft_content(batch: Batch) -> BatchContent:
    """The content as it would be frozen if the study started now; it is never kept."""
    content, *checked = (
        _of_task(batch, task, task.description, task.latest_gold_version().number)
        for task in (batch.task, *([batch.check_set.task] if batch.check_set else []))
    )
    return _content(batch, content, *checked)


def item_alone(item: Item, task: Task) -> tuple[TaskContent, FrozenExample]:
    """An item of a set, and its task as a study by the usual rules would show it."""
    batch = Batch(study=Study(), task=task)
    content = _of_task(batch, task, task.description, task.latest_gold_version().number)
    return content, _frozen(item, item.item_set, item.item_set.role)


def _of_task(batch: Batch, task: Task, description: str, gold_version: int) -> TaskContent:
    scorer = batch.study.frozen.get("scorer_version", SCORER_VERSION)
    return TaskContent(
        batch_id=batch.pk,
        rules=StudyRules(**{name: getattr(batch.study, name) for name in _RULES}),
        task_id=task.pk,
        title=task.heading,
        description=description,
        gold_version=gold_version,
        # What people see, and who is let in by it, stays as the study began.
        normalisation=as_of(task.normalisation, scorer),
        **{name: getattr(task, name) for name in _AS_STORED},
    )


def _content(batch: Batch, task: TaskContent, checked: TaskContent | None = None) -> BatchContent:
    training, checks = batch.training_set, batch.check_set
    return BatchContent(
        **{field.name: getattr(task, field.name) for field in fields(TaskContent)},
        training=_examples(training, Role.TRAINING) if training else (),
        test=_examples(batch.test_set, Role.TEST),
        checks=_examples(checks, CHECK) if checks else (),
        check_task=checked,
        least_check_score=batch.least_check_score,
    )


@lru_cache(maxsize=4096)
def sequence(batch_id: int, order_seed: str) -> tuple[FrozenExample, ...]:
    """Checks, training, then test, in this assignment's order."""
    return batch_content(batch_id).in_order(order_seed)


def _examples(item_set: ItemSet, role: str) -> tuple[FrozenExample, ...]:
    items = Item.objects.filter(item_set=item_set).select_related("example").order_by("position")
    return tuple(_frozen(item, item_set, role) for item in items)


def _frozen(item: Item, item_set: ItemSet, role: str) -> FrozenExample:
    example = item.example
    return FrozenExample(
        pk=example.pk,
        role=role,
        position=item.position,
        context=tuple(example.context),
        context_hash=example.context_hash,
        question=example.question,
        candidates=tuple((s, start, end) for s, start, end in example.candidates),
        labels=tuple(item_set.choices),
        options=tuple(example.options),
        images=tuple(example.images),
    )


def _with_order(example: FrozenExample, seed: str) -> FrozenExample:
    drawn_for = f"{seed}:{example.role}:options of {example.position}"
    order = sorted(range(len(example.options)), key=lambda number: _rank(drawn_for, str(number)))
    return replace(example, options_order=tuple(order))


T = TypeVar("T")


def shuffled(items: Iterable[FrozenExample], seed: str, *, by: str) -> list[FrozenExample]:
    """The items in seeded order; by text, those of one context stay together, in file order."""

    def rank(item: FrozenExample) -> bytes:
        key = item.context_hash if by == Shuffle.TEXT else f"item {item.position}"
        return _rank(seed, key)

    return sorted(items, key=lambda item: (rank(item), item.position))


def tie_broken(ranked: Sequence[tuple[int, T]], seed: str) -> list[T]:
    """Sorted by rank; ties broken by seeded chance on the value's text."""
    by_rank = sorted(ranked, key=lambda pair: (pair[0], _rank(seed, str(pair[1]))))
    return [value for _, value in by_rank]


def _rank(seed: str, key: str) -> bytes:
    return sha256(f"{seed}:{key}".encode()).digest()

"""Storing what was read of one task: planned first, then written bit by bit."""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from annotation.benchmarks.audit import audit_task
from annotation.benchmarks.exposure import exposure_key_for
from annotation.benchmarks.findings import Finding
from annotation.benchmarks.formats.content import ReadExample, ReadSet, ReadTask
from annotation.jobs.pacing import ROWS_AT_ONCE, store, write
from annotation.models import (
    Batch,
    Benchmark,
    Example,
    Gold,
    GoldVersion,
    Item,
    ItemSet,
    Judgement,
    Role,
    StudyState,
    Task,
)
from annotation.models.benchmark import HELD_FIELDS
from annotation.models.errors import Frozen

# The reason for a gold version that came from a file.
IMPORT_REASON = "import"
FILLED_IF_EMPTY = ("name", "title", "description")

Tell = Callable[[], None]


@dataclass(frozen=True)
class TaskReport:
    """What an import read of one task, and how much of it was new."""

    slug: str
    name: str
    kind: str
    shot_sets: int
    training_examples: int
    test_examples: int
    created: bool
    new_examples: int
    changed_examples: int
    new_golds: int
    new_sets: int
    changed_fields: list[str]
    described: bool
    findings: list[Finding]

    @property
    def is_changed(self) -> bool:
        counts = (self.new_examples, self.changed_examples, self.new_golds, self.new_sets)
        return self.created or any(counts) or bool(self.changed_fields)


@dataclass(frozen=True)
class TaskPlan:
    """What storing a task would write."""

    task: Task
    read: ReadTask
    rows: dict[str, ReadExample]
    fields: dict[str, Any]
    # By identity: those that are there, and those that are new.
    examples: dict[str, Example]
    new: list[Example]
    changed: list[Example]
    golds: list[Gold]
    sets: list[tuple[ItemSet, ReadSet]]

    @property
    def changes_something(self) -> bool:
        return any((self.fields, self.new, self.changed, self.golds, self.sets))


def plan_task(task: Task, read: ReadTask) -> TaskPlan:
    """Raises Frozen where a started study would change."""
    held = _held_of(task)
    rows = read.examples()
    fields = _changed_fields(task, read, held)
    examples, new, changed = _find_examples(task, rows, held)
    return TaskPlan(
        task=task,
        read=read,
        rows=rows,
        fields=fields,
        examples=examples,
        new=new,
        changed=changed,
        golds=_find_golds(task, rows, examples, held),
        sets=_find_sets(task, read.sets, held),
    )


def store_plan(plan: TaskPlan, *, created: bool = False, tell: Tell | None = None) -> TaskReport:
    task = plan.task
    for field, value in plan.fields.items():
        setattr(task, field, value)
    if plan.fields:
        write(lambda: task.save(update_fields=list(plan.fields)))
    store(plan.new, tell)
    _write_changed(plan.changed)
    _write_golds(task, plan.golds, tell)
    _write_sets(plan.sets, plan.examples, tell)
    findings = audit_task(task, plan.read.notes)
    _write_audit(task, findings)
    return _report(plan, findings, created=created)


def _report(plan: TaskPlan, findings: list[Finding], *, created: bool) -> TaskReport:
    task = plan.task
    return TaskReport(
        slug=task.slug,
        name=str(task),
        kind=task.kind,
        shot_sets=sum(read_set.role == Role.TRAINING for read_set in plan.read.sets),
        training_examples=sum(row.role == Role.TRAINING for row in plan.rows.values()),
        test_examples=sum(row.role == Role.TEST for row in plan.rows.values()),
        created=created,
        new_examples=len(plan.new),
        changed_examples=len(plan.changed),
        new_golds=len(plan.golds),
        new_sets=len(plan.sets),
        changed_fields=sorted(plan.fields),
        described=bool(task.description.strip()),
        findings=findings,
    )


@dataclass(frozen=True)
class _Held:
    """What started studies have frozen, by primary key."""

    sets: frozenset[int]
    examples: frozenset[int]


def _held_of(task: Task) -> _Held:
    started = Batch.objects.filter(task=task).exclude(study__state=StudyState.DRAFT)
    pairs = started.values_list("training_set_id", "test_set_id")
    sets = {pk for pair in pairs for pk in pair if pk is not None}
    in_sets = Item.objects.filter(item_set__in=sets).values_list("example_id", flat=True)
    judged = Judgement.objects.filter(example__task=task).order_by()
    return _Held(
        sets=frozenset(sets),
        examples=frozenset(in_sets) | set(judged.values_list("example_id", flat=True).distinct()),
    )


def new_task(benchmark: Benchmark, read: ReadTask) -> Task:
    """Not stored yet: finding its key takes a while, in which no lock is held."""
    fields = {"exposure_key": "", **read.defaults, **read.own}
    fields["exposure_key"] = fields["exposure_key"] or exposure_key_for(_test_contents(read))
    return Task(benchmark=benchmark, slug=read.slug, **fields)


def _changed_fields(task: Task, read: ReadTask, held: _Held) -> dict[str, Any]:
    # What a researcher wrote in the admin stays, unless the task file says otherwise.
    empty = {
        name: read.defaults.get(name, "") for name in FILLED_IF_EMPTY if not getattr(task, name)
    }
    wanted = {"kind": read.kind, "normalisation": read.normalisation, **empty, **read.own}
    changes = {name: value for name, value in wanted.items() if getattr(task, name) != value}
    fixed = sorted(HELD_FIELDS & set(changes))
    if fixed and held.sets:
        raise Frozen(
            f"The task {task.slug} belongs to a study that has started, so its {fixed[0]} cannot "
            f"change from {getattr(task, fixed[0])!r} to {changes[fixed[0]]!r}; "
            "import it as another benchmark (--name)."
        )
    return changes


def _test_contents(read: ReadTask) -> set[str]:
    return {row.content_hash for row in read.examples().values() if row.role == Role.TEST}


def _find_examples(
    task: Task, rows: dict[str, ReadExample], held: _Held
) -> tuple[dict[str, Example], list[Example], list[Example]]:
    """Every example by its identity; those that are new, and those that changed."""
    present = {example.identity: example for example in task.examples.all()}
    new = [_new_example(task, row) for name, row in rows.items() if name not in present]
    changed: list[Example] = []
    for name, row in rows.items():
        example = present.get(name)
        if example is not None and example.content_hash != row.content_hash:
            if example.pk in held.examples:
                raise _frozen(row, "its context or question has changed")
            _copy_content(row, example)
            changed.append(example)
    return {**present, **{example.identity: example for example in new}}, new, changed


def _write_changed(examples: Sequence[Example]) -> None:
    content = ["content_hash", "context_hash", "context", "question", "candidates"]
    write(lambda: Example.objects.bulk_update(examples, content, batch_size=ROWS_AT_ONCE))


def _new_example(task: Task, row: ReadExample) -> Example:
    example = Example(task=task, identity=row.identity)
    _copy_content(row, example)
    return example


def _copy_content(row: ReadExample, example: Example) -> None:
    example.content_hash = row.content_hash
    example.context_hash = row.context_hash
    example.context = list(row.context)
    example.question = row.question
    example.candidates = [list(candidate) for candidate in row.candidates]


def _frozen(row: ReadExample, what: str) -> Frozen:
    return Frozen(
        f"{row.where}: this example belongs to a study that has started, but {what}; "
        "import it as another benchmark (--name)."
    )


def _find_golds(
    task: Task, rows: dict[str, ReadExample], examples: dict[str, Example], held: _Held
) -> list[Gold]:
    """Gold that is new or differs from the last import.

    Gold corrected here stays corrected as long as the file says what it said before.
    """
    present = Gold.objects.filter(example__task=task).order_by("version__number")
    imported: dict[int, object] = {}
    in_force: dict[int, object] = {}
    for gold in present.select_related("version"):
        in_force[gold.example_id] = gold.alternatives
        if gold.version.reason == IMPORT_REASON:
            imported[gold.example_id] = gold.alternatives
    new: list[Gold] = []
    for name, row in rows.items():
        example = examples[name]
        if row.alternatives in (imported.get(example.pk), in_force.get(example.pk)):
            continue
        if example.pk in held.examples:
            raise _frozen(row, "its gold has changed (correct gold in the admin)")
        new.append(Gold(example=example, alternatives=row.alternatives))
    return new


def _write_golds(task: Task, golds: Sequence[Gold], tell: Tell | None) -> None:
    if not golds:
        return
    number = task.gold_versions.count() + 1
    version = write(
        lambda: GoldVersion.objects.create(task=task, number=number, reason=IMPORT_REASON)
    )
    for gold in golds:
        gold.version = version
    store(golds, tell)


def _find_sets(task: Task, sets: Collection[ReadSet], held: _Held) -> list[tuple[ItemSet, ReadSet]]:
    """The sets that are new, and those that changed, as they should be."""
    present = {item_set.name: item_set for item_set in task.item_sets.all()}
    changed: list[tuple[ItemSet, ReadSet]] = []
    for read_set in sets:
        item_set = present.get(read_set.name) or ItemSet(task=task, name=read_set.name)
        wanted = (read_set.checksum, list(read_set.choices))
        if (item_set.checksum, item_set.choices) == wanted:
            continue
        if item_set.pk in held.sets:
            raise Frozen(
                f"{read_set.file}: this set belongs to a study that has started, but its rows or "
                "labels have changed; import it as another benchmark (--name)."
            )
        _copy_set(read_set, item_set)
        changed.append((item_set, read_set))
    return changed


def _copy_set(read_set: ReadSet, item_set: ItemSet) -> None:
    item_set.role = read_set.role
    item_set.shots = read_set.shots
    item_set.split = read_set.split
    item_set.episode = read_set.episode
    item_set.choices = list(read_set.choices)
    item_set.source_file = read_set.file[-300:]
    item_set.checksum = read_set.checksum


def _write_sets(
    changed: Sequence[tuple[ItemSet, ReadSet]], examples: dict[str, Example], tell: Tell | None
) -> None:
    """Store the sets; the existing ones are emptied first."""
    for item_set, _ in changed:
        if item_set.pk is not None:
            Item.objects.filter(item_set=item_set).delete()
            item_set.save()
    store([item_set for item_set, _ in changed if item_set.pk is None], tell)
    store([item for pair in changed for item in _items_of(*pair, examples)], tell)


def _write_audit(task: Task, findings: Sequence[Finding]) -> None:
    audit = [asdict(finding) for finding in findings]
    if json.loads(json.dumps(audit)) != task.audit:
        task.audit = audit
        write(lambda: task.save(update_fields=["audit"]))


def _items_of(item_set: ItemSet, read_set: ReadSet, examples: dict[str, Example]) -> list[Item]:
    return [
        Item(
            item_set=item_set,
            example=examples[row.identity],
            position=position,
            source_id=row.source_id,
        )
        for position, row in enumerate(read_set.examples)
    ]

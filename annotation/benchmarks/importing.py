"""Importing a benchmark: all of it is stored, or nothing.

Importing the same files again changes nothing; other files add what is new and update what nobody
works with yet. What a started study holds is never touched.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass

from django.db import transaction

from annotation.benchmarks.archives import Source, open_files
from annotation.benchmarks.audit import audit_task
from annotation.benchmarks.exposure import exposure_key_for
from annotation.benchmarks.findings import Finding
from annotation.benchmarks.formats.clues import read_benchmark
from annotation.benchmarks.formats.content import ReadExample, ReadSet, ReadTask
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
    Study,
    StudyState,
    Task,
)
from annotation.models.errors import BadInput, Frozen

# The reason for a gold version that came from a file.
IMPORT_REASON = "import"
ROWS_AT_ONCE = 500
# A batch copies its task's description when it starts; these fields it reads from the task.
HELD_FIELDS = frozenset(
    {"title", "kind", "max_spans", "language", "direction", "reference_policy", "exposure_key"}
)
FILLED_IF_EMPTY = ("title", "description")

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class TaskReport:
    """What an import found of one task, and how much of it was new."""

    slug: str
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
class ImportReport:
    benchmark: str
    tasks: list[TaskReport]
    ignored: list[str]

    @property
    def is_changed(self) -> bool:
        return any(task.is_changed for task in self.tasks)

    @property
    def summary(self) -> str:
        tasks = f"{len(self.tasks)} task{'s' * (len(self.tasks) != 1)}"
        return f"{self.benchmark}: {tasks} read, {'stored' if self.is_changed else 'no change'}."

    def as_json(self) -> dict[str, object]:
        return {**asdict(self), "summary": self.summary}


def import_benchmark(
    source: Source,
    *,
    name: str,
    tasks: Collection[str] | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import a folder or zip in CLUES layout, or only some of its tasks by their slugs.

    Raises BadInput for what cannot be read, Frozen where a started study would change.
    `progress(done, total, message)` is called outside the transaction.
    """
    if not re.fullmatch(r"[-\w]{1,80}", name, re.ASCII):
        raise BadInput(f"“{name}” cannot be a benchmark's name; use letters, digits and hyphens.")
    report_progress = progress or _say_nothing
    with open_files(source) as files:
        found = read_benchmark(files, tasks, report_progress)
    report_progress(len(found.tasks), len(found.tasks), "Storing")
    with transaction.atomic():
        benchmark = _lock_benchmark(name)
        reports = [save_task(benchmark, read) for read in found.tasks]
    return ImportReport(name, reports, found.ignored)


def save_task(benchmark: Benchmark, read: ReadTask) -> TaskReport:
    """Store one task as the reader gave it. Needs a surrounding transaction."""
    task, created, changed_fields = _save_fields(benchmark, read)
    held = _held_of(task)
    rows = read.examples()
    examples, new, changed = _save_examples(task, rows, held)
    new_golds = _save_golds(task, rows, examples, held)
    new_sets = _save_sets(task, read.sets, examples, held)
    findings = audit_task(task, read.notes)
    task.audit = [asdict(finding) for finding in findings]
    task.save(update_fields=["audit"])
    return TaskReport(
        slug=task.slug,
        kind=task.kind,
        shot_sets=sum(read_set.role == Role.TRAINING for read_set in read.sets),
        training_examples=sum(row.role == Role.TRAINING for row in rows.values()),
        test_examples=sum(row.role == Role.TEST for row in rows.values()),
        created=created,
        new_examples=new,
        changed_examples=changed,
        new_golds=new_golds,
        new_sets=new_sets,
        changed_fields=changed_fields,
        described=bool(task.description.strip()),
        findings=findings,
    )


def _say_nothing(done: int, total: int, message: str) -> None:
    pass


def _lock_benchmark(name: str) -> Benchmark:
    """The benchmark, and with it its studies: none starts while its content is replaced."""
    benchmark, _ = Benchmark.objects.get_or_create(name=name)
    list(Benchmark.objects.select_for_update().filter(pk=benchmark.pk))
    batches = Batch.objects.filter(task__benchmark=benchmark)
    list(Study.objects.select_for_update().filter(pk__in=batches.values("study")))
    return benchmark


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


def _save_fields(benchmark: Benchmark, read: ReadTask) -> tuple[Task, bool, list[str]]:
    task = Task.objects.filter(benchmark=benchmark, slug=read.slug).first()
    if task is None:
        fields = {"exposure_key": "", **read.defaults, **read.own}
        fields["exposure_key"] = fields["exposure_key"] or exposure_key_for(_test_contents(read))
        return Task.objects.create(benchmark=benchmark, slug=read.slug, **fields), True, []
    # What a researcher wrote in the admin stays, unless the task file says otherwise.
    empty = {
        name: read.defaults.get(name, "") for name in FILLED_IF_EMPTY if not getattr(task, name)
    }
    wanted = {"kind": read.kind, **empty, **read.own}
    changes = {name: value for name, value in wanted.items() if getattr(task, name) != value}
    held = sorted(HELD_FIELDS & set(changes))
    if held and _held_of(task).sets:
        raise Frozen(
            f"The task {task.slug} belongs to a study that has started, so its {held[0]} cannot "
            f"change from {getattr(task, held[0])!r} to {changes[held[0]]!r}; "
            "import it as another benchmark (--name)."
        )
    for name, value in changes.items():
        setattr(task, name, value)
    task.save(update_fields=list(changes))
    return task, False, sorted(changes)


def _test_contents(read: ReadTask) -> set[str]:
    return {row.content_hash for row in read.examples().values() if row.role == Role.TEST}


def _save_examples(
    task: Task, rows: dict[str, ReadExample], held: _Held
) -> tuple[dict[str, Example], int, int]:
    """Every example by its identity, and how many are new and how many were changed."""
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
    created = Example.objects.bulk_create(new, batch_size=ROWS_AT_ONCE)
    content = ["content_hash", "context_hash", "context", "question", "candidates"]
    Example.objects.bulk_update(changed, content, batch_size=ROWS_AT_ONCE)
    return {**present, **{e.identity: e for e in created}}, len(new), len(changed)


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


def _save_golds(
    task: Task, rows: dict[str, ReadExample], examples: dict[str, Example], held: _Held
) -> int:
    """A gold version for gold that is new or differs from the last import; says for how many.

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
        pk = examples[name].pk
        if row.alternatives in (imported.get(pk), in_force.get(pk)):
            continue
        if pk in held.examples:
            raise _frozen(row, "its gold has changed (correct gold in the admin)")
        new.append(Gold(example_id=pk, alternatives=row.alternatives))
    if new:
        number = task.gold_versions.count() + 1
        version = GoldVersion.objects.create(task=task, number=number, reason=IMPORT_REASON)
        for gold in new:
            gold.version = version
        Gold.objects.bulk_create(new, batch_size=ROWS_AT_ONCE)
    return len(new)


def _save_sets(
    task: Task, sets: Collection[ReadSet], examples: dict[str, Example], held: _Held
) -> int:
    """Create the sets that are new and replace those that changed; says how many."""
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
    _write_sets([item_set for item_set, _ in changed])
    items = [item for pair in changed for item in _items_of(*pair, examples)]
    Item.objects.bulk_create(items, batch_size=ROWS_AT_ONCE)
    return len(changed)


def _copy_set(read_set: ReadSet, item_set: ItemSet) -> None:
    item_set.role = read_set.role
    item_set.shots = read_set.shots
    item_set.split = read_set.split
    item_set.episode = read_set.episode
    item_set.choices = list(read_set.choices)
    item_set.source_file = read_set.file[-300:]
    item_set.checksum = read_set.checksum


def _write_sets(item_sets: Collection[ItemSet]) -> None:
    """Store the sets, and empty the existing ones."""
    present = [item_set for item_set in item_sets if item_set.pk is not None]
    Item.objects.filter(item_set__in=present).delete()
    for item_set in present:
        item_set.save()
    ItemSet.objects.bulk_create([item_set for item_set in item_sets if item_set.pk is None])


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

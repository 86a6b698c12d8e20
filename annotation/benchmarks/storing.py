"""Storing what was read of one task: planned first, then written bit by bit."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeVar

from django.db.models import QuerySet

from annotation import models
from annotation.benchmarks.audit import Finding, audit_task
from annotation.benchmarks.formats.content import ReadExample, ReadSet, ReadTask
from annotation.jobs.pacing import ROWS_AT_ONCE, insert, store, write
from annotation.kinds.markup import formulas_in
from annotation.models.benchmark import HELD_FIELDS, Markup
from annotation.models.errors import Frozen
from annotation.models.texts import checksum
from scoring.core.normalisation import NONE

# The reason for a gold version that came from a file.
IMPORT_REASON = "import"
FILLED_IF_EMPTY = ("name", "title", "description")
# What an example holds, as it was read.
CONTENT = ("content_hash", "context_hash", "context", "question", "candidates", "options", "images")
# What nobody is shown, and no gold follows from.
ASIDE = ("groups", "proposed")
ELSEWHERE = "import it as another benchmark (--name)."

Tell = Callable[[], None]
RowT = TypeVar("RowT", bound=models.Example | models.ItemSet)


@dataclass(frozen=True)
class TaskReport:
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


class TaskPlan:
    """What storing a task would write. Raises Frozen where a started study would change."""

    def __init__(self, task: models.Task, read: ReadTask) -> None:
        self.task, self.read = task, read
        self.rows = read.examples()
        self._held_sets, self._held_examples = _held_by_started_studies(task)
        self.fields = self._changed_fields()
        # By identity: those that are there, and those that are new.
        self.examples = {example.identity: example for example in task.examples.all()}
        self.changed = list(self._changed_examples())
        self.new = [
            _copy(row, models.Example(task=task, identity=name), (*CONTENT, *ASIDE))
            for name, row in self.rows.items()
            if name not in self.examples
        ]
        self.examples |= {example.identity: example for example in self.new}
        self.golds = list(self._new_golds())
        self.sets = list(self._changed_sets())

    @property
    def changes_something(self) -> bool:
        return any((self.fields, self.new, self.changed, self.golds, self.sets))

    def store(self, *, created: bool = False, tell: Tell | None = None) -> TaskReport:
        task, fields = self.task, self.fields
        for field, value in fields.items():
            setattr(task, field, value)
        if fields:
            write(lambda: task.save(update_fields=list(fields)))
        self._store_new(tell)
        self._store_images(tell)
        changed = partial(models.Example.objects.bulk_update, self.changed, (*CONTENT, *ASIDE))
        write(partial(changed, batch_size=ROWS_AT_ONCE))
        if task.markup == Markup.MARKDOWN:
            texts = (text for row in self.rows.values() for text in row.texts)
            made = formulas_in([task.description, *texts])
            write(partial(models.Formula.objects.bulk_create, made, ignore_conflicts=True))
        self._store_golds(tell)
        self._store_sets(tell)
        findings = audit_task(task, self.read.notes)
        audit = [asdict(finding) for finding in findings]
        if json.loads(json.dumps(audit)) != task.audit:
            task.audit = audit
            write(lambda: task.save(update_fields=["audit"]))
        return self._report(findings, created=created)

    def _report(self, findings: list[Finding], *, created: bool) -> TaskReport:
        roles = Counter(row.role for row in self.rows.values())
        return TaskReport(
            slug=self.task.slug,
            name=str(self.task),
            kind=self.task.kind,
            shot_sets=sum(read_set.role == models.Role.TRAINING for read_set in self.read.sets),
            training_examples=roles[models.Role.TRAINING],
            test_examples=roles[models.Role.TEST],
            created=created,
            new_examples=len(self.new),
            changed_examples=len(self.changed),
            new_golds=len(self.golds),
            new_sets=len(self.sets),
            changed_fields=sorted(self.fields),
            described=bool(self.task.description.strip()),
            findings=findings,
        )

    def _changed_fields(self) -> dict[str, Any]:
        task, read = self.task, self.read
        # What a researcher wrote in the admin stays, unless the task file says otherwise.
        unfilled = (name for name in FILLED_IF_EMPTY if not getattr(task, name))
        empty = {name: read.defaults.get(name, "") for name in unfilled}
        fields = {"kind": read.kind, "normalisation": read.normalisation, **empty, **read.stated}
        # The default before there was `typed`.
        if task.kind == read.kind and task.normalisation == NONE:
            fields["normalisation"] = read.stated.get("normalisation", NONE)
        if self._held_sets and not task.sample:
            fields.pop("sample", None)  # nobody was shown one
        changes = {name: value for name, value in fields.items() if getattr(task, name) != value}
        fixed = sorted(HELD_FIELDS & set(changes))
        if fixed and self._held_sets:
            raise Frozen(
                f"The task {task.slug} belongs to a study that has started, so its {fixed[0]} "
                f"cannot change from {getattr(task, fixed[0])!r} to {changes[fixed[0]]!r}; "
                f"{ELSEWHERE}"
            )
        return changes

    def _changed_examples(self) -> Iterator[models.Example]:
        for name, row in self.rows.items():
            example = self.examples.get(name)
            if example is None:
                continue
            if example.content_hash != row.content_hash:
                self._check_free(example, row, "its context or question has changed")
            elif example.groups == row.groups and example.proposed == row.proposed:
                continue
            elif example.groups != row.groups:
                self._check_free(example, row, "its groups have changed")
            yield _copy(row, example, (*CONTENT, *ASIDE))

    def _new_golds(self) -> Iterator[models.Gold]:
        """Gold that is new or differs from the last import.

        Gold corrected here stays corrected as long as the file says what it said before.
        """
        present = models.Gold.objects.filter(example__task=self.task).order_by("version__number")
        imported: dict[int, object] = {}
        in_force: dict[int, object] = {}
        for gold in present.select_related("version"):
            in_force[gold.example_id] = gold.alternatives
            if gold.version.reason == IMPORT_REASON:
                imported[gold.example_id] = gold.alternatives
        for name, row in self.rows.items():
            example = self.examples[name]
            if row.alternatives not in (imported.get(example.pk), in_force.get(example.pk)):
                self._check_free(example, row, "its gold has changed (correct gold in the admin)")
                yield models.Gold(example=example, alternatives=row.alternatives)

    def _changed_sets(self) -> Iterator[tuple[models.ItemSet, ReadSet]]:
        """The sets that are new, and those that changed, as they should be."""
        present = {item_set.name: item_set for item_set in self.task.item_sets.all()}
        for read in self.read.sets:
            item_set = present.get(read.name) or models.ItemSet(task=self.task, name=read.name)
            if (item_set.checksum, item_set.choices) == (read.checksum, list(read.choices)):
                continue
            if item_set.pk in self._held_sets:
                raise Frozen(
                    f"{read.file}: this set belongs to a study that has started, but its rows or "
                    f"labels have changed; {ELSEWHERE}"
                )
            item_set.choices, item_set.source_file = list(read.choices), read.file[-300:]
            yield _copy(read, item_set, ("role", "shots", "split", "episode", "checksum")), read

    def _check_free(self, example: models.Example, row: ReadExample, what: str) -> None:
        if example.pk in self._held_examples:
            raise Frozen(
                f"{row.where}: this example belongs to a study that has started, but {what}; "
                f"{ELSEWHERE}"
            )

    def _store_new(self, tell: Tell | None) -> None:
        insert(self.new, tell)
        pks = dict(self.task.examples.order_by().values_list("identity", "pk")) if self.new else {}
        for example in self.new:
            example.pk = pks[example.identity]

    def _store_images(self, tell: Tell | None) -> None:
        read = {image.checksum: image for row in self.rows.values() for image in row.image_files}
        if not read:
            return
        for known in self.task.images.values_list("checksum", flat=True):
            read.pop(known, None)
        for image in read.values():
            kept = {name: getattr(image, name) for name in ("checksum", "media_type", "data")}
            store([models.Image(task=self.task, **kept)], tell)

    def _store_golds(self, tell: Tell | None) -> None:
        if not self.golds:
            return
        new = models.GoldVersion(
            task=self.task, number=self.task.gold_versions.count() + 1, reason=IMPORT_REASON
        )
        write(new.save)
        for gold in self.golds:
            gold.version, gold.example = new, gold.example  # which has its key by now
        insert(self.golds, tell)

    def _store_sets(self, tell: Tell | None) -> None:
        """The existing ones are emptied first."""
        for item_set, _ in self.sets:
            if item_set.pk is not None:
                models.Item.objects.filter(item_set=item_set).delete()
                item_set.save()
        store([item_set for item_set, _ in self.sets if item_set.pk is None], tell)
        items = [
            models.Item(
                item_set=item_set,
                example=self.examples[row.identity],
                position=position,
                source_id=row.source_id,
            )
            for item_set, read in self.sets
            for position, row in enumerate(read.examples)
        ]
        insert(items, tell)


def new_task(benchmark: models.Benchmark, read: ReadTask) -> models.Task:
    """Make a task, not stored yet: finding its key takes a while, in which no lock is held."""
    fields = {"exposure_key": "", "normalisation": read.normalisation} | read.defaults | read.stated
    tests = {row.content_hash for row in read.examples().values() if row.role == models.Role.TEST}
    fields["exposure_key"] = fields["exposure_key"] or exposure_key_for(tests)
    return models.Task(benchmark=benchmark, slug=read.slug, **fields)


def _held_by_started_studies(task: models.Task) -> tuple[set[int], set[int]]:
    started = models.Batch.objects.filter(task=task).exclude(study__state=models.StudyState.DRAFT)
    pairs = started.values_list("training_set_id", "test_set_id")
    sets = {pk for pair in pairs for pk in pair if pk is not None}
    in_sets = models.Item.objects.filter(item_set__in=sets).values_list("example_id", flat=True)
    judged = models.Judgement.objects.filter(example__task=task).order_by()
    return sets, {*in_sets, *judged.values_list("example_id", flat=True).distinct()}


def _copy(read: ReadExample | ReadSet, row: RowT, fields: Iterable[str]) -> RowT:
    for field in fields:
        setattr(row, field, _plain(getattr(read, field)))
    return row


def _plain(value: object) -> object:
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


PORTION = 10_000


def exposure_key_for(test_contents: Collection[str]) -> str:
    """The key of a new task with these content hashes in its test sets."""
    contents = set(test_contents)
    return _adopted_key(contents) or checksum(sorted(contents))


def _adopted_key(contents: set[str]) -> str:
    shared = _shared_counts(contents)
    # How many different contents the test sets of each task hold.
    sizes = Counter(_tasks_of(_in_tests().filter(item_set__task_id__in=list(shared))))
    related = [
        (count, -task_id)
        for task_id, count in shared.items()
        if 2 * count >= min(len(contents), sizes[task_id])
    ]
    if not related:
        return ""
    # The closest relative; of equals, the oldest.
    _, negated_id = max(related)
    return models.Task.objects.values_list("exposure_key", flat=True).get(pk=-negated_id)


def _shared_counts(contents: set[str]) -> dict[int, int]:
    """How many of these contents each existing task has in its test sets."""
    hashes = sorted(contents)
    counts: Counter[int] = Counter()
    # In portions, since SQLite limits the values of one query.
    for start in range(0, len(hashes), PORTION):
        portion = hashes[start : start + PORTION]
        counts.update(_tasks_of(_in_tests().filter(example__content_hash__in=portion)))
    return counts


def _in_tests() -> QuerySet[models.Item]:
    return models.Item.objects.filter(item_set__role=models.Role.TEST)


def _tasks_of(items: QuerySet[models.Item]) -> list[int]:
    pairs = items.order_by().values_list("item_set__task_id", "example__content_hash").distinct()
    return [task_id for task_id, _ in pairs]

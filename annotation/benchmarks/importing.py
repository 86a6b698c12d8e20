"""Importing a benchmark: all of it is stored, or nothing.

What is new is written in short transactions where nobody sees it, so that annotators need not wait,
and published in one; what changes in a task that is there is written by that one too.

Importing the same files again changes nothing; other files add what is new and update what nobody
works with yet. What a started study holds is never touched.
"""

import re
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from django.contrib.auth.models import User

from annotation.access.members import make_owner
from annotation.benchmarks.archives import Source, open_files
from annotation.benchmarks.formats.clues import read_benchmark
from annotation.benchmarks.formats.content import ReadTask
from annotation.benchmarks.staging import publish, staging
from annotation.benchmarks.storing import TaskReport, Tell, new_task, plan_task, store_plan
from annotation.jobs.pacing import write
from annotation.models import Batch, Benchmark, Study, Task
from annotation.models.errors import BadInput

TELLS_EVERY_S = 2

Progress = Callable[[int, int, str], None]


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
    owner: User | None = None,
) -> ImportReport:
    """Import a folder or zip in CLUES layout, or only some of its tasks by their slugs.

    A new benchmark is the owner's. Raises BadInput for what cannot be read, Frozen where a started
    study would change.
    `progress(done, total, message)` is called outside the transaction.
    """
    if not re.fullmatch(r"[-\w]{1,80}", name, re.ASCII):
        raise BadInput(f"“{name}” cannot be a benchmark's name; use letters, digits and hyphens.")
    report_progress = progress or _say_nothing
    with open_files(source) as files:
        read = read_benchmark(files, tasks, report_progress)
    count = len(read.tasks)
    tell = _now_and_then(lambda: report_progress(count, count, "Storing"))
    tell()
    reports = store_tasks(name, lambda: read.tasks, owner=owner, tell=tell)
    return ImportReport(name, reports, read.ignored)


def store_tasks(
    name: str,
    read: Callable[[], Iterable[ReadTask]],
    *,
    owner: User | None = None,
    tell: Tell | None = None,
) -> list[TaskReport]:
    """Store all tasks of a benchmark or, at any refusal, none: new ones bit by bit, to be published
    together with every change of those that are there."""
    while True:
        with staging() as staged:
            prepared = [_prepared(name, staged, task, tell) for task in read()]
            try:
                return write(partial(_publish, name, prepared, owner))
            except _Overtaken:
                continue


@dataclass(frozen=True)
class _Prepared:
    """What is to be published of one task: a new one, or nothing new, as reported; or a change of
    one that is there."""

    read: ReadTask
    report: TaskReport | None = None
    new: Task | None = None


class _Overtaken(Exception):
    """Another import has published a task that is new here."""


def _prepared(name: str, staged: Benchmark, read: ReadTask, tell: Tell | None) -> _Prepared:
    present = Task.objects.filter(benchmark__name=name, slug=read.slug).first()
    if present is None:
        task = new_task(staged, read)
        write(task.save)
        report = store_plan(plan_task(task, read), created=True, tell=tell)
        return _Prepared(read, report, task)
    plan = plan_task(present, read)
    if plan.changes_something:
        return _Prepared(read)
    return _Prepared(read, store_plan(plan))


def _publish(name: str, prepared: Sequence[_Prepared], owner: User | None) -> list[TaskReport]:
    benchmark = _lock_benchmark(name, owner)
    there = set(benchmark.tasks.values_list("slug", flat=True))
    reports = []
    for task in prepared:
        if task.new:
            if task.new.slug in there:
                raise _Overtaken
            publish(task.new, benchmark)
        # A change is planned again, now that no study can start on its task.
        reports.append(task.report or _changed(benchmark, task.read))
    return reports


def _changed(benchmark: Benchmark, read: ReadTask) -> TaskReport:
    return store_plan(plan_task(benchmark.tasks.get(slug=read.slug), read))


def _now_and_then(tell: Tell) -> Tell:
    """Not after every few rows: telling is a write itself."""
    told_at = 0.0

    def tell_if_due() -> None:
        nonlocal told_at
        if time.monotonic() - told_at >= TELLS_EVERY_S:
            told_at = time.monotonic()
            tell()

    return tell_if_due


def _say_nothing(done: int, total: int, message: str) -> None:
    pass


def _lock_benchmark(name: str, owner: User | None) -> Benchmark:
    """The benchmark, and with it its studies: none starts while its content is replaced. A new one
    is the owner's."""
    benchmark, is_new = Benchmark.objects.get_or_create(name=name)
    if is_new:
        make_owner(benchmark, owner)
    list(Benchmark.objects.select_for_update().filter(pk=benchmark.pk))
    batches = Batch.objects.filter(task__benchmark=benchmark)
    list(Study.objects.select_for_update().filter(pk__in=batches.values("study")))
    return benchmark

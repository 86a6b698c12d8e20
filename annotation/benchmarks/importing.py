"""Importing a benchmark: all of it is stored, or nothing.

What is new is written in short transactions where nobody sees it, so that annotators need not wait,
and published in one; what changes in a task that is there is written by that one too.

Importing the same files again changes nothing; other files add what is new and update what nobody
works with yet. What a started study holds is never touched.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from io import BytesIO
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO

from django.contrib.auth.models import User

from annotation.access.rights import check_may_import, make_owner
from annotation.benchmarks.archives import SentFile, Source, open_files
from annotation.benchmarks.correcting import CONTENT
from annotation.benchmarks.formats.content import ReadSet, ReadTask, records_of
from annotation.benchmarks.formats.drawing import Draw
from annotation.benchmarks.formats.flex import TRANSFERS, FlexChallenge, slug_of
from annotation.benchmarks.formats.reading import Progress, read_benchmark
from annotation.benchmarks.storing import TaskPlan, TaskReport, Tell, exposure_key_for, new_task
from annotation.jobs import queue
from annotation.jobs.pacing import ROWS_AT_ONCE, write
from annotation.kinds.choice import KIND as CHOICE
from annotation.models import Batch, Benchmark, Job, Study, Task, Upload
from annotation.models.errors import BadInput
from scoring.tables.words import counted

TELLS_EVERY_S = 2


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
        tasks = counted(len(self.tasks), "task")
        return f"{self.benchmark}: {tasks} read, {'stored' if self.is_changed else 'no change'}."


def import_benchmark(
    source: Source,
    *,
    name: str,
    tasks: Collection[str] | None = None,
    progress: Progress | None = None,
    owner: User | None = None,
    encoding: str = "",
    draw: Draw | None = None,
    said: Mapping[str, Any] | None = None,
    lax: bool = False,
    file_name: str = "",
) -> ImportReport:
    """Import a folder or zip in CLUES layout or of tables, or one table (an open one by its
    `file_name`), or only some of its tasks by their slugs. said: what task files would say. lax:
    leave out columns that are not used, whatever they hold.

    A new benchmark is the owner's. Raises BadInput for what cannot be read, Frozen where a started
    study would change.
    `progress(done, total, message)` is called outside the transaction.
    """
    check_names(name)
    report_progress = progress or (lambda done, total, message: None)
    how = {"encoding": encoding, "draw": draw, "said": said, "lax": lax}
    read, ignored = read_source(source, tasks, report_progress, file_name=file_name, **how)
    count = len(read)
    tell = queue.now_and_then(lambda: report_progress(count, count, "Storing"), TELLS_EVERY_S)
    tell()
    reports = store_tasks(name, lambda: read, owner=owner, tell=tell)
    return ImportReport(name, reports, ignored)


def read_source(
    source: Source,
    tasks: Collection[str] | None,
    progress: Progress,
    *,
    file_name: str = "",
    **how: Any,
) -> tuple[list[ReadTask], list[str]]:
    """Read a source without storing anything; `how` as in `read_benchmark`. Raises BadInput."""
    with open_files(source, file_name) as files:
        return read_benchmark(files, tasks, progress, **how)


JOB = "import_benchmark"


@queue.runs(JOB)
def import_uploaded_benchmark(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: name, tasks (slugs; all if left out), encoding, said, lax, and draw (as a Draw,
    its source an upload). The upload is the zip file or table."""
    source, arguments = uploaded(job)
    report = import_benchmark(
        source, name=job.arguments["name"], owner=job.author, progress=progress, **arguments
    )
    return {**asdict(report), "summary": report.summary}


def uploaded(job: Job) -> tuple[BinaryIO, dict[str, Any]]:
    """The file of a job, and how to read it. Raises BadInput, or Refusal for somebody who may not
    import there."""
    if job.upload is None:
        raise BadInput("The uploaded file is no longer there; upload it again.")
    if job.author is not None:
        check_may_import(job.arguments["name"], job.author)
    names = ("tasks", "encoding", "said", "lax")
    how = {name: job.arguments[name] for name in names if name in job.arguments}
    if draw := job.arguments.get("draw"):
        sent = Upload.objects.filter(pk=draw.get("source")).first()
        if draw.get("source") and sent is None:
            raise BadInput("The file to draw shot sets from is no longer there; upload it again.")
        how["draw"] = Draw(**{**draw, "source": sent and SentFile(sent.name, bytes(sent.data))})
    return BytesIO(job.upload.data), {**how, "file_name": job.upload.name}


def check_names(*names: str) -> None:
    for name in names:
        if not re.fullmatch(r"[-\w]{1,80}", name, re.ASCII):
            raise BadInput(f"“{name}” cannot be a name; use letters, digits and hyphens.")


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


# What is to be published of one task: as it was read; what was stored of it, if it is new, or
# nothing new; and the new task. A change of one that is there is still to be stored.
_Prepared = tuple[ReadTask, TaskReport | None, Task | None]


class _Overtaken(Exception):
    """Another import has published a task that is new here."""


def _prepared(name: str, staged: Benchmark, read: ReadTask, tell: Tell | None) -> _Prepared:
    present = Task.objects.filter(benchmark__name=name, slug=read.slug).first()
    if present is None:
        return read, *_stored_new(staged, read, tell)
    plan = TaskPlan(present, read)
    return read, None if plan.changes_something else plan.store(), None


def _stored_new(staged: Benchmark, read: ReadTask, tell: Tell | None) -> tuple[TaskReport, Task]:
    task = new_task(staged, read)
    write(task.save)
    return TaskPlan(task, read).store(created=True, tell=tell), task


def audited(tasks: Sequence[ReadTask], progress: Progress) -> list[TaskReport]:
    """Report and find as storing would: the tasks are stored where nobody sees them, and removed
    again."""
    reports = []
    with staging() as staged:
        for number, task in enumerate(tasks):
            progress(number, len(tasks), f"Checking {task.slug}")
            reports.append(_stored_new(staged, task, None)[0])
    return reports


def _publish(name: str, prepared: Sequence[_Prepared], owner: User | None) -> list[TaskReport]:
    benchmark = _lock_benchmark(name, owner)
    canaries = [read.canary for read, _report, _new in prepared if read.canary]
    if canaries and not benchmark.canary:
        benchmark.canary = canaries[0]
        benchmark.save(update_fields=["canary"])
    slugs = set(benchmark.tasks.values_list("slug", flat=True))
    reports = []
    for read, report, new in prepared:
        if new:
            if new.slug in slugs:
                raise _Overtaken
            Task.objects.filter(pk=new.pk).update(benchmark=benchmark)
            new.benchmark = benchmark
        # A change is planned again, now that no study can start on its task.
        reports.append(report or TaskPlan(benchmark.tasks.get(slug=read.slug), read).store())
    return reports


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


# No import takes this long, so who began it is gone.
ABANDONED_AFTER = timedelta(hours=6)


@contextmanager
def staging() -> Iterator[Benchmark]:
    """A hidden benchmark; what is left in it at the end is removed."""
    name = f"importing-{token_hex(8)}"
    staged = write(lambda: Benchmark.every.create(name=name, is_staged=True))
    try:
        yield staged
    finally:
        remove(staged)


def remove_abandoned(*, at: datetime) -> None:
    """What imports that were killed have left behind, and files that were never imported."""
    old = Upload.objects.filter(created_at__lt=at - ABANDONED_AFTER)
    old.exclude(job__finished_at=None, job__isnull=False).delete()
    for staged in Benchmark.every.filter(is_staged=True, created_at__lt=at - ABANDONED_AFTER):
        remove(staged)


def remove(staged: Benchmark) -> None:
    if Task.objects.filter(benchmark=staged).exists():
        for model, path in CONTENT:
            rows = model._base_manager.filter(**{path: staged.pk}).order_by()
            while pks := list(rows.values_list("pk", flat=True)[:ROWS_AT_ONCE]):
                write(model._base_manager.filter(pk__in=pks).delete)
    write(Benchmark.every.filter(pk=staged.pk).delete)


def import_episodes(
    paths: Sequence[Path], *, name: str, owner: User | None = None
) -> tuple[FlexChallenge, list[TaskReport]]:
    """The rows of a challenge and its answer key, in either order; all of it is stored, or nothing.
    Raises BadInput, and Frozen where a started study would change."""
    check_names(name)
    rows, answers = _both(paths)
    with _opened(rows) as lines, _opened(answers) as key:
        challenge = FlexChallenge(lines, key, rows.name, answers.name)
    _check_slugs(challenge)

    def read() -> Iterator[ReadTask]:
        for dataset in challenge.datasets:
            present = Task.objects.filter(benchmark__name=name, slug=slug_of(dataset)).first()
            _check_same(present, challenge)
            # One data set at a time: together they may fill the memory.
            yield _read_task(dataset, challenge.sets(dataset), challenge)

    return challenge, store_tasks(name, read, owner=owner)


def _both(paths: Sequence[Path]) -> tuple[Path, Path]:
    """The challenge, then its answer key."""
    challenges = []
    for path in paths:
        with _opened(path) as lines:
            if "is_train" in next(records_of(lines, path.name)).fields:
                challenges.append(path)
    if len(challenges) != 1:
        what = "both are" if challenges else "neither is"
        raise BadInput(
            f"One of the two files must be a challenge, with “is_train” in its rows; {what}."
        )
    return challenges[0], paths[1 - list(paths).index(challenges[0])]


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error


def _check_slugs(challenge: FlexChallenge) -> None:
    datasets: dict[str, str] = {}
    for dataset in challenge.datasets:
        other = datasets.setdefault(slug_of(dataset), dataset)
        if other != dataset:
            raise BadInput(
                f"{challenge.file}: the data sets {other} and {dataset} would be one task; "
                "rename one of them."
            )


def _check_same(present: Task | None, challenge: FlexChallenge) -> None:
    """Episodes are imported once: existing ones must be these very ones."""
    if present is None:
        return
    known = present.sampling.get("checksum")
    if known != challenge.checksum:
        raise BadInput(
            f"{challenge.file}: the task {present.slug} already exists with other sets; its "
            f"checksum is {str(known)[:12]}…, not {challenge.checksum[:12]}…. "
            "Import these episodes as another benchmark (--name)."
        )


def _read_task(dataset: str, sets: Sequence[ReadSet], challenge: FlexChallenge) -> ReadTask:
    contents = {row.content_hash for read_set in sets for row in read_set.examples}
    sampling = {"kind": "episodes", "source": "FLEX's toolkit"}
    sampling |= {"challenge": challenge.published, "checksum": challenge.checksum}
    defaults = {"title": dataset, "transfer": TRANSFERS.get(dataset, "")}
    defaults["exposure_key"] = exposure_key_for(contents)
    return ReadTask(slug_of(dataset), {"kind": CHOICE.name, "sampling": sampling}, defaults, sets)

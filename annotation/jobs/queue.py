"""Long work: rows that a worker picks up, reports on, and ends exactly once.

The broker only wakes a worker. What survives a killed one is the row: it says how far the work is,
when it last gave a sign of life, and which attempt this is; the sweep queues it again. So every
kind of job must be safe to run twice.
"""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any, ParamSpec

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.module_loading import import_string

from annotation.jobs.beside import watched
from annotation.jobs.pacing import write
from annotation.models import Job, JobState, Upload, clock
from annotation.models.errors import Refusal
from annotation.models.resting import Rest
from annotation.models.texts import storable

P = ParamSpec("P")

SILENCE = timedelta(seconds=60)
MOST_ATTEMPTS = 3
# By name: the tasks module imports this one.
WAKING_TASK = "annotation.tasks.run_job"

Result = dict[str, Any]
Runner = Callable[[Job, "Progress"], Result]
WAITS = "The queue does not answer. This is stored, and starts by itself when it does."

logger = logging.getLogger(__name__)
_runners: dict[str, Runner] = {}
# Kinds of jobs whose file is kept when they end.
_keeping = set[str]()


class Cancelled(Exception):
    """Somebody asked the job to stop, or another attempt took it over. A runner may say how far it
    had come."""


class Progress:
    """Tells the row how far a job is. Call it outside a transaction, or nobody sees it, and with no
    query half read: SQLite writes nothing past one that is older than others' writes."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def __call__(self, done: int, total: int, message: str = "") -> None:
        """Raises Cancelled when the job is to stop."""
        is_written = write(
            lambda: _still_running(self._job).update(
                progress=done, total=total, message=storable(message), heartbeat_at=clock.now()
            )
        )
        if not is_written or _still_running(self._job).filter(cancel_requested=True).exists():
            raise Cancelled


def now_and_then(tell: Callable[P, None], every_s: float) -> Callable[P, None]:
    """Make a call that tells less often: telling may be a write itself."""
    told_at = 0.0

    def tell_if_due(*args: P.args, **kwargs: P.kwargs) -> None:
        nonlocal told_at
        if time.monotonic() - told_at >= every_s:
            told_at = time.monotonic()
            tell(*args, **kwargs)

    return tell_if_due


def runs(kind: str, *, keeps_upload: bool = False) -> Callable[[Runner], Runner]:
    """Registers the runner of a kind of job, in a tasks module, which every worker imports.

    Its result is JSON; a "summary" in it becomes the job's message. A worker that gives no sign of
    its job for SILENCE counts as lost, and the job is run again. keeps_upload: for a job after it.
    """

    def register(runner: Runner) -> Runner:
        if _runners.setdefault(kind, runner) is not runner:
            raise ValueError(f"The kind of job {kind!r} is registered twice.")
        if keeps_upload:
            _keeping.add(kind)
        return runner

    return register


def enqueue(
    kind: str,
    arguments: dict[str, Any],
    *,
    upload: Upload | None = None,
    author: User | None = None,
) -> Job:
    """A queued job; a worker hears of it when the transaction is committed."""
    job = Job.objects.create(kind=kind, arguments=arguments, upload=upload, author=author)
    _wake(job.pk)
    return job


def run_job(job_id: int) -> None:
    """Run a queued job to its end. Of several concurrent calls, only one runs it."""
    claimed = Job.objects.filter(pk=job_id, state=JobState.QUEUED).update(
        state=JobState.RUNNING, attempt=F("attempt") + 1, heartbeat_at=clock.now()
    )
    if not claimed:
        return
    job = Job.objects.get(pk=job_id)
    progress = Progress(job)
    try:
        progress(0, 0)
        if job.kind not in _runners:
            raise Refusal(f"No worker knows the kind of job {job.kind!r}.")
        with watched(partial(_beat, job), partial(_end_at_once, job)):
            result = _runners[job.kind](job, progress)
    except Cancelled as stopped:
        _end(job, JobState.CANCELLED, message=str(stopped) or "Stopped before it finished.")
    except Refusal as refusal:
        _end(job, JobState.FAILED, message=storable(str(refusal)))
    except Exception:
        logger.exception("Job %s (%s) failed", job.pk, job.kind)
        _end(
            job,
            JobState.FAILED,
            message=f"A program error ended this job; see the log (job {job.pk}).",
        )
    else:
        whole = {"progress": F("total"), "message": str(result.get("summary", ""))}
        _end(job, JobState.DONE, result=result, **whole)


def sweep(*, at: datetime) -> None:
    """Pick up what a killed worker left behind, and wake workers for all that is queued."""
    silent = Job.objects.filter(state=JobState.RUNNING).filter(
        Q(heartbeat_at__lt=at - SILENCE) | Q(heartbeat_at__isnull=True)
    )
    for job in silent:
        if job.cancel_requested:
            _end(job, JobState.CANCELLED, message="Stopped before it finished.")
        elif job.attempt >= MOST_ATTEMPTS:
            _end(job, JobState.FAILED, message=f"Its worker ended {job.attempt} times without it.")
        else:
            _still_running(job).filter(heartbeat_at=job.heartbeat_at).update(state=JobState.QUEUED)
    for job_id in Job.objects.filter(state=JobState.QUEUED).values_list("pk", flat=True):
        _wake(job_id)


def _wake(job_id: int) -> None:
    transaction.on_commit(partial(_send_for_worker, job_id))


_broker_rests = Rest()


def _send_for_worker(job_id: int) -> None:
    """Send for one; without a broker the job waits, and the sweep sends for a worker again."""
    task = import_string(WAKING_TASK)
    options = {**task.app.conf.broker_transport_options, **settings.PUBLISHING}
    try:
        if not _broker_rests.is_over:
            raise ConnectionError("it did not answer a moment ago")
        with task.app.connection_for_write(transport_options=options) as broker:
            task.apply_async((job_id,), connection=broker, retry=False)
    except Exception as problem:  # each broker's library has its own
        if _broker_rests.is_over:
            _broker_rests.begin()
        logger.warning("The queue does not answer, so job %s waits: %s", job_id, problem)
        Job.objects.filter(pk=job_id, state=JobState.QUEUED).update(message=WAITS)


def _still_running(job: Job) -> QuerySet[Job]:
    """The row of this very attempt, while it runs."""
    return Job.objects.filter(pk=job.pk, state=JobState.RUNNING, attempt=job.attempt)


def _beat(job: Job) -> None:
    write(lambda: _still_running(job).update(heartbeat_at=clock.now()))


def _end_at_once(job: Job, why: str) -> None:
    _end(job, JobState.FAILED, message=why)


def _end(job: Job, state: str, **fields: Any) -> None:
    """End the job once: what an abandoned attempt says is ignored."""
    changes = {"state": state, "finished_at": clock.now(), **fields}
    ended = write(lambda: _still_running(job).update(**changes))
    # What failed is said better, not uploaded again.
    is_used = state == JobState.DONE and job.kind not in _keeping
    if ended and is_used and job.upload_id is not None:
        Upload.objects.filter(pk=job.upload_id).delete()

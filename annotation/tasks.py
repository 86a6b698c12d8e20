"""What wakes a worker for a job, and what runs on a schedule: each calls one act, and is safe to
run twice. Runners of jobs stand beside what they run."""

import logging
from typing import Any

from celery import shared_task
from celery.signals import worker_ready

from annotation.access import throttles
from annotation.benchmarks import importing
from annotation.jobs import files, queue
from annotation.models import ProlificStudy, Study, StudyState, clock
from annotation.models.errors import Refusal
from annotation.people.rows import rows
from annotation.people.summaries import refresh
from annotation.prolific.statuses import forget_deliveries, is_due_for_poll, poll
from annotation.studies.lifecycle import close_full_studies
from annotation.webhooks.sending import forget_old, send_due
from annotation.work.finishing import expire_idle

log = logging.getLogger(__name__)


@shared_task
def run_job(job_id: int) -> None:
    queue.run_job(job_id)


@shared_task
def sweep_jobs() -> None:
    queue.sweep(at=clock.now())


@worker_ready.connect
def sweep_at_start(**kwargs: Any) -> None:
    """What an earlier worker left behind does not wait for the schedule."""
    sweep_jobs.delay()


@shared_task
def remove_old() -> None:
    files.remove_old(at=clock.now())
    importing.remove_abandoned(at=clock.now())
    throttles.forget_past_windows()
    forget_deliveries(at=clock.now())
    forget_old(at=clock.now())


@shared_task
def act_by_the_clock() -> None:
    expire_idle(at=clock.now())
    close_full_studies(at=clock.now())


@shared_task
def summarise_work() -> None:
    """Flags compare people with one another, so all are looked at when one has moved on."""
    for study in Study.objects.exclude(state=StudyState.DRAFT):
        if refresh(study):
            rows(study)


@shared_task
def poll_prolific() -> None:
    """Each study on its own: one that fails says so on its page, and keeps nobody waiting."""
    connected = ProlificStudy.objects.exclude(token="").exclude(remote_id="")
    for connection in connected.select_related("study"):
        if is_due_for_poll(connection, at=clock.now()):
            try:
                poll(connection, at=clock.now())
            except Refusal as refusal:
                log.warning("Prolific, study %s: %s", connection.study.slug, refusal)


@shared_task
def tell_webhooks() -> None:
    send_due(at=clock.now())

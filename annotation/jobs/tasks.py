"""What wakes a worker for a job. Every task is safe to run twice."""

from typing import Any

from celery import shared_task
from celery.signals import worker_ready
from django.utils import timezone

from annotation.jobs import files, queue


@shared_task
def run_job(job_id: int) -> None:
    queue.run_job(job_id)


@shared_task
def sweep_jobs() -> None:
    queue.sweep(at=timezone.now())


@shared_task
def remove_old_files() -> None:
    files.remove_old(at=timezone.now())


@worker_ready.connect
def sweep_at_start(**kwargs: Any) -> None:
    """What an earlier worker left behind does not wait for the schedule."""
    sweep_jobs.delay()

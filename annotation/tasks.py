"""What the background worker is told to do. Every task is safe to run twice."""

from io import BytesIO
from typing import Any

from celery import shared_task
from celery.signals import worker_ready
from django.utils import timezone

from annotation import jobs
from annotation.acts.finishing import expire_idle
from annotation.benchmarks.importing import import_benchmark
from annotation.models import Job
from annotation.models.errors import BadInput


@shared_task
def run_job(job_id: int) -> None:
    jobs.run_job(job_id)


@shared_task
def sweep_jobs() -> None:
    jobs.sweep(at=timezone.now())


@shared_task
def expire_leases() -> None:
    expire_idle(at=timezone.now())


@worker_ready.connect
def sweep_at_start(**kwargs: Any) -> None:
    """What an earlier worker left behind does not wait for the schedule."""
    sweep_jobs.delay()


@jobs.runs("import_benchmark")
def import_uploaded_benchmark(job: Job, progress: jobs.Progress) -> jobs.Result:
    """Arguments: name, and tasks (slugs; all of them where it is left out). The upload is the
    zip file."""
    if job.upload is None:
        raise BadInput("The uploaded file is no longer there; upload it again.")
    report = import_benchmark(
        BytesIO(job.upload.data),
        name=job.arguments["name"],
        tasks=job.arguments.get("tasks"),
        progress=progress,
    )
    return report.as_json()

from io import BytesIO

from celery import shared_task
from django.utils import timezone

from annotation.access.members import check_may_import
from annotation.benchmarks.importing import import_benchmark, remove_abandoned
from annotation.jobs import queue
from annotation.models import Job
from annotation.models.errors import BadInput


@queue.runs("import_benchmark")
def import_uploaded_benchmark(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: name, and tasks (slugs; all if left out). The upload is the zip file."""
    if job.upload is None:
        raise BadInput("The uploaded file is no longer there; upload it again.")
    if job.author is not None:
        check_may_import(job.arguments["name"], job.author)
    report = import_benchmark(
        BytesIO(job.upload.data),
        name=job.arguments["name"],
        owner=job.author,
        tasks=job.arguments.get("tasks"),
        progress=progress,
    )
    return report.as_json()


@shared_task
def remove_abandoned_imports() -> None:
    remove_abandoned(at=timezone.now())

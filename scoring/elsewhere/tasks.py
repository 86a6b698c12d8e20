"""A file of people from elsewhere that was uploaded is imported by a job."""

from typing import Any

from django.urls import reverse

from annotation.jobs import queue
from annotation.models import Benchmark, Job, Study, clock
from annotation.models.errors import BadInput
from scoring.elsewhere.importing import Order, import_people

JOB = "import_people"


@queue.runs(JOB)
def import_uploaded_people(job: Job, progress: queue.Progress) -> queue.Result:
    """Import the file of a job's upload. The job's arguments are the id of the `benchmark`, the
    other fields of an `Order`, and `dry_run`. It is safe to run twice: the study that a lost
    attempt has stored is looked up, and not stored again."""
    arguments: dict[str, Any] = {**job.arguments}
    benchmark = Benchmark.objects.filter(pk=arguments.pop("benchmark")).first()
    if job.upload is None or benchmark is None:
        raise BadInput("The file or its benchmark is no longer there: upload the file again.")
    about = {"title": arguments["name"], "source": arguments["source"], "benchmark": benchmark}
    if study := Study.objects.filter(**about, created_at__gte=job.created_at).first():
        return _stored(study, f"Stored as the study “{study.slug}”.")
    dry_run, file = arguments.pop("dry_run"), job.upload.name
    order, at = Order(benchmark=benchmark, **arguments), clock.now()
    data, owner = bytes(job.upload.data), job.author
    report = import_people(data, file, order, at=at, owner=owner, dry_run=dry_run)
    summary = " ".join(report.in_words())
    return _stored(report.study, summary) if report.study else {"summary": summary}


def _stored(study: Study, summary: str) -> queue.Result:
    return {"summary": summary, "page": reverse("scoring:comparison", args=["study", study.slug])}

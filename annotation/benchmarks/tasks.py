from io import BytesIO

from annotation.benchmarks.importing import import_benchmark
from annotation.jobs import queue
from annotation.models import Job
from annotation.models.errors import BadInput


@queue.runs("import_benchmark")
def import_uploaded_benchmark(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: name, and tasks (slugs; all if left out). The upload is the zip file."""
    if job.upload is None:
        raise BadInput("The uploaded file is no longer there; upload it again.")
    report = import_benchmark(
        BytesIO(job.upload.data),
        name=job.arguments["name"],
        tasks=job.arguments.get("tasks"),
        progress=progress,
    )
    return report.as_json()

from annotation.jobs import queue
from annotation.models import Job
from annotation.studies import exporting


@queue.runs(exporting.JOB)
def make_download(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: study, its id, and format."""
    return exporting.make_file(job, progress)

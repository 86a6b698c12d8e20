from annotation.jobs import queue
from annotation.models import Job
from annotation.studies import downloads


@queue.runs(downloads.JOB)
def make_download(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: study, its id, and format."""
    return downloads.make_file(job, progress)

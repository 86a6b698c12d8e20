from annotation.jobs import queue
from annotation.models import Job
from annotation.studies import exported_judgements


@queue.runs(exported_judgements.JOB)
def make_download(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: study, its id, and format."""
    return exported_judgements.make_file(job, progress)

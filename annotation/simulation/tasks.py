from django.utils import timezone

from annotation.jobs import queue
from annotation.models import Job
from annotation.simulation import rehearsing


@queue.runs(rehearsing.JOB)
def play_rehearsal(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: study, its id, and the crowd: skill, weak, dropout."""
    return rehearsing.play(job, progress, at=timezone.now())

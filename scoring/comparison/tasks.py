"""What the background worker is told to do. Every task is safe to run twice."""

from annotation.jobs import queue
from annotation.models import Job
from scoring.comparison.analysing import analyse
from scoring.comparison.cache import JOBS, compute_enqueued
from scoring.comparison.comparing import compute_table
from scoring.models import Part


@queue.runs(JOBS[Part.TABLE])
def compute_comparison(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: comparison, the id of the kept comparison."""
    table = compute_enqueued(job.arguments["comparison"], compute_table, progress=progress)
    return {"summary": f"{len(table['rows'])} rows computed."}


@queue.runs(JOBS[Part.ANALYSIS])
def analyse_comparison(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: comparison, the id of the kept comparison."""
    analysis = compute_enqueued(job.arguments["comparison"], analyse, progress=progress)
    return {"summary": f"{len(analysis['cells'])} cells analysed."}

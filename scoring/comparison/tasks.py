"""What the background worker is told to do. Every task is safe to run twice."""

from annotation.jobs import queue
from annotation.models import Job
from scoring.comparison.comparing import STORE, compute_table


@queue.runs(STORE.job)
def compute_comparison(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: comparison, the id of the kept comparison."""
    table = STORE.compute_enqueued(job.arguments["comparison"], compute_table, progress=progress)
    return {"summary": f"{len(table.rows)} rows computed."}

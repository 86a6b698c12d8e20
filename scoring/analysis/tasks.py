"""What the background worker is told to do. Every task is safe to run twice. Arguments: comparison,
the id of the kept comparison."""

from annotation.jobs import queue
from annotation.models import Job
from scoring.analysis.analysing import STORE, analyse


@queue.runs(STORE.job)
def analyse_comparison(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: comparison, the id of the kept comparison."""
    analysis = STORE.compute_enqueued(job.arguments["comparison"], analyse, progress=progress)
    return {"summary": f"{len(analysis.uncertainty)} cells analysed."}

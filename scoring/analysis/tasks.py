"""What the background worker is told to do for comparisons. Every task is safe to run twice; its
argument is `comparison`, the id of the kept comparison."""

from annotation.jobs import queue
from annotation.models import Job
from scoring.analysis import analysing
from scoring.comparison import comparing


@queue.runs(comparing.STORE.job)
def compute_comparison(job: Job, progress: queue.Progress) -> queue.Result:
    kept, compute = job.arguments["comparison"], comparing.compute_table
    table = comparing.STORE.compute_enqueued(kept, compute, progress=progress)
    return {"summary": f"{len(table.rows)} rows computed."}


@queue.runs(analysing.STORE.job)
def analyse_comparison(job: Job, progress: queue.Progress) -> queue.Result:
    kept, compute = job.arguments["comparison"], analysing.analyse
    analysis = analysing.STORE.compute_enqueued(kept, compute, progress=progress)
    return {"summary": f"{len(analysis.uncertainty)} cells analysed."}

"""What the background worker is told to do for comparisons. Every task is safe to run twice; its
argument is `comparison`, the id of the kept comparison."""

from celery import shared_task

from annotation.jobs import queue
from annotation.models import Job, Study, StudyState
from scoring.analysis import analysing, kept
from scoring.cells.scope import Scope
from scoring.comparison import comparing
from scoring.comparison.claims import is_frozen


@queue.runs(comparing.STORE.job)
def compute_comparison(job: Job, progress: queue.Progress) -> queue.Result:
    ordered, compute = job.arguments["comparison"], comparing.compute_table
    table = comparing.STORE.compute_enqueued(ordered, compute, progress=progress)
    return {"summary": f"{len(table.rows)} rows computed."}


@queue.runs(kept.STORE.job)
def analyse_comparison(job: Job, progress: queue.Progress) -> queue.Result:
    ordered, compute = job.arguments["comparison"], analysing.analyse
    analysis = kept.STORE.compute_enqueued(ordered, compute, progress=progress)
    return {"summary": f"{len(analysis.uncertainty)} cells analysed."}


@shared_task
def freeze_claims() -> None:
    """Freeze the claims of studies that were closed, before their gold or their people change, and
    after."""
    closed = Study.objects.filter(
        state=StudyState.CLOSED, is_rehearsal=False, archived_at__isnull=True
    )
    for study in closed.select_related("benchmark"):
        if study.is_settled and not is_frozen(study):
            comparing.compare(Scope(study.benchmark, study))

from collections.abc import Iterator

from annotation.jobs import files, queue
from annotation.models import Job
from scoring.cells.scope import ordered
from scoring.samples.exporting import Evaluation, archive_name, evaluations, packed

JOB = "export_samples"
PIECE_BYTES = 1_000_000


@queue.runs(JOB)
def pack_samples(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: study or benchmark, its id, and choices."""
    scope, choices = ordered(job)
    with packed(_telling(evaluations(scope, choices), progress)) as archive:
        pieces = iter(lambda: archive.read(PIECE_BYTES), b"")
        return files.keep(job, archive_name(scope.name), pieces)


def _telling(made: Iterator[Evaluation], progress: queue.Progress) -> Iterator[Evaluation]:
    for number, evaluation in enumerate(made):
        progress(number, 0, evaluation.task)
        yield evaluation

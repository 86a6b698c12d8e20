from annotation.jobs import files, queue
from annotation.models import Job
from annotation.models.errors import Refusal
from scoring.cells.scope import ordered
from scoring.episodes.grids import JOB, simulate_part
from scoring.episodes.tables import export_board, file_name

EXPORT = "export_episodes"


@queue.runs(JOB)
def simulate_part_of_grid(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: grid, part, rules and points, as `distribute_grid` writes them."""
    return simulate_part(job, progress)


@queue.runs(EXPORT)
def write_board(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: benchmark, its id, choices, table, form, and what its reader may see."""
    scope, _choices = ordered(job)
    table, form = job.arguments["table"], job.arguments["form"]
    document = export_board(
        scope.benchmark,
        table,
        form,
        protocol=job.arguments["protocol"],
        for_researchers=job.arguments["for_researchers"],
        sees_gold=job.arguments["sees_gold"],
        tell=lambda: progress(0, 0),
    )
    if document is None:
        raise Refusal("There is no such table: choose another one on the page of the board.")
    return files.keep(job, file_name(scope.benchmark, table, form), [document])

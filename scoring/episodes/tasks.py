from annotation.jobs import queue
from annotation.models import Job
from scoring.episodes.grids import JOB, simulate_part


@queue.runs(JOB)
def simulate_part_of_grid(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: grid, part, rules and points, as `distribute_grid` writes them."""
    return simulate_part(job, progress)

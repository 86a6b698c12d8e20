"""What the background worker is told to do. Every task is safe to run twice."""

from annotation import jobs
from annotation.models import Job
from scoring.acts.analysing import analyse
from scoring.acts.comparing import compute_table
from scoring.acts.keeping import JOBS, compute_ordered
from scoring.acts.simulating_grids import JOB as SIMULATE_INTERVALS
from scoring.acts.simulating_grids import simulate_part
from scoring.models import Part


@jobs.runs(JOBS[Part.TABLE])
def compute_comparison(job: Job, progress: jobs.Progress) -> jobs.Result:
    """Arguments: comparison, the id of the kept comparison."""
    found = compute_ordered(job.arguments["comparison"], compute_table, progress=progress)
    return {"summary": f"{len(found['rows'])} rows computed."}


@jobs.runs(JOBS[Part.ANALYSIS])
def analyse_comparison(job: Job, progress: jobs.Progress) -> jobs.Result:
    """Arguments: comparison, the id of the kept comparison."""
    found = compute_ordered(job.arguments["comparison"], analyse, progress=progress)
    return {"summary": f"{len(found['cells'])} cells analysed."}


@jobs.runs(SIMULATE_INTERVALS)
def simulate_part_of_grid(job: Job, progress: jobs.Progress) -> jobs.Result:
    """Arguments: grid, part, rules and points, as `distribute_grid` writes them."""
    return simulate_part(job, progress)

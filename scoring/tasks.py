"""What the background worker is told to do. Every task is safe to run twice."""

from django.utils import timezone

from annotation import jobs
from annotation.models import Job
from scoring.acts.analysing import JOB as ANALYSE_COMPARISON
from scoring.acts.analysing import compute_analysis
from scoring.acts.simulating_grids import JOB as SIMULATE_INTERVALS
from scoring.acts.simulating_grids import simulate_part


@jobs.runs(ANALYSE_COMPARISON)
def analyse_comparison(job: Job, progress: jobs.Progress) -> jobs.Result:
    """Arguments: comparison, the id of the kept comparison."""
    kept = compute_analysis(job.arguments["comparison"], at=timezone.now(), progress=progress)
    return {"summary": f"{len(kept.result['cells'])} cells analysed."}


@jobs.runs(SIMULATE_INTERVALS)
def simulate_part_of_grid(job: Job, progress: jobs.Progress) -> jobs.Result:
    """Arguments: grid, part, rules and points, as `distribute_grid` writes them."""
    return simulate_part(job, progress)

from annotation.jobs import files, queue
from annotation.models import Job
from annotation.models.errors import Refusal
from scoring.cells.scope import ordered
from scoring.figures.items import draw_items
from scoring.figures.sizes import file_name

JOB = "draw_items"


@queue.runs(JOB)
def draw_items_figure(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: study or benchmark, its id, choices, task, its slug, form and size."""
    scope, choices = ordered(job)
    task = next((task for task in scope.tasks if task.slug == job.arguments["task"]), None)
    if task is None:
        raise Refusal("The task of this figure is no longer there.")
    form, size = job.arguments["form"], job.arguments["size"]
    document = draw_items(scope, choices, task, form, size)
    return files.keep(job, file_name("items", scope.name, form, size), [document])

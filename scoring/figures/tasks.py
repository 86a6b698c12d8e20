from annotation.jobs import files, queue
from annotation.models import Job
from annotation.models.errors import Refusal
from scoring.analysis.items import item_scores, narrowed, task_cells
from scoring.cells.scope import ordered
from scoring.figures.sizes import SIZES, file_name

JOB = "draw_items"


@queue.runs(JOB)
def draw_items_figure(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: study or benchmark, its id, choices, task, its slug, form, size and pool."""
    scope, choices = ordered(job)
    task = next((task for task in scope.tasks if task.slug == job.arguments["task"]), None)
    if task is None:
        raise Refusal("The task of this figure is no longer there.")
    form, size = job.arguments["form"], job.arguments["size"]
    # Matplotlib is slow to load.
    from scoring.figures.canvas import rendered
    from scoring.figures.drawing import items_figure

    cells = task_cells(task, scope, choices)
    scores = item_scores(task, *narrowed(cells, choices, job.arguments.get("pool", "")))
    figure = items_figure(scope.task_names[task.slug], scores, size=SIZES[size])
    document = rendered(figure, form)
    return files.keep(job, file_name("items", scope.name, form, size), [document])

"""The figure of a task's items as a file."""

from annotation.models import Task
from scoring.analysis.items import item_scores, task_cells
from scoring.cells.cells import CellReader
from scoring.cells.scope import Choices, Scope
from scoring.figures.sizes import SIZES


def draw_items(scope: Scope, choices: Choices, task: Task, form: str, size: str) -> bytes:
    from scoring.figures.drawing import items_figure
    from scoring.figures.rendering import rendered

    cells = task_cells(task, scope.studies, CellReader(choices))
    scores = item_scores(task, *cells)
    figure = items_figure(scope.task_names[task.slug], scores, size=SIZES[size])
    return rendered(figure, form)

"""The figure of a task's items as a file."""

from annotation.models import Task
from scoring.comparison.cells import CellReader, Choices
from scoring.comparison.items import item_scores, task_cells
from scoring.comparison.scope import Scope
from scoring.figures.canvas import SIZES
from scoring.figures.drawing import FIGURES
from scoring.figures.rendering import rendered


def draw_items(scope: Scope, choices: Choices, task: Task, form: str, size: str) -> bytes:
    draw, _title = FIGURES["items"]
    cells = task_cells(task, scope.studies, CellReader(choices))
    scores = item_scores(task, *cells)
    figure = draw(scope.task_names[task.slug], scores, size=SIZES[size])
    return rendered(figure, form)

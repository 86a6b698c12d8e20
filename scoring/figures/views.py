"""The figures of a comparison: fragments for its pages, and files."""

from typing import Any

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from annotation.access.requests import ResearcherRequest
from scoring.comparison.analysis_views import kept_analysis
from scoring.comparison.cells import CellReader
from scoring.comparison.comparing import glance
from scoring.comparison.item_views import chosen_task
from scoring.comparison.items import item_figures, task_cells
from scoring.comparison.requests import asked, download, for_researchers
from scoring.figures import drawing

# The part of a kept analysis that a figure draws.
PARTS = {"differences": "tests", "curves": "curves"}


@for_researchers
@require_safe
def shots_figure(request: ResearcherRequest, scope: str, name: str, form: str) -> HttpResponse:
    """Score against shots, for the table as shown."""
    table = glance(*asked(request, scope, name), author=request.user).table
    if table is None:
        raise Http404
    return _response("shots", form, name, table.rows, table.bounds)


@for_researchers
@require_safe
def analysis_figure(
    request: ResearcherRequest, scope: str, name: str, figure: str, form: str
) -> HttpResponse:
    kept = kept_analysis(*asked(request, scope, name))
    if figure not in PARTS or not kept.result:
        raise Http404
    return _response(figure, form, name, kept.result[PARTS[figure]])


@for_researchers
@require_safe
def items_figure(request: ResearcherRequest, scope: str, name: str, form: str) -> HttpResponse:
    compared, choices = asked(request, scope, name)
    task = chosen_task(compared.tasks, request.GET)
    if task is None:
        raise Http404
    cells = task_cells(task, compared.studies, CellReader(choices))
    return _response("items", form, name, task.slug, item_figures(task, *cells))


def _response(figure: str, form: str, name: str, *inputs: Any) -> HttpResponse:
    if form not in (*drawing.CONTENT_TYPES, "fragment"):
        raise Http404
    draw, title = drawing.FIGURES[figure]
    drawn = draw(*inputs)
    if form == "fragment":
        return HttpResponse(drawing.inline_svg(drawn, title))
    document = drawing.rendered(drawn, form)
    return download(document, drawing.CONTENT_TYPES[form], f"{figure}-{name}.{form}")

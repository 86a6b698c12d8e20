"""The figures of a comparison: fragments for its pages, and files."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access.requests import ResearcherRequest
from annotation.access.rights import Right
from annotation.jobs.requests import document, large_file
from scoring.analysis.item_views import chosen_task, in_order
from scoring.analysis.items import item_scores, narrowed, task_cells
from scoring.analysis.kept import STORE
from scoring.cells.scope import file_order
from scoring.comparison.comparing import glance
from scoring.comparison.requests import asked, shown_to
from scoring.figures.sizes import CONTENT_TYPES, SIZES, file_name
from scoring.figures.tasks import JOB

# The part of a kept analysis that a figure draws.
PARTS = {"differences": "tests", "curves": "curves"}


@require_safe
def shots_figure(request: ResearcherRequest, scope: str, name: str, form: str) -> HttpResponse:
    compared, choices = asked(request, scope, name)
    table = glance(compared, choices, author=request.user).table
    if table is None:
        raise Http404
    table = shown_to(request, compared, table)
    drawn = (table.rows, table.bounds, table.task_names, table.titles)
    return _response(request, "shots", form, name, *drawn)


@require_safe
def analysis_figure(
    request: ResearcherRequest, scope: str, name: str, figure: str, form: str
) -> HttpResponse:
    compared, choices = asked(request, scope, name, Right.GOLD)
    analysis = STORE.read(STORE.find(compared, choices))
    if figure not in PARTS or analysis is None:
        raise Http404
    order = {task: place for place, task in enumerate(compared.task_order)}
    parts = getattr(analysis, PARTS[figure])
    drawn = sorted(parts, key=lambda record: order.get(record["task"], len(order)))
    names = {**compared.task_names, **{study.slug: study.title for study in compared.studies}}
    keys = ("task", "study")
    named = [{**one, **{key: names.get(one[key], one[key]) for key in keys}} for one in drawn]
    return _response(request, figure, form, name, named)


@require_http_methods(["GET", "HEAD", "POST"])
def items_figure(request: ResearcherRequest, scope: str, name: str, form: str) -> HttpResponse:
    compared, choices = asked(request, scope, name, Right.GOLD)
    task = chosen_task(in_order(compared), request.GET)
    if task is None:
        raise Http404
    size, pool = _size(request), request.GET.get("pool", "")
    about = {"task": task.slug, "form": form, "size": size, "pool": pool}
    file = file_order(JOB, compared, choices, **about)
    if form in CONTENT_TYPES and file.is_large:
        back = reverse("scoring:items", args=[scope, name])
        return large_file(request, file, CONTENT_TYPES[form], back=back)
    cells = narrowed(task_cells(task, compared, choices), choices, pool)
    task_name = compared.task_names[task.slug]
    return _response(request, "items", form, name, task_name, item_scores(task, *cells))


def _response(
    request: HttpRequest, figure: str, form: str, name: str, *inputs: Any
) -> HttpResponse:
    from scoring.figures.canvas import inline_svg, rendered
    from scoring.figures.drawing import FIGURES

    if form not in (*CONTENT_TYPES, "fragment"):
        raise Http404
    size = _size(request)
    draw, title = FIGURES[figure]
    drawn = draw(*inputs, size=SIZES[size])
    if form == "fragment":
        return HttpResponse(inline_svg(drawn, title))
    named = file_name(figure, name, form, size)
    return document(rendered(drawn, form), CONTENT_TYPES[form], named)


def _size(request: HttpRequest) -> str:
    """The size that the address says: over a page, or `size=column` for one of its two columns."""
    size = request.GET.get("size", "page")
    if size not in SIZES:
        raise Http404
    return size

"""The table of a comparison, its exports and its figures."""

from importlib import import_module
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.models import GoldVersion
from scoring.acts.comparing import ComparisonTable, compare
from scoring.scope import Scope
from scoring.tables.documents import FORMATS
from scoring.tables.grid import people_grid, shots_order, system_grids
from scoring.views.scope import chosen, download, for_researchers, found_scope


@for_researchers
@require_safe
def comparison(request: HttpRequest, scope: str, name: str) -> HttpResponse:
    found = found_scope(scope, name)
    table = compare(found, chosen(request.GET))
    context = {
        "scope": scope,
        "name": name,
        "tab": "comparison",
        "choices": table.choices,
        "table": table,
        "people": people_grid(table.rows),
        "systems": system_grids(table.rows, table.bounds),
        "annotators": [row for row in table.rows if row.single],
        "formats": list(FORMATS),
        "shots_offered": _shots_offered(table),
        "versions_offered": _versions_offered(found),
        # Published figures may stand for tasks whose items are not here.
        "item_tasks": {row.task for row in table.rows if row.kind != "reported"},
    }
    return render(request, "scoring/comparison.html", context)


@for_researchers
@require_safe
def comparison_export(request: HttpRequest, scope: str, name: str, form: str) -> HttpResponse:
    if form not in FORMATS:
        raise Http404
    found = FORMATS[form]
    document = found.write(_table(request, scope, name))
    return download(document, found.content_type, f"comparison-{name}.{found.extension}")


@for_researchers
@require_safe
def shots_figure(request: HttpRequest, scope: str, name: str, form: str) -> HttpResponse:
    """Score against shots: a fragment for the page, or a file."""
    table = _table(request, scope, name)
    return figure_response("shots", form, name, table.rows, table.bounds)


def figure_response(figure: str, form: str, name: str, *inputs: Any) -> HttpResponse:
    # The drawing library is slow to import: only who looks at a figure waits for it.
    figures = import_module("scoring.figures")
    if form not in (*figures.CONTENT_TYPES, "fragment"):
        raise Http404
    draw, title = figures.FIGURES[figure]
    drawn = draw(*inputs)
    if form == "fragment":
        return HttpResponse(figures.inline_svg(drawn, title))
    document = figures.rendered(drawn, form)
    return download(document, figures.CONTENT_TYPES[form], f"{figure}-{name}.{form}")


def _table(request: HttpRequest, scope: str, name: str) -> ComparisonTable:
    return compare(found_scope(scope, name), chosen(request.GET))


def _shots_offered(table: ComparisonTable) -> list[str]:
    """Those of the table, and what is chosen already."""
    shown = {str(row.shots) for row in table.rows} | set(table.choices.shots)
    return sorted(shown, key=shots_order)


def _versions_offered(scope: Scope) -> list[int]:
    numbers = GoldVersion.objects.filter(task__in=scope.tasks).values_list("number", flat=True)
    return sorted(set(numbers))

"""The table of a comparison, its exports and its figures."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_POST, require_safe

from annotation.models import GoldVersion
from scoring.comparison import interval_lines
from scoring.comparison.comparing import ComparisonTable, compare, glance, order_table, stop_table
from scoring.comparison.grid import people_grid, system_grids
from scoring.comparison.requests import (
    asked,
    back_to,
    download,
    for_researchers,
    render_or_poll,
)
from scoring.comparison.scope import Scope
from scoring.models import shots_order
from scoring.tables.documents import FORMATS


@for_researchers
@require_safe
def comparison(request: HttpRequest, scope: str, name: str) -> HttpResponse:
    found, choices = asked(request, scope, name)
    seen = glance(found, choices, author=request.user)
    context = {
        "scope": scope,
        "name": name,
        "title": found.title,
        "benchmark": found.benchmark,
        "tab": "comparison",
        "choices": choices,
        "kept": seen.kept,
        "stale": seen.is_stale,
        "waiting": seen.is_waiting,
        "versions_offered": _versions_offered(found),
        **(_shown(seen.table) if seen.table else {}),
    }
    return render_or_poll(request, "scoring/comparison/comparison.html", context)


@for_researchers
@require_POST
def order_comparison(request: HttpRequest, scope: str, name: str) -> HttpResponse:
    order_table(*asked(request, scope, name), author=request.user)
    return back_to("scoring:comparison", request, scope, name)


@for_researchers
@require_POST
def stop_comparison(request: HttpRequest, scope: str, name: str) -> HttpResponse:
    stop_table(*asked(request, scope, name))
    return back_to("scoring:comparison", request, scope, name)


@for_researchers
@require_safe
def comparison_export(request: HttpRequest, scope: str, name: str, form: str) -> HttpResponse:
    if form not in FORMATS:
        raise Http404
    writer = FORMATS[form]
    document = writer.write(compare(*asked(request, scope, name)))
    return download(document, writer.content_type, f"comparison-{name}.{writer.extension}")


def _shown(table: ComparisonTable) -> dict[str, Any]:
    return {
        "table": table,
        "people": people_grid(table.figures),
        "systems": system_grids(table.figures, table.bounds),
        "interval_heads": interval_lines.HEADS,
        "intervals": interval_lines.interval_lines(table.rows),
        "annotators": [row for row in table.rows if row.single],
        "formats": list(FORMATS),
        "shots_offered": sorted({*table.shots_offered, *table.choices.shots}, key=shots_order),
        # Published figures may stand for tasks whose items are not here.
        "item_tasks": {row.task for row in table.rows if row.kind != "reported"},
    }


def _versions_offered(scope: Scope) -> list[int]:
    numbers = GoldVersion.objects.filter(task__in=scope.tasks).values_list("number", flat=True)
    return sorted(set(numbers))

"""The table of a comparison, its exports and its figures."""

from typing import Any

from django.http import Http404, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.access.requests import ResearcherRequest
from annotation.models import GoldVersion
from scoring.comparison.comparing import ComparisonTable, compare, glance, order_table, stop_table
from scoring.comparison.documents import FORMATS
from scoring.comparison.paper_tables import people_table, system_tables
from scoring.comparison.requests import (
    asked,
    back_to,
    download,
    for_researchers,
    render_or_poll,
)
from scoring.comparison.row_tables import annotator_table, interval_table
from scoring.comparison.scope import Scope
from scoring.models import shots_order


@for_researchers
@require_safe
def comparison(request: ResearcherRequest, scope: str, name: str) -> HttpResponse:
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
        **(_shown(request, seen.table, found) if seen.table else {}),
    }
    return render_or_poll(request, "scoring/comparison/comparison.html", context)


@for_researchers
@require_POST
def order_comparison(request: ResearcherRequest, scope: str, name: str) -> HttpResponse:
    order_table(*asked(request, scope, name), author=request.user)
    return back_to("scoring:comparison", request, scope, name)


@for_researchers
@require_POST
def stop_comparison(request: ResearcherRequest, scope: str, name: str) -> HttpResponse:
    stop_table(*asked(request, scope, name))
    return back_to("scoring:comparison", request, scope, name)


@for_researchers
@require_safe
def comparison_export(request: ResearcherRequest, scope: str, name: str, form: str) -> HttpResponse:
    if form not in FORMATS:
        raise Http404
    writer = FORMATS[form]
    document = writer.write(compare(*asked(request, scope, name)))
    return download(document, writer.content_type, f"comparison-{name}.{writer.extension}")


def _shown(request: ResearcherRequest, table: ComparisonTable, scope: Scope) -> dict[str, Any]:
    links = _item_links(request, table, scope)
    annotators = annotator_table(table.rows)
    return {
        "comparison": table,
        "people": people_table(table.figures, links),
        "systems": system_tables(table.figures, table.bounds, links),
        "intervals": interval_table(table.rows),
        "annotators": annotators.without({"study"}) if scope.study else annotators,
        "formats": list(FORMATS),
        "shots_offered": sorted({*table.shots_offered, *table.choices.shots}, key=shots_order),
    }


def _item_links(request: ResearcherRequest, table: ComparisonTable, scope: Scope) -> dict[str, str]:
    """By task. Published figures may be for tasks whose items are not here."""
    page = reverse("scoring:items", args=["study" if scope.study else "benchmark", scope.name])
    links = {}
    for task in {row.task for row in table.rows if row.kind != "reported"}:
        chosen = request.GET.copy()
        chosen["task"] = task
        links[task] = f"{page}?{chosen.urlencode()}"
    return links


def _versions_offered(scope: Scope) -> list[int]:
    numbers = GoldVersion.objects.filter(task__in=scope.tasks).values_list("number", flat=True)
    return sorted(set(numbers))

"""Pages of the researcher: comparisons of people and systems."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.models import Benchmark, Study
from scoring.acts.comparing import ComparisonTable, compare
from scoring.cells import Choices
from scoring.tables.documents import FORMATS
from scoring.tables.grid import people_grid, system_grids

View = Callable[..., HttpResponse]
SCOPES = {"study": (Study, "slug"), "benchmark": (Benchmark, "name")}


def for_researchers(view: View) -> View:
    """Pages that show answers and scores are for staff; who is not signed in signs in."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_staff:
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return guarded


@for_researchers
@require_safe
def comparison(request: HttpRequest, scope: str, name: str) -> HttpResponse:
    table = _table(request, scope, name)
    context = {
        "scope": scope,
        "name": name,
        "table": table,
        "people": people_grid(table.rows),
        "systems": system_grids(table.rows),
        "annotators": [row for row in table.rows if row.single],
        "formats": list(FORMATS),
    }
    return render(request, "scoring/comparison.html", context)


@for_researchers
@require_safe
def comparison_export(request: HttpRequest, scope: str, name: str, form: str) -> HttpResponse:
    if form not in FORMATS:
        raise Http404
    chosen = FORMATS[form]
    document = chosen.write(_table(request, scope, name))
    return _download(document, chosen.content_type, f"comparison-{name}.{chosen.extension}")


@for_researchers
@require_safe
def shots_figure(request: HttpRequest, scope: str, name: str, form: str) -> HttpResponse:
    """Score against shots: a fragment for the page, or a file."""
    # The drawing library is slow to import: only who looks at a figure waits for it.
    figures = import_module("scoring.figures")
    if form not in (*figures.CONTENT_TYPES, "fragment"):
        raise Http404
    figure = figures.shots_figure(_table(request, scope, name).rows)
    if form == "fragment":
        return HttpResponse(figures.inline_svg(figure, "Score against shots"))
    document = figures.rendered(figure, form)
    return _download(document, figures.CONTENT_TYPES[form], f"shots-{name}.{form}")


def _table(request: HttpRequest, scope: str, name: str) -> ComparisonTable:
    model, field = SCOPES[scope]
    found = get_object_or_404(model, **{field: name})
    study = found if isinstance(found, Study) else None
    benchmark = study.benchmark if study else found
    return compare(benchmark=benchmark, study=study, choices=_choices(request.GET))


def _choices(chosen: QueryDict) -> Choices:
    try:
        return Choices(
            references=chosen.get("references") or None,
            estimand=chosen.get("estimand") or "new_items",
            simulated="simulated" in chosen,
            with_excluded="with_excluded" in chosen,
        )
    except ValueError as error:
        raise Http404(str(error)) from error


def _download(document: bytes, content_type: str, name: str) -> HttpResponse:
    return HttpResponse(
        document,
        content_type=content_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )

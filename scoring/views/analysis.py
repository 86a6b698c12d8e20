"""The analysis of a comparison: kept, ordered, watched, stopped and exported."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from scoring.acts.analysing import (
    is_stale,
    kept_analysis,
    order_analysis,
    stop_analysis,
    was_given_up,
)
from scoring.cells import CellReader
from scoring.scope import inputs_fingerprint
from scoring.tables.documents import SHEET_FORMATS
from scoring.tables.sheets import analysis_sheets
from scoring.views.comparison import figure_response
from scoring.views.scope import chosen, download, for_researchers, found_scope


@for_researchers
@require_safe
def analysis(request: HttpRequest, scope: str, name: str) -> HttpResponse:
    """What was computed last. Looking at a stale analysis has it computed again, unless
    somebody stopped just that."""
    found, choices = found_scope(scope, name), chosen(request.GET)
    fingerprint = inputs_fingerprint(found, CellReader(choices))
    kept = kept_analysis(found, choices)
    stale = is_stale(kept, fingerprint)
    if stale and not was_given_up(kept, fingerprint):
        kept = order_analysis(found, choices, fingerprint=fingerprint, author=request.user)
    context = {
        "scope": scope,
        "name": name,
        "tab": "analysis",
        "choices": choices,
        "kept": kept,
        "stale": stale,
        "waiting": stale and kept.job is not None and not kept.job.is_over,
        "sheets": analysis_sheets(kept.result) if kept.result else [],
        "formats": list(SHEET_FORMATS),
    }
    template = "scoring/analysis.html"
    if request.htmx:
        # A finished job brings the whole page; a running one only its progress.
        if not context["waiting"]:
            return HttpResponse(headers={"HX-Refresh": "true"})
        template += "#progress"
    return render(request, template, context)


@for_researchers
@require_POST
def order(request: HttpRequest, scope: str, name: str) -> HttpResponse:
    found, choices = found_scope(scope, name), chosen(request.GET)
    fingerprint = inputs_fingerprint(found, CellReader(choices))
    order_analysis(found, choices, fingerprint=fingerprint, author=request.user)
    return _back(request, scope, name)


@for_researchers
@require_POST
def stop(request: HttpRequest, scope: str, name: str) -> HttpResponse:
    stop_analysis(kept_analysis(found_scope(scope, name), chosen(request.GET)))
    return _back(request, scope, name)


@for_researchers
@require_safe
def analysis_export(
    request: HttpRequest, scope: str, name: str, sheet: str, form: str
) -> HttpResponse:
    """One table of the kept analysis, or all of them."""
    kept = kept_analysis(found_scope(scope, name), chosen(request.GET))
    sheets = analysis_sheets(kept.result) if kept.result else []
    wanted = sheets if sheet == "all" else [each for each in sheets if each.name == sheet]
    found = SHEET_FORMATS.get(form)
    if found is None or not wanted or (len(wanted) > 1 and not found.several):
        raise Http404
    return download(found.write(wanted), found.content_type, f"{sheet}-{name}.{found.extension}")


@for_researchers
@require_safe
def analysis_figure(
    request: HttpRequest, scope: str, name: str, figure: str, form: str
) -> HttpResponse:
    kept = kept_analysis(found_scope(scope, name), chosen(request.GET))
    parts = {"differences": "tests", "curves": "curves"}
    if figure not in parts or not kept.result:
        raise Http404
    return figure_response(figure, form, name, kept.result[parts[figure]])


def _back(request: HttpRequest, scope: str, name: str) -> HttpResponse:
    address = reverse("scoring:analysis", args=[scope, name])
    given = urlencode(list(request.GET.lists()), doseq=True)
    return redirect(f"{address}?{given}" if given else address)

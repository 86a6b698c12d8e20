"""The analysis of a comparison: kept, requested, watched, stopped and exported."""

from typing import Any

from django.http import Http404, HttpResponse
from django.utils import translation
from django.views.decorators.http import require_POST, require_safe

from annotation.access.requests import ResearcherRequest
from scoring.comparison.analysis_tables import analysis_tables, provenance_table
from scoring.comparison.cache import find_kept, is_stale, order, stop, was_given_up
from scoring.comparison.cells import CellReader, Choices
from scoring.comparison.requests import (
    asked,
    back_to,
    download,
    for_researchers,
    render_or_poll,
)
from scoring.comparison.scope import Scope, inputs_fingerprint
from scoring.models import Comparison, Part
from scoring.tables.documents import FORMATS, chosen


@for_researchers
@require_safe
def analysis(request: ResearcherRequest, scope: str, name: str) -> HttpResponse:
    """What was computed last. Viewing a stale analysis recomputes it, unless somebody stopped just
    that."""
    found, choices = asked(request, scope, name)
    fingerprint = inputs_fingerprint(found, CellReader(choices))
    kept = kept_analysis(found, choices)
    stale = is_stale(kept, fingerprint)
    if stale and not was_given_up(kept, fingerprint):
        kept = order(found, Part.ANALYSIS, choices, fingerprint=fingerprint, author=request.user)
    tables = analysis_tables(kept.result) if kept.result else []
    said_already = {"study"} if found.study else set()
    context = {
        "scope": scope,
        "name": name,
        "title": found.title,
        "benchmark": found.benchmark,
        "tab": "analysis",
        "choices": choices,
        "kept": kept,
        "stale": stale,
        "waiting": stale and kept.job is not None and not kept.job.is_over,
        "tables": [table.without(said_already).without_empty_texts() for table in tables],
        "formats": list(FORMATS),
    }
    return render_or_poll(request, "scoring/comparison/analysis.html", context)


@for_researchers
@require_POST
def order_analysis(request: ResearcherRequest, scope: str, name: str) -> HttpResponse:
    found, choices = asked(request, scope, name)
    fingerprint = inputs_fingerprint(found, CellReader(choices))
    order(found, Part.ANALYSIS, choices, fingerprint=fingerprint, author=request.user)
    return back_to("scoring:analysis", request, scope, name)


@for_researchers
@require_POST
def stop_analysis(request: ResearcherRequest, scope: str, name: str) -> HttpResponse:
    stop(kept_analysis(*asked(request, scope, name)))
    return back_to("scoring:analysis", request, scope, name)


@for_researchers
@require_safe
def analysis_export(
    request: ResearcherRequest, scope: str, name: str, table: str, form: str
) -> HttpResponse:
    """One table of the kept analysis, or all of them, with what it rests on. The file's name says
    if it is stale: a CSV file has room for only one table."""
    compared, choices = asked(request, scope, name)
    kept = kept_analysis(compared, choices)
    stale = is_stale(kept, inputs_fingerprint(compared, CellReader(choices)))
    with translation.override("en"):  # as all documents
        tables = chosen(analysis_tables(kept.result) if kept.result else [], table, form)
        rests_on = provenance_table(_rests_on(kept, stale=stale))
    if not tables:
        raise Http404
    writer = FORMATS[form]
    if writer.several:
        tables = [*tables, rests_on]
    file = f"analysis-{table}-{name}{'-stale' if stale else ''}.{writer.extension}"
    return download(writer.write(tables), writer.content_type, file)


def _rests_on(kept: Comparison, *, stale: bool) -> dict[str, Any]:
    return {
        "inputs": kept.fingerprint[:12],
        "computed_at": kept.computed_at.isoformat() if kept.computed_at else None,
        "stale": stale,
        "seed": kept.seed,
        "scorer_version": kept.scorer_version,
        "references": kept.parameters["references"] or "as each task says",
        "estimand": kept.parameters["estimand"],
    }


def kept_analysis(scope: Scope, choices: Choices) -> Comparison:
    return find_kept(scope, Part.ANALYSIS, choices)

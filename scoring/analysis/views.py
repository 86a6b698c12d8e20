"""The analysis of a comparison: kept, requested, watched, stopped and exported."""

from dataclasses import replace

from django.http import Http404, HttpResponse
from django.utils import translation
from django.views.decorators.http import require_POST, require_safe

from annotation.access.requests import ResearcherRequest
from annotation.access.rights import Right
from scoring.analysis.analysing import STORE, analysis_tables
from scoring.analysis.tables import (
    PROVENANCE,
    by_task,
    common_terms,
    for_page,
    usual_columns,
    with_task_names,
)
from scoring.cells.scope import Scope, inputs_fingerprint
from scoring.comparison.keeping import Kept, is_stale, stop
from scoring.comparison.requests import (
    arrange,
    asked,
    back_to,
    download,
    frame_of,
    render_or_poll,
)
from scoring.tables.documents import FORMATS, chosen
from scoring.tables.table import Table, lines_of


@require_safe
def analysis(request: ResearcherRequest, scope: str, name: str) -> HttpResponse:
    """What was computed last. Viewing a stale analysis recomputes it, unless somebody stopped just
    that."""
    compared, choices = asked(request, scope, name, Right.GOLD)
    fingerprint = inputs_fingerprint(compared, choices)
    kept, stale = STORE.look(compared, choices, fingerprint=fingerprint, author=request.user)
    tables = _tables(kept)
    terms = common_terms(tables)
    shown = [_shown(request, table.without(terms), compared) for table in tables]
    context = {
        **frame_of(request, compared, tab="analysis"),
        "choices": choices,
        "kept": kept,
        "stale": stale,
        "waiting": stale and kept.job is not None and not kept.job.is_over,
        "tables": shown,
        "open": _open(request, shown),
        "terms": terms,
        "interim": compared.interim,
        "formats": list(FORMATS),
    }
    return render_or_poll(request, "scoring/comparison/analysis.html", context)


def _shown(request: ResearcherRequest, table: Table, scope: Scope) -> Table:
    table = table.without({"study"} if scope.study else set()).without_empty_texts()
    table = with_task_names(for_page(table, scope.task_order), scope.task_names)
    return by_task(arrange(request, table, usual_columns(table)))


def _open(request: ResearcherRequest, tables: list[Table]) -> str:
    """The table that the reader has just sorted or chosen columns of, else the first."""
    touched = [
        table.name for table in tables if table.is_sorted or f"columns-{table.name}" in request.GET
    ]
    return (touched or [table.name for table in tables] or [""])[0]


@require_POST
def order_analysis(request: ResearcherRequest, scope: str, name: str) -> HttpResponse:
    compared, choices = asked(request, scope, name, Right.GOLD)
    fingerprint = inputs_fingerprint(compared, choices)
    STORE.enqueue(compared, choices, fingerprint=fingerprint, author=request.user)
    return back_to("scoring:analysis", request, scope, name)


@require_POST
def stop_analysis(request: ResearcherRequest, scope: str, name: str) -> HttpResponse:
    stop(STORE.find(*asked(request, scope, name, Right.GOLD)))
    return back_to("scoring:analysis", request, scope, name)


@require_safe
def analysis_export(
    request: ResearcherRequest, scope: str, name: str, table: str, form: str
) -> HttpResponse:
    """One table of the kept analysis, or all of them, with what it rests on. The file's name says
    if it is stale: a CSV file has room for only one table."""
    compared, choices = asked(request, scope, name, Right.GOLD)
    kept = STORE.find(compared, choices)
    stale = is_stale(kept, inputs_fingerprint(compared, choices))
    with translation.override("en"):  # as all documents
        tables = [
            with_task_names(part, compared.task_names)
            for part in chosen(_tables(kept), table, form)
        ]
        rests_on = _rests_on(kept, compared, stale=stale)
    if not tables:
        raise Http404
    writer = FORMATS[form]
    if writer.several:
        tables = [*tables, rests_on]
    file = f"analysis-{table}-{name}{'-stale' if stale else ''}.{writer.extension}"
    return download(writer.write(tables), writer.content_type, file)


def _tables(kept: Kept) -> list[Table]:
    analysis = STORE.read(kept)
    return analysis_tables(analysis) if analysis else []


def _rests_on(kept: Kept, compared: Scope, *, stale: bool) -> Table:
    facts = {
        "inputs": kept.fingerprint[:12],
        "computed_at": kept.computed_at.isoformat() if kept.computed_at else None,
        "stale": stale,
        "seed": kept.seed,
        "scorer_version": kept.scorer_version,
        "references": kept.parameters["references"] or "as each task says",
        "estimand": kept.parameters["estimand"],
        "interim": ", ".join(compared.interim) or None,
    }
    return replace(PROVENANCE, lines=lines_of([facts]))

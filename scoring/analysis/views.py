"""The analysis of a comparison: kept, requested, watched, stopped and exported. Its page has what
most readers look for in sight, the rest behind a click on a line."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from django.http import Http404, HttpResponse
from django.utils import translation
from django.views.decorators.http import require_POST, require_safe

from annotation.access.requests import ResearcherRequest
from annotation.access.rights import Right
from annotation.jobs.requests import document, for_spreadsheets
from scoring.analysis.analysing import analysis_tables, filled
from scoring.analysis.kept import STORE
from scoring.analysis.tables import CURVES, PROVENANCE, TERMS, with_names
from scoring.analysis.uncertainty import Record
from scoring.cells.scope import Scope, inputs_fingerprint, told_interim
from scoring.comparison.keeping import Kept, is_stale, stop
from scoring.comparison.requests import arrange, asked, back_to, frame_of, render_or_poll
from scoring.contrasts.outcomes import LEGEND, STATES
from scoring.models import method_label
from scoring.tables.arranging import in_parts
from scoring.tables.documents import FORMATS, chosen
from scoring.tables.table import Cell, Column, Line, Table, Value, lines_of


@require_safe
def analysis(request: ResearcherRequest, scope: str, name: str) -> HttpResponse:
    """What was computed last. A view of a stale one recomputes it, unless somebody stopped that."""
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
        "curves": next((table for table in _tables(kept, drawn=True) if table.lines), None),
        "open": _open(request, shown),
        "terms": terms,
        "interim": told_interim(compared.interim, compared.titles),
        "formats": list(FORMATS),
    }
    return render_or_poll(request, "scoring/comparison/analysis.html", context)


def _shown(request: ResearcherRequest, table: Table, scope: Scope) -> Table:
    table = table.without({"study"} if scope.study else set()).without_empty_texts()
    table = with_names(for_page(table, scope.task_order), scope.task_names, scope.titles)
    # A long one in parts, each with its outcomes counted.
    return in_parts(arrange(request, table, usual_columns(table)), "task", told="outcome")


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
@for_spreadsheets
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
            with_names(part, compared.task_names, compared.titles)
            for part in chosen(_tables(kept, drawn=(table, form) == DRAWN), table, form)
        ]
        rests_on = _rests_on(kept, compared, stale=stale)
    if not tables:
        raise Http404
    writer = FORMATS[form]
    if writer.several:
        tables = [*tables, rests_on]
    file = f"analysis-{table}-{name}{'-stale' if stale else ''}.{writer.extension}"
    return document(writer.write(tables), writer.content_type, file)


def _tables(kept: Kept, *, drawn: bool = False) -> list[Table]:
    """Those to read; or what the curves are drawn from."""
    analysis = STORE.read(kept)
    if analysis is None:
        return []
    return [filled(CURVES, analysis)] if drawn else analysis_tables(analysis)


def _rests_on(kept: Kept, compared: Scope, *, stale: bool) -> Table:
    facts = {
        "inputs": kept.fingerprint[:12],
        "computed_at": kept.computed_at.isoformat() if kept.computed_at else None,
        "stale": stale,
        "seed": kept.seed,
        "scorer_version": kept.scorer_version,
        "references": kept.parameters["references"] or "as each task says",
        "estimand": kept.parameters["estimand"],
        "interim": ", ".join(compared.titles[slug] for slug in compared.interim) or None,
    }
    return replace(PROVENANCE, lines=lines_of([facts]))


DRAWN = (CURVES.name, "csv")
PLACE = ("study", "pool", "simulated", "task", "shots")
# By table, beside where a line belongs; in this order.
USUAL: dict[str, tuple[str, ...]] = {
    "tests": ("system", "difference", "outcome", "p_holm"),
    "systems": ("system", "other_system", "difference", "outcome", "p_holm"),
    "average-tests": ("system", "difference", "outcome", "p_holm"),
    "changes": ("other_shots", "difference", "outcome", "p_holm"),
    "uncertainty": ("mean", "sd", "n", "m", "new_items_low", "new_items_high"),
    "agreement": ("consensus", "n", "masi", "pairwise_s1"),
    "aggregates": ("system", "mean", "sd"),
    "excluded": ("without_mean", "without_n", "with_mean", "with_n"),
}
# The tables whose first side is people.
OF_PEOPLE = ("tests", "average-tests")
OF_SYSTEMS = {"people ahead": "first ahead", "people behind": "first behind"}
OF_SHOTS = {"people ahead": "more shots ahead", "people behind": "more shots behind"}
WORDS = {"systems": OF_SYSTEMS, "changes": OF_SHOTS}
# With its method and size a system's name is one cell; the first of them names a line.
NAMES = {
    "system": ("method", "parameters"),
    "other_system": ("other_method", "other_parameters"),
}
# What the outcome, and the cell of a system's name, say already; documents have it.
IMPLIED = {"certainty", *chain.from_iterable(NAMES.values())}


def for_page(table: Table, tasks: Sequence[str]) -> Table:
    """Show a difference and its limits in one cell, a system's name in one, the outcome in words
    and with its sign, in the order of the tasks; the usual columns before the further ones."""
    of_people, keys = table.name in OF_PEOPLE, table.keys
    name = next((key for key in NAMES if key in keys), "")
    first = (*PLACE, *USUAL[table.name])
    shown = IMPLIED | ({"low", "high"} if "difference" in keys else set())

    def place(column: Column) -> tuple[bool, int]:
        return not column.is_name, first.index(column.key) if column.key in first else len(first)

    def task_place(record: Record) -> int:
        return tasks.index(record["task"]) if record.get("task") in tasks else len(tasks)

    headings = {"difference": "People minus system"} if of_people else {}
    columns = (
        replace(each, is_name=each.key == name, heading=headings.get(each.key, each.heading))
        for each in table.without(shown).columns
    )
    return replace(
        table,
        columns=tuple(sorted(columns, key=place)),
        lines=tuple(
            Line(_cells(record, WORDS.get(table.name, {})))
            for record in sorted(table.records, key=task_place)
        ),
        marks=LEGEND if of_people else {},
    )


def usual_columns(table: Table) -> tuple[str, ...]:
    """The columns without what all lines have in common of where they belong."""
    differing = [key for key in PLACE if len({line.cells.get(key) for line in table.lines}) > 1]
    return (*differing, *USUAL[table.name])


def common_terms(tables: Sequence[Table]) -> dict[str, Value]:
    """Policy, normalisation and gold version, where all figures are under the same: then the page
    says them once. Empty where they differ."""
    terms = {
        tuple(record[key] for key in TERMS)
        for table in tables
        if set(TERMS) <= set(table.keys)
        for record in table.records
    }
    return dict(zip(TERMS, terms.pop(), strict=True)) if len(terms) == 1 else {}


def _cells(record: Record, words: Mapping[str, str]) -> dict[str, Value | Cell]:
    """words: what a state is called where the first side is not people beside a system."""
    names = {key: _name(record, key) for key in NAMES if key in record}
    cells: dict[str, Value | Cell] = {**record, **names}
    if "difference" in record:
        low, high = record["low"], record["high"]
        cells["difference"] = Cell(record["difference"], low=low, high=high)
    if record.get("outcome"):
        # A table of open verdicts alone has no such column.
        certainty = record.get("certainty")
        sign, who, _ = STATES[record["outcome"], certainty]
        verdict = ", ".join(filter(None, [words.get(who, who), certainty]))
        cells["outcome"] = Cell(verdict, sign=sign)
    return cells


def _name(record: Record, key: str) -> Cell:
    method, size = (record.get(about) for about in NAMES[key])
    about = [method_label(method), f"({size})" if size else ""]
    return Cell(record[key], aside=" ".join(filter(None, about)))

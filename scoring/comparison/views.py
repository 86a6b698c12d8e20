"""The table of a comparison, its exports and its figures."""

from dataclasses import replace
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.access.requests import ResearcherRequest
from annotation.access.rights import Right, may, may_see_gold
from annotation.jobs.requests import document, for_spreadsheets
from annotation.models import GoldVersion, Outcome, Study
from scoring.cells.rows import RowKind
from scoring.cells.scope import Scope
from scoring.comparison import requests
from scoring.comparison.answer import answers
from scoring.comparison.comparing import STORE, enqueue_table, glance, whole_of
from scoring.comparison.comparison import Comparison
from scoring.comparison.documents import FORMATS, overview, shots_of_people
from scoring.comparison.keeping import stop
from scoring.comparison.paper_tables import people_table, system_tables
from scoring.comparison.row_tables import (
    USUAL_OF_ANNOTATORS,
    USUAL_OF_INTERVALS,
    annotator_table,
    interval_table,
)
from scoring.models import shots_order

# The view with every shot, interval and size in sight.
WIDE = "wide"
# Of its annotators.
PER_PAGE = 100


@require_safe
def comparison(request: ResearcherRequest, scope: str, name: str) -> HttpResponse:
    compared, choices = requests.asked(request, scope, name)
    seen = glance(compared, choices, author=request.user)
    is_withheld = not may_see_gold(request.user, compared.benchmark)
    versions = GoldVersion.objects.filter(task__in=compared.tasks).values_list("number", flat=True)
    context = {
        **requests.frame_of(request, compared, tab="comparison"),
        "wide": request.GET.get("view") == WIDE,
        "choices": choices,
        "kept": seen.kept,
        "stale": seen.is_stale,
        "waiting": seen.is_waiting,
        "versions_offered": [] if is_withheld else sorted(set(versions)),
        "is_withheld": is_withheld,
        "may_add": may(request.user, compared.benchmark, Right.SET_UP),
        **(_shown(request, seen.table, compared) if seen.table else {}),
    }
    return requests.render_or_poll(request, "scoring/comparison/comparison.html", context)


@require_POST
def order_comparison(request: ResearcherRequest, scope: str, name: str) -> HttpResponse:
    enqueue_table(*requests.asked(request, scope, name), author=request.user)
    return requests.back_to("scoring:comparison", request, scope, name)


@require_POST
def stop_comparison(request: ResearcherRequest, scope: str, name: str) -> HttpResponse:
    compared, choices = requests.asked(request, scope, name)
    stop(STORE.find(compared, whole_of(choices)))
    return requests.back_to("scoring:comparison", request, scope, name)


@require_safe
@for_spreadsheets
def comparison_export(request: ResearcherRequest, scope: str, name: str, form: str) -> HttpResponse:
    if form not in FORMATS:
        raise Http404
    compared, choices = requests.asked(request, scope, name)
    seen = glance(compared, choices, author=request.user)
    if seen.is_stale or seen.table is None:
        # Too much for a page to compute: the table's shows how far the worker is, or what stopped.
        return requests.back_to("scoring:comparison", request, scope, name)
    return comparison_file(request, compared, seen.table, form)


def comparison_file(
    request: HttpRequest, scope: Scope, table: Comparison, form: str
) -> HttpResponse:
    """The table as this reader may see it."""
    writer = FORMATS[form]
    data = writer.write(requests.shown_to(request, scope, table))
    part = "-appendix" if form == "latex-appendix" else ""
    return document(data, writer.content_type, f"comparison-{scope.name}{part}.{writer.extension}")


def _shown(request: ResearcherRequest, kept: Comparison, scope: Scope) -> dict[str, Any]:
    table = requests.shown_to(request, scope, kept)
    is_withheld = not may_see_gold(request.user, scope.benchmark)
    links = _item_links(request, table, scope)
    shots_at = sorted({str(row.shots) for row in table.figures}, key=shots_order)
    at = request.GET.get("at", "")
    if at not in shots_at:
        at = shots_of_people(table.rows)
    shown = {
        "comparison": table,
        "at": at,
        "shots_at": shots_at,
        "answers": answers(table, at),
        "screened": _screened(scope.study, at),
        "has_several_shots": len({row.shots for row in table.rows if row.is_on_curve}) > 1,
        "overview": requests.arrange(request, overview(table, at, links)),
        "has_measured": any(row.is_cell_of_people for row in table.rows),
        "has_people": any(row.is_of_people for row in table.rows),
        "groups_offered": {} if is_withheld else scope.groups,
        "offers_new_shot_sets": table.offers_new_shot_sets,
        "shots_offered": sorted({*table.shots_offered, *table.choices.shots}, key=shots_order),
    }
    if request.GET.get("view") != WIDE:
        return shown
    annotators = annotator_table(table.rows)
    if scope.study:
        annotators = annotators.without({"study"})
    annotators = requests.arrange(request, table.named(annotators), USUAL_OF_ANNOTATORS)
    page = Paginator(annotators.lines, PER_PAGE).get_page(request.GET.get("page"))
    intervals = interval_table(table.rows, table.titles)
    return {
        **shown,
        "page": page,
        "people": people_table(table, links),
        "systems": system_tables(table, links),
        "intervals": requests.arrange(request, table.named(intervals), USUAL_OF_INTERVALS),
        "annotators": replace(annotators, lines=tuple(page)),
    }


def _screened(study: Study | None, shots: str) -> str:
    """What people had to be able to do already: those who could not are not in the figures."""
    if not (study and study.is_closed) or study.min_training_score is None or shots == "0":
        return ""
    trained = study.assignments.in_places().filter(training_score__isnull=False)
    out, of = trained.filter(outcome=Outcome.SCREENED_OUT).count(), trained.count()
    if not of:
        return ""
    return (
        f"These people passed the training ({study.min_training_score:g} % or more); "
        f"{100 * out / of:.0f} % of those who finished it did not."
    )


def _item_links(request: ResearcherRequest, table: Comparison, scope: Scope) -> dict[str, str]:
    """Links by task, for who may see items. Published figures may be for tasks without any."""
    if Right.GOLD not in requests.rights_of(request, scope):
        return {}
    page = reverse("scoring:items", args=["study" if scope.study else "benchmark", scope.name])
    links = {}
    for task in {row.task for row in table.rows if row.kind != RowKind.REPORTED}:
        chosen = request.GET.copy()
        chosen["task"] = task
        links[task] = f"{page}?{chosen.urlencode()}"
    return links

"""What every page of a comparison needs: who may see it, what it is of, what was chosen."""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode

from annotation.access.requests import HtmxRequest, is_ticked, lets_in, require
from annotation.access.rights import Right, may_see_gold, rights_in
from annotation.models import Benchmark, Study
from annotation.models.errors import BadInput
from annotation.models.texts import is_key
from annotation.studies.tabs import benchmark_frame, study_frame
from scoring.cells.scope import Choices, Scope
from scoring.comparison.comparison import Comparison
from scoring.tables.arranging import arranged
from scoring.tables.table import Table

# What another choice replaces on a page.
CONTENT = "content"
# Choices as an address carries them: those that are empty are the usual ones.
TEXTS = ("references", "estimand", "shot_sets", "runs", "items", "by")
TICKS = ("simulated", "with_excluded", "without_signs")


class NoSuchChoice(BadInput, Http404):
    """Refuses a choice in an address: a reader finds no such page, and a program is told why."""


def shown_to(request: HttpRequest, scope: Scope, table: Comparison) -> Comparison:
    """A table as this reader may see it: one table is computed and kept for all readers."""
    if Right.PEOPLE not in rights_of(request, scope):
        table = table.without_persons()
    return table if may_see_gold(request.user, scope.benchmark) else table.without_gold()


def asked(
    request: HttpRequest, scope: str, name: str, right: Right = Right.TABLES
) -> tuple[Scope, Choices]:
    """What is compared, if the reader may see it, and the choices as the address carries them."""
    if scope == "benchmark":
        compared = Scope(get_object_or_404(Benchmark, name=name))
    else:
        study = get_object_or_404(Study.objects.select_related("benchmark"), slug=name)
        compared = Scope(study.benchmark, study)
    require(request.user, compared.study or compared.benchmark, right)
    choices = _chosen(request)
    if compared.study and compared.study.is_simulated:
        choices = replace(choices, simulated=True)
    is_part = choices.gold_version or choices.items or choices.by
    if is_part and not may_see_gold(request.user, compared.benchmark):
        # Beside all items at the latest version, these tell of few.
        raise PermissionDenied
    if choices.gold_version and choices.gold_version > compared.latest_gold_version:
        raise NoSuchChoice(f"There is no gold version {choices.gold_version}.")
    return compared, choices


def board_page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """Hands the view the benchmark of its address, if this reader may see its boards; who might see
    them after signing in does so first. Only members are told whether a board that is not public
    exists."""

    @wraps(view)
    def page(request: HtmxRequest, name: str, **rest: str) -> HttpResponseBase:
        row = Benchmark.objects.filter(name=name).select_related("leaderboard").first()
        is_public = bool(row and hasattr(row, "leaderboard") and row.leaderboard.is_public)
        if row and (is_public or lets_in(request.user, row, Right.TABLES)):
            return view(request, row, **rest)
        if request.user.is_authenticated:
            raise Http404
        return redirect_to_login(request.get_full_path())

    return login_not_required(page)


def rights_of(request: HttpRequest, scope: Scope) -> frozenset[Right]:
    return rights_in(request.user, scope.study or scope.benchmark)


def frame_of(request: HttpRequest, scope: Scope, *, tab: str) -> dict[str, Any]:
    """What every page says about itself, with the tabs of its study or benchmark."""
    about = {
        "scope": "study" if scope.study else "benchmark",
        "name": scope.name,
        "title": scope.title,
        "benchmark": scope.benchmark,
    }
    if scope.study:
        return {**study_frame(request.user, scope.study, tab="comparison"), **about, "tab": tab}
    frame = benchmark_frame(request.user, scope.benchmark, tab="comparison")
    return {**frame, **about, "rights": rights_of(request, scope), "tab": tab}


def _chosen(request: HttpRequest) -> Choices:
    query = request.GET
    if not is_key(query.get("gold_version") or "1"):
        raise NoSuchChoice("A gold version is a number from 1 on.")
    version = query.get("gold_version", "")
    chosen: dict[str, Any] = {name: query[name] for name in TEXTS if query.get(name)}
    chosen |= {name: is_ticked(request, name) for name in TICKS}
    try:
        return Choices(
            **chosen,
            shots=tuple(filter(None, query.getlist("shots"))),
            gold_version=int(version) if version else None,
        )
    except ValueError as error:
        raise NoSuchChoice(str(error)) from error


def arrange(request: HttpRequest, table: Table, usual: Collection[str] = ()) -> Table:
    """Arrange a table as the address says: `sort`, and `columns-` with the table's name."""
    columns = request.GET.getlist(f"columns-{table.name}")
    return arranged(table, sort=request.GET.get("sort", ""), columns=columns, usual=usual)


def render_or_poll(request: HtmxRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """A page of figures that may still be being computed; its poll gets only the progress, and
    another choice the page, of which the browser takes what has changed."""
    if not request.htmx or request.htmx.target == CONTENT:
        return render(request, template, context)
    if context["waiting"]:
        return render(request, "scoring/comparison/_progress.html", context)
    # Its job is over: the whole page has changed.
    return HttpResponse(headers={"HX-Refresh": "true"})


def back_to(page: str, request: HttpRequest, scope: str, name: str) -> HttpResponse:
    """Redirect to a page of the comparison, with the reader's choices."""
    address = reverse(page, args=[scope, name])
    query = urlencode(list(request.GET.lists()), doseq=True)
    return redirect(f"{address}?{query}" if query else address)

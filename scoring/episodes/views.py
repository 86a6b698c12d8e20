"""The board of a benchmark's episodes; everybody's where the leaderboard is public."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access.requests import HtmxRequest, lets_in
from annotation.access.rights import Right, may_see_gold
from annotation.jobs import files
from annotation.jobs.requests import document, for_spreadsheets, large_file
from annotation.models import Benchmark
from scoring.cells.scope import Choices, Scope, answers_in, file_order
from scoring.comparison.requests import board_page
from scoring.episodes import tables
from scoring.episodes.board import episode_board, paired_tests
from scoring.models import ProtocolTag
from scoring.tables.documents import ALL, FORMATS


@require_safe
@board_page
def episodes(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    board = episode_board(benchmark, **_seen_by(request, benchmark))
    if not board.settings:
        raise Http404
    # Of many lines they take minutes, and the worker makes their file.
    are_in_file = answers_in(Scope(benchmark)) > files.MOST_AT_ONCE
    tests = [] if are_in_file else paired_tests(board)
    context = {
        "name": benchmark.name,
        "for_researchers": lets_in(request.user, benchmark, Right.TABLES),
        "board": tables.board_table(board),
        "protocol": request.GET.get("protocol", ""),
        "protocols": ProtocolTag.choices,
        "tables": tables.episode_tables(board, tests),
        "tests_are_in_file": are_in_file,
        "formats": list(FORMATS),
    }
    return render(request, "scoring/episodes/episodes.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@board_page
@for_spreadsheets
def episodes_export(
    request: HtmxRequest, benchmark: Benchmark, table: str, form: str
) -> HttpResponse:
    """The file, or of a large benchmark a page on which it is ordered and fetched."""
    seen = _seen_by(request, benchmark)
    is_known = table in (*tables.NAMES, ALL) and form in FORMATS
    if not is_known or (table == ALL and not FORMATS[form].several):
        raise Http404
    file = file_order(tables.EXPORT, Scope(benchmark), Choices(), table=table, form=form, **seen)
    if file.is_large:
        back = reverse("scoring:episodes", args=[benchmark.name])
        return large_file(request, file, FORMATS[form].content_type, back=back)
    data = tables.export_board(benchmark, table, form, seen)
    if data is None:
        raise Http404
    return document(data, FORMATS[form].content_type, tables.file_name(benchmark, table, form))


def _seen_by(request: HttpRequest, benchmark: Benchmark) -> dict[str, Any]:
    protocol = request.GET.get("protocol", "")
    if protocol not in ("", *ProtocolTag.values):
        raise Http404
    sees_gold = may_see_gold(request.user, benchmark)
    return {
        "protocol": protocol,
        # People of a running study: a reader without gold might join, and see the mean move.
        "for_researchers": sees_gold and lets_in(request.user, benchmark, Right.TABLES),
        "sees_gold": sees_gold,
    }

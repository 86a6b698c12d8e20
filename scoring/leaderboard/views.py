"""The leaderboard of a benchmark: for researchers, and for everybody if they say so."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.views.decorators.http import require_safe

from annotation.access.requests import lets_in
from annotation.access.rights import Right, may_see_gold
from annotation.jobs.requests import document, for_spreadsheets
from annotation.models import Benchmark, ReferencePolicy
from scoring.comparison.requests import arrange, board_page
from scoring.leaderboard.approving import waiting_runs
from scoring.leaderboard.board import Board, place_all
from scoring.leaderboard.tables import board_tables, exported_tables, paper_tables, usual_columns
from scoring.models import Leaderboard
from scoring.tables.documents import FORMATS, chosen

# Read by people as they are; the other formats hold everything, under stable names.
FOR_PAPERS = ("latex", "markdown")


@require_safe
@board_page
def leaderboard(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    board = _board(request, benchmark)
    for_researchers = lets_in(request.user, benchmark, Right.TABLES)
    context = {
        "benchmark": benchmark,
        "board": board,
        "tables": [arrange(request, table, usual_columns(table)) for table in board_tables(board)],
        "references": request.GET.get("references", ""),
        "sorted_by": board.rule.sorted_by,
        "for_researchers": for_researchers,
        "sets_up": lets_in(request.user, benchmark, Right.SET_UP),
        "sees_gold": may_see_gold(request.user, benchmark),
        "is_public": Leaderboard.objects.filter(benchmark=benchmark, is_public=True).exists(),
        "waiting": waiting_runs(benchmark).count() if for_researchers else 0,
        "exported": exported_tables(board),
        "formats": list(FORMATS),
    }
    return render(request, "scoring/leaderboard/leaderboard.html", context)


@require_safe
@board_page
@for_spreadsheets
def leaderboard_export(
    request: HttpRequest, benchmark: Benchmark, table: str, form: str
) -> HttpResponse:
    with translation.override("en"):  # as all documents
        board = _board(request, benchmark)
        if form in FOR_PAPERS:
            tables = paper_tables(board, table)
        else:
            tables = chosen(exported_tables(board), table, form)
    if not tables:
        raise Http404
    writer = FORMATS[form]
    file = f"leaderboard-{table}-{benchmark.name}.{writer.extension}"
    return document(writer.write(tables), writer.content_type, file)


def _board(request: HttpRequest, benchmark: Benchmark) -> Board:
    references = request.GET.get("references") or None
    if references not in (None, *ReferencePolicy.values):
        raise Http404
    return place_all(
        benchmark,
        references=references,
        tasks=request.GET.getlist("task"),
        # People of a running study: a reader without gold might join, and see the mean move.
        for_researchers=lets_in(request.user, benchmark, Right.TABLES)
        and may_see_gold(request.user, benchmark),
        sees_gold=may_see_gold(request.user, benchmark),
    )

"""The board of a benchmark's episodes: for researchers, and for everybody once they make the
benchmark's leaderboard public."""

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.views.decorators.http import require_safe

from annotation.models import Benchmark
from scoring.comparison.requests import download
from scoring.episodes.board import EpisodeBoard, episode_board, paired_tests
from scoring.episodes.tables import board_table, episode_tables
from scoring.models import Leaderboard, ProtocolTag
from scoring.tables.documents import FORMATS, chosen


@login_not_required
@require_safe
def episodes(request: HttpRequest, name: str) -> HttpResponse:
    if not _may_read(request, name):
        return redirect_to_login(request.get_full_path())
    board = _board(request, name)
    context = {
        "name": name,
        "board": board_table(board),
        "protocol": request.GET.get("protocol", ""),
        "protocols": ProtocolTag.choices,
        "tables": episode_tables(board, paired_tests(board)),
        "formats": list(FORMATS),
    }
    return render(request, "scoring/episodes/episodes.html", context)


@login_not_required
@require_safe
def episodes_export(request: HttpRequest, name: str, table: str, form: str) -> HttpResponse:
    if not _may_read(request, name):
        return redirect_to_login(request.get_full_path())
    with translation.override("en"):  # as all documents
        board = _board(request, name)
        tables = chosen(episode_tables(board, paired_tests(board)), table, form)
    if not tables:
        raise Http404
    writer = FORMATS[form]
    return download(writer.write(tables), writer.content_type, f"{table}-{name}.{writer.extension}")


def _may_read(request: HttpRequest, name: str) -> bool:
    """Whether this reader may see it; anyone not signed in is asked to sign in, and learns nothing
    else."""
    is_public = Leaderboard.objects.filter(benchmark__name=name, is_public=True).exists()
    if request.user.is_authenticated and not (request.user.is_staff or is_public):
        raise Http404
    return is_public or request.user.is_staff


def _board(request: HttpRequest, name: str) -> EpisodeBoard:
    benchmark = Benchmark.objects.filter(name=name).first()
    protocol = request.GET.get("protocol", "")
    if benchmark is None or protocol not in ("", *ProtocolTag.values):
        raise Http404
    board = episode_board(benchmark, protocol=protocol, for_researchers=request.user.is_staff)
    if not board.places:
        raise Http404
    return board

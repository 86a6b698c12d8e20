"""A table of the board of episodes as a file."""

from collections.abc import Callable
from typing import TypedDict

from django.utils import translation

from annotation.models import Benchmark
from scoring.episodes.board import episode_board, paired_tests
from scoring.episodes.tables import episode_tables
from scoring.tables.documents import FORMATS, chosen


class Seen(TypedDict):
    """What a reader chose, and may see: as `episode_board` takes it."""

    protocol: str
    for_researchers: bool
    sees_gold: bool


def export_board(
    benchmark: Benchmark,
    table: str,
    form: str,
    *,
    protocol: str,
    for_researchers: bool,
    sees_gold: bool,
    tell: Callable[[], None] = lambda: None,
) -> bytes | None:
    """One table, or all of them; None if there is no such table. `tell` is called from time to
    time."""
    board = episode_board(
        benchmark, protocol=protocol, for_researchers=for_researchers, sees_gold=sees_gold
    )
    with translation.override("en"):  # as all documents
        tables = chosen(episode_tables(board, paired_tests(board, tell=tell)), table, form)
    return FORMATS[form].write(tables) if board.settings and tables else None


def file_name(benchmark: Benchmark, table: str, form: str) -> str:
    return f"{table}-{benchmark.name}.{FORMATS[form].extension}"

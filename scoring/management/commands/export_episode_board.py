"""Print the board of a benchmark of episodes."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.management.arguments import RefusingCommand
from scoring.episodes.board import episode_board, paired_tests
from scoring.episodes.tables import NAMES, episode_tables
from scoring.management.arguments import put_document
from scoring.models import ProtocolTag
from scoring.runs.importing import choose_benchmark
from scoring.tables.documents import ALL, FORMATS, chosen


class Command(RefusingCommand):
    help = (
        "Print the board of a benchmark's episodes in FLEX's form, its figures one per row, the "
        "result of every episode, or the tests between its lines. Reads answers and predictions "
        "of closed and running studies and of runs; writes only stored score vectors."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--benchmark", default="", help="needed if there are several")
        parser.add_argument("--sheet", choices=[*NAMES, ALL], default="board")
        parser.add_argument("--format", choices=list(FORMATS), default="csv")
        parser.add_argument("--protocol", choices=ProtocolTag.values, default="")
        parser.add_argument(
            "--simulated", action="store_true", help="include lines of simulated annotators"
        )
        parser.add_argument("--output", type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = choose_benchmark(options["benchmark"])
        board = episode_board(
            benchmark,
            protocol=options["protocol"],
            for_researchers=True,
            simulated=options["simulated"],
            sees_gold=True,
        )
        if not board.settings:
            raise CommandError(f"The benchmark {benchmark.name} has no episodes.")
        tables = episode_tables(board, paired_tests(board))
        wanted = chosen(tables, options["sheet"], options["format"])
        if not wanted:
            raise CommandError("A CSV file holds one table: name it with --sheet.")
        put_document(self, FORMATS[options["format"]].write(wanted), options["output"])

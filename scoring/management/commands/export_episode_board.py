from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.management.arguments import RefusingCommand
from scoring.episodes.tables import NAMES, export_board
from scoring.management.arguments import add_format, add_output, put_document
from scoring.models import ProtocolTag
from scoring.runs.importing import choose_benchmark
from scoring.tables.documents import ALL, FORMATS


class Command(RefusingCommand):
    help = (
        "Print the board of a benchmark's episodes in FLEX's form, its figures one per row, the "
        "result of every episode, or the tests between its lines. Reads answers and predictions "
        "of closed and running studies and of runs; writes only stored score vectors."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("--benchmark", default="", help="needed if there are several")
        add("--sheet", choices=[*NAMES, ALL], default="board")
        add_format(parser, FORMATS)
        add("--protocol", choices=ProtocolTag.values, default="")
        add("--simulated", action="store_true", help="include lines of simulated annotators")
        add_output(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = choose_benchmark(options["benchmark"])
        sheet, form = options["sheet"], options["format"]
        if sheet == ALL and not FORMATS[form].several:
            raise CommandError("A CSV file holds one table: name it with --sheet.")
        seen = {name: options[name] for name in ("protocol", "simulated")}
        seen |= {"for_researchers": True, "sees_gold": True}
        document = export_board(benchmark, sheet, form, seen)
        if document is None:
            raise CommandError(f"The benchmark {benchmark.name} has no episodes.")
        put_document(self, document, options["output"])

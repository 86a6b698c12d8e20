import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.management.arguments import RefusingCommand
from scoring.episodes.checking import check_predictions
from scoring.management.arguments import writing
from scoring.runs.importing import choose_benchmark


class Command(RefusingCommand):
    help = (
        "Check that FLEX predictions answer every question of a benchmark's episodes once, with a "
        "class of its episode, and list the first faults. Several files are checked as one, and "
        "can be merged. Reads item sets; stores nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("paths", nargs="+", type=Path, metavar="FILE")
        add("--benchmark", default="", help="needed if there are several")
        add("--task", action="append", default=[], help="only these; may be given several times")
        add("--merge", type=Path, metavar="FILE", help="write the merged file here")
        add("--partial", action="store_true", help="do not count unanswered questions as faults")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = choose_benchmark(options["benchmark"])
        asked = {"tasks": options["task"], "partial": options["partial"]}
        check = check_predictions(options["paths"], benchmark=benchmark, **asked)
        self.stdout.write(f"{len(check.predictions)} of {check.questions} questions are answered")
        if check.faults:
            raise CommandError("\n".join(check.in_words()))
        if path := options["merge"]:
            # Never over an existing file: it may be one of those being merged.
            with writing(path), path.open("x", encoding="utf-8") as file:
                json.dump(check.predictions, file)
            self.stderr.write(f"Written: {path}")

"""Check FLEX predictions, and merge partial files of them."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.management.arguments import RefusingCommand
from scoring.episodes.checking import Check, check_predictions
from scoring.management.arguments import writing
from scoring.runs.importing import choose_benchmark


class Command(RefusingCommand):
    help = (
        "Check that FLEX predictions answer every question of a benchmark's episodes once, with a "
        "class of its episode, and list the first faults. Several files are checked as one, and "
        "can be merged. Reads item sets; stores nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--benchmark", default="", help="needed if there are several")
        parser.add_argument(
            "--task", action="append", default=[], help="only these; may be given several times"
        )
        parser.add_argument("--merge", type=Path, metavar="FILE", help="write the merged file here")
        parser.add_argument(
            "--partial", action="store_true", help="do not count unanswered questions as faults"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = choose_benchmark(options["benchmark"])
        check = check_predictions(
            options["paths"],
            benchmark=benchmark,
            tasks=options["task"],
            partial=options["partial"],
        )
        self.stdout.write(f"{len(check.predictions)} of {check.questions} questions are answered")
        if not check.is_whole:
            raise CommandError(_in_words(check))
        if options["merge"]:
            self._write(check, options["merge"])

    def _write(self, check: Check, path: Path) -> None:
        # Never over an existing file: it may be one of those being merged.
        with writing(path), path.open("x", encoding="utf-8") as file:
            json.dump(check.predictions, file)
        self.stderr.write(f"Written: {path}")


def _in_words(check: Check) -> str:
    lines = [f"These predictions have {check.faults.total()} faults:"]
    lines += [f"  {count} × {kind}" for kind, count in check.faults.most_common()]
    return "\n".join([*lines, "The first of them:", *(f"  {line}" for line in check.first)])

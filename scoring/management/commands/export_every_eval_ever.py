from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scoring.cells.scope import Choices
from scoring.management.arguments import add_scope, find_scope, writing
from scoring.samples.exporting import Evaluation, evaluations, files_of, samples_file


class Command(BaseCommand):
    help = (
        "Print what people and systems answered, item by item with its score, in the Every Eval "
        "Ever format: the samples as JSON lines, or with --output each evaluation's two files "
        "below data/ in that folder. Holds the gold of the test. Reads answers and predictions; "
        "writes only stored score vectors and those files."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        people = "its people, and the runs on its tasks"
        add_scope(parser, study=people, benchmark="all people and runs")
        add = parser.add_argument
        add("--organization", default="unknown", metavar="NAME", help="who provides the data")
        add("--output", metavar="FOLDER", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        scope = find_scope(options)
        names = ("references", "simulated", "with_excluded")
        choices = Choices(**{name: options[name] for name in names})
        count = 0
        for evaluation in evaluations(scope, choices, organization=options["organization"]):
            self._put(evaluation, options["output"])
            count += 1
        if not count:
            raise CommandError(
                f"Nobody has answered anything in {scope.name}: there is nothing to export."
            )
        self.stderr.write(f"{count} evaluations exported.")

    def _put(self, evaluation: Evaluation, folder: Path | None) -> None:
        if folder is None:
            self.stdout.write(samples_file(evaluation).decode(), ending="")
            return
        for name, content in files_of(evaluation).items():
            path = folder / name
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)

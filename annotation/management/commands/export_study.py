"""Write a study as a file."""

from argparse import ArgumentParser
from typing import Any

from annotation.management.arguments import RefusingCommand, find_study
from annotation.studies.study_file.writing import study_as_toml


class Command(RefusingCommand):
    help = "Writes to stdout the file of a study, as apply_study reads it. Only reads."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG")
        without = "leave out the completion codes, which are worth money"
        parser.add_argument("--without-codes", action="store_true", help=without)

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["slug"])
        self.stdout.write(study_as_toml(study, codes=not options["without_codes"]), ending="")

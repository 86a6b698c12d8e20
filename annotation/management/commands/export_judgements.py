"""Write the judgements of a study to stdout."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from annotation.management.arguments import add_chosen, chosen_in, find_study
from annotation.studies.exporting import FORMATS, export_judgements


class Command(BaseCommand):
    help = (
        "Writes the judgements of a study to stdout, one row each, with S1 under both reference "
        "policies and a running checksum. People appear under pseudonyms. Only reads; changes no "
        "row."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="SLUG")
        parser.add_argument("--format", choices=FORMATS, default="jsonl")
        add_chosen(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["study"])
        for line in export_judgements(study, options["format"], chosen_in(options)):
            self.stdout.write(line, ending="")

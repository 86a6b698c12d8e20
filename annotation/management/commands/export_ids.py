"""Write who stands behind the pseudonyms of a study."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from annotation.management.arguments import add_chosen, chosen_in, find_study
from annotation.studies.exports import export_ids


class Command(BaseCommand):
    help = (
        "Writes the external ids of a study's annotators to stdout as CSV, beside their "
        "pseudonyms. Adds a line to the study's log; changes no other row."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="SLUG")
        add_chosen(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["study"])
        for line in export_ids(study, chosen_in(options)):
            self.stdout.write(line, ending="")

"""Write what the people of a study are due to stdout."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Study
from annotation.payments.exporting import FORMATS, export_payments
from annotation.payments.ledger import open_bonuses


class Command(BaseCommand):
    help = (
        "Writes to stdout what every person of a study is due, what the platform pays as base, "
        "what was sent and what is open (csv), or the approved and unsent bonuses alone "
        "(prolific: participant id, amount). Holds external ids. Adds a line to the study's log "
        "of changes; changes no other row."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="SLUG")
        parser.add_argument("--format", choices=FORMATS, default="csv")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            known = ", ".join(Study.objects.values_list("slug", flat=True)) or "none"
            raise CommandError(f"There is no study {options['study']!r}. Studies: {known}.")
        for line in export_payments(study, options["format"]):
            self.stdout.write(line, ending="")
        nameless = len(open_bonuses(study).nameless)
        if options["format"] == "prolific" and nameless:
            self.stderr.write(f"Left out, for want of an id that a platform knows: {nameless}.")

"""Write the judgements of a study to stdout."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Study
from annotation.studies.exporting import FORMATS, export_judgements


class Command(BaseCommand):
    help = (
        "Writes every judgement of a study to stdout, one row each, with a running checksum. "
        "People appear under pseudonyms; gold is left out. Only reads; changes no row."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="SLUG")
        parser.add_argument("--format", choices=FORMATS, default="jsonl")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            known = ", ".join(Study.objects.values_list("slug", flat=True)) or "none"
            raise CommandError(f"There is no study {options['study']!r}. Studies: {known}.")
        for line in export_judgements(study, options["format"]):
            self.stdout.write(line, ending="")

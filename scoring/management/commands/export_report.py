from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from scoring.management.arguments import find_study, put_document
from scoring.report.documents import FORMATS, PARTS, report_on


class Command(BaseCommand):
    help = (
        "Print the methods section of a study, written from its own data, and its reporting sheet: "
        "what readers of a human baseline ask, answered from the data or left to the researcher. "
        "Computes how far annotators agree where that is not stored, which may take a minute. "
        "Reads the study, its answers and the stored runs; writes only stored score vectors."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", metavar="SLUG", required=True)
        parser.add_argument("--format", choices=list(FORMATS), default="text")
        parser.add_argument("--part", choices=PARTS, help="without it, both")
        parser.add_argument("--output", metavar="FILE", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        parts = [options["part"]] if options["part"] else PARTS
        report = report_on(find_study(options["study"]), with_agreement=True)
        document = FORMATS[options["format"]](report, parts)
        put_document(self, document.encode(), options["output"])

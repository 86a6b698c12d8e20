from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scoring.management.arguments import find_study
from scoring.report.documents import FORMATS, PARTS, report

LACKS_AGREEMENT = (
    "Agreement is left out, because the study's analysis has not been computed, or only from older "
    "data: open its page “Tests and uncertainty”, and export again when it is done."
)


class Command(BaseCommand):
    help = (
        "Print the methods section of a study, written from its own data, and its reporting sheet: "
        "what readers of a human baseline ask, answered from the data or left to the researcher. "
        "Reads the study, its answers and the stored runs; writes only stored score vectors."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", metavar="SLUG", required=True)
        parser.add_argument("--format", choices=list(FORMATS), default="text")
        parser.add_argument("--part", choices=PARTS, help="without it, both")
        parser.add_argument("--output", metavar="FILE", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        parts = [options["part"]] if options["part"] else PARTS
        found = report(find_study(options["study"]))
        document = FORMATS[options["format"]](found, parts)
        if found.lacks_agreement:
            self.stderr.write(LACKS_AGREEMENT)
        file: Path | None = options["output"]
        if file is None:
            self.stdout.write(document, ending="")
            return
        try:
            file.write_text(document, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"Cannot write {file}: {error.strerror}.") from error
        self.stderr.write(f"Written: {file}")

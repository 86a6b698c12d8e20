from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from annotation.management.arguments import StudyCommand
from annotation.models import Study
from scoring.management.arguments import add_format, add_output, put_document
from scoring.report.documents import FORMATS, PARTS, Report


class Command(StudyCommand):
    help = (
        "Print the methods section of a study, written from its own data, and its reporting sheet: "
        "what readers of a human baseline ask, answered from the data or left to the researcher. "
        "Computes how far annotators agree where that is not stored, which may take a minute. "
        "Reads the study, its answers and the stored runs; writes only stored score vectors."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        add_format(parser, FORMATS, "text")
        parser.add_argument("--part", choices=PARTS, help="without it, both")
        add_output(parser)

    def act(self, study: Study, options: Mapping[str, Any]) -> None:
        parts = [options["part"]] if options["part"] else PARTS
        report = Report(study, with_agreement=True)
        document = FORMATS[options["format"]](report, parts)
        put_document(self, document.encode(), options["output"])

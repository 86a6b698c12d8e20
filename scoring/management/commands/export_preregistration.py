from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from annotation.management.arguments import StudyCommand
from annotation.models import Study
from scoring.management.arguments import add_format, add_output, put_document
from scoring.report.preregistration import FORMATS, export_preregistration


class Command(StudyCommand):
    help = (
        "Print the pre-registration of a study, before the first person comes: its question, "
        "systems and margin, design, planned width and power, screening, exclusions, stopping, "
        "scoring and analysis. A draft is marked as one; a study that has started carries the "
        "checksum of what was frozen. The LaTeX is a whole document. Reads the study."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        add_format(parser, FORMATS, "markdown")
        add_output(parser)

    def act(self, study: Study, options: Mapping[str, Any]) -> None:
        document = export_preregistration(study, options["format"])
        put_document(self, document, options["output"])

"""Write the judgements of a study to stdout."""

from collections.abc import Mapping
from typing import Any

from annotation.management.arguments import StudyCommand, chosen_in
from annotation.models import Study
from annotation.studies.exported_judgements import FORMATS, export_judgements


class Command(StudyCommand):
    chooses = True
    formats = FORMATS
    help = (
        "Writes the judgements of a study to stdout, one row each, with S1 under both reference "
        "policies and a running checksum. People appear under pseudonyms. Only reads; changes no "
        "row."
    )

    def act(self, study: Study, options: Mapping[str, Any]) -> None:
        self.write(export_judgements(study, options["format"], chosen_in(options)))

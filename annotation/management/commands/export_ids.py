"""Write who stands behind the pseudonyms of a study."""

from collections.abc import Mapping
from typing import Any

from annotation.management.arguments import StudyCommand, chosen_in
from annotation.models import Study
from annotation.studies.exported_tables import export_ids


class Command(StudyCommand):
    chooses = True
    help = (
        "Writes the external ids of a study's annotators to stdout as CSV, beside their "
        "pseudonyms. Adds a line to the study's log; changes no other row."
    )

    def act(self, study: Study, options: Mapping[str, Any]) -> None:
        self.write(export_ids(study, chosen_in(options)))

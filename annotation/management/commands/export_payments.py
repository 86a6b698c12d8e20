"""Write what the people of a study are due to stdout."""

from collections.abc import Mapping
from typing import Any

from annotation.management.arguments import StudyCommand
from annotation.models import Study
from annotation.payments.ledger import FORMATS, NONE_OPEN, export_payments, open_bonuses


class Command(StudyCommand):
    formats = FORMATS
    help = (
        "Writes to stdout what every person of a study is due, what the platform pays as base, "
        "what was sent and what is open (csv), or the approved and unsent bonuses alone "
        "(prolific: participant id, amount). Holds external ids. Adds a line to the study's log "
        "of changes; changes no other row."
    )

    def act(self, study: Study, options: Mapping[str, Any]) -> None:
        self.write(export_payments(study, options["format"]))
        if options["format"] != "prolific":
            return
        bonuses = open_bonuses(study)
        if not bonuses.dues:
            self.stderr.write(NONE_OPEN)
        if nameless := len(bonuses.nameless):
            self.stderr.write(f"Left out, for want of an id that a platform knows: {nameless}.")

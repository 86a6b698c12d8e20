"""Resume a study."""

from django.contrib.auth.models import User

from annotation.management.arguments import ActingCommand
from annotation.models import Study
from annotation.studies.lifecycle import CHANGES, resume_study


class Command(ActingCommand):
    help = f"Changes the state of a study. {CHANGES['resume']['question']}"
    done = CHANGES["resume"]["done"]

    def act(self, study: Study, by: User | None) -> None:
        resume_study(study, by=by)

"""Pause a study."""

from django.contrib.auth.models import User

from annotation.management.arguments import ActingCommand
from annotation.models import Study
from annotation.studies.lifecycle import CHANGES, pause_study


class Command(ActingCommand):
    help = f"Changes the state of a study. {CHANGES['pause']['question']}"
    done = CHANGES["pause"]["done"]

    def act(self, study: Study, by: User | None) -> None:
        pause_study(study, by=by)

"""Close a study."""

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.management.arguments import ActingCommand
from annotation.models import Study
from annotation.studies.lifecycle import CHANGES, close_study


class Command(ActingCommand):
    help = f"Changes the state of a study, for good. {CHANGES['close']['question']}"
    done = CHANGES["close"]["done"]

    def act(self, study: Study, by: User | None) -> None:
        close_study(study, at=timezone.now(), by=by)

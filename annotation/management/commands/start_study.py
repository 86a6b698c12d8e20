"""Start a study."""

from django.contrib.auth.models import User

from annotation.management.arguments import ActingCommand
from annotation.models import Study, clock
from annotation.studies.lifecycle import start_study


class Command(ActingCommand):
    help = (
        "Starts a draft: freezes its texts, rules, batches, items and gold, and opens its places. "
        "What is missing is listed, and nothing is started."
    )
    done = "The study is open. Its settings are frozen from now on."

    def act(self, study: Study, by: User | None) -> None:
        start_study(study, at=clock.now(), by=by)

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User

from annotation.management.arguments import ChangingCommand
from annotation.models import Study, clock
from annotation.studies.advice import start_advice
from annotation.studies.lifecycle import check_can_start


class Command(ChangingCommand):
    change = "start"

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        meaning = "say what is missing and what to know before, and start nothing"
        parser.add_argument("--dry-run", action="store_true", help=meaning)

    def handle(self, *args: Any, **options: Any) -> None:
        self.is_dry = options["dry_run"]
        super().handle(*args, **options)

    def act(self, study: Study, by: User | None) -> str:
        """Start it, and say what the page of the start warns of."""
        check_can_start(study, at=clock.now())
        warnings = start_advice(study)
        dry = "Nothing is missing, and nothing was started."
        done = dry if self.is_dry else super().act(study, by)
        return "\n- ".join([f"{done} To know:" if warnings else done, *warnings])

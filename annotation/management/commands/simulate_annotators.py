from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.models import Study
from annotation.models.errors import Refusal
from annotation.simulation.simulating import simulate_study


class Command(BaseCommand):
    help = (
        "Let simulated annotators work through every batch of a study. Adds annotators of the "
        "channel “simulated”, their assignments and judgements; takes no person's place."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, help="slug of an open study")
        parser.add_argument(
            "--skill", type=float, default=0.85, help="share of right answers (default 0.85)"
        )
        parser.add_argument(
            "--seed", type=int, default=1, help="the seed that all randomness follows from"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            raise CommandError(f"There is no study {options['study']}.")
        try:
            done = simulate_study(
                study, skill=options["skill"], seed=options["seed"], at=timezone.now()
            )
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stderr.write(
            f"{len(done)} simulated annotators finished, "
            f"{sum(a.outcome == 'completed' for a in done)} of them with the test."
        )

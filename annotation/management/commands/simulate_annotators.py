"""Fill a study with simulated annotators."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from annotation.management.arguments import StudyCommand
from annotation.models import Study, clock
from annotation.simulation.simulating import simulate_study


class Command(StudyCommand):
    help = (
        "Let simulated annotators work through every batch of a study. Adds annotators of the "
        "channel “simulated”, their assignments and judgements; takes no person's place."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        add = parser.add_argument
        add("--skill", type=float, default=0.85, help="share of right answers (default 0.85)")
        add("--seed", type=int, default=1, help="the seed that all randomness follows from")

    def act(self, study: Study, options: Mapping[str, Any]) -> None:
        done = simulate_study(study, skill=options["skill"], seed=options["seed"], at=clock.now())
        self.stderr.write(
            f"{len(done)} simulated annotators finished, "
            f"{sum(a.outcome == 'completed' for a in done)} of them with the test."
        )

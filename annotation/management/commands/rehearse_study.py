"""Rehearse a study with simulated annotators."""

from django.contrib.auth.models import User

from annotation.management.arguments import ActingCommand
from annotation.models import Study, clock
from annotation.simulation.rehearsing import order_rehearsal
from annotation.simulation.simulating import USUAL_CROWD


class Command(ActingCommand):
    help = (
        "Makes a copy of a draft, and has a worker play it with simulated annotators, of whom some "
        "are weak and some leave. Changes nothing of the study itself. What is missing is listed."
    )

    def act(self, study: Study, by: User | None) -> str:
        made = order_rehearsal(study, USUAL_CROWD, at=clock.now(), by=by)
        return f"The rehearsal {made.slug} is played as soon as a worker is free."

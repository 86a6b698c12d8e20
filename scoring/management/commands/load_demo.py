from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.urls import reverse

from annotation.access.rights import find_owner
from annotation.management.arguments import RefusingCommand, add_owner
from annotation.models import Assignment, clock
from annotation.simulation.demonstration import SLUG, demonstration, load_demonstration
from scoring.runs.demonstration import load_demonstration_runs


class Command(RefusingCommand):
    help = (
        "Loads the demonstration once: the benchmark “demo”, the study “demonstration”, "
        "its simulated annotators and the runs of its systems; prints where to go. "
        "Touches nothing else."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_owner(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        owner = find_owner(options["owner"])
        if demonstration() is None:
            self.stderr.write("Loading the demonstration study; this takes about half a minute.")
        study = load_demonstration(at=clock.now(), owner=owner)
        load_demonstration_runs(study.benchmark)
        simulated = Assignment.objects.simulated().filter(study=study).count()
        join = reverse("annotation:join_study", args=[study.join_token])
        table = reverse("scoring:comparison", args=["study", SLUG])
        self.stdout.write(f"Annotator: {settings.PUBLIC_URL}{join}")
        self.stdout.write(
            f"Table: {settings.PUBLIC_URL}{table}?simulated=on  "
            f"(filled by {simulated} simulated annotators; sign in first)"
        )

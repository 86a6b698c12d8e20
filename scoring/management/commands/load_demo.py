from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.urls import reverse

from annotation.access.rights import find_owner
from annotation.management.arguments import RefusingCommand, add_owner
from annotation.models import Study, clock
from annotation.simulation.demonstration import (
    FINISHED_SLUG,
    import_demo,
    load_demonstration,
    load_finished,
)
from scoring.runs.demonstration import load_demonstration_runs, load_published


class Command(RefusingCommand):
    help = (
        "Loads the demonstration once: the benchmark “demo” with its systems’ runs, the study "
        "“demonstration”, open for people, and “demonstration-finished”, done by simulated people, "
        "and “clues”, published figures alone; prints where to go. Touches nothing else."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_owner(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        owner = find_owner(options["owner"])
        if not Study.objects.filter(slug=FINISHED_SLUG).exists():
            self.stderr.write("Loading the demonstration; this takes about half a minute.")
            load_published(owner)
        load_demonstration_runs(import_demo(owner))
        at = clock.now()
        to_try, finished = (
            load(at=at, owner=owner) for load in (load_demonstration, load_finished)
        )
        join = reverse("annotation:join_study", args=[to_try.join_token])
        table = reverse("scoring:comparison", args=["study", finished.slug])
        self.stdout.write(f"Annotator: {settings.PUBLIC_URL}{join}")
        self.stdout.write(
            f"Table: {settings.PUBLIC_URL}{table}  (filled by simulated people; sign in first)"
        )

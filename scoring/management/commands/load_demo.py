from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment
from annotation.simulation.demonstration import SLUG, demonstration, load_demonstration
from scoring.runs.demonstration import load_demonstration_runs


class Command(BaseCommand):
    help = (
        "Loads the demonstration once: the benchmark “demo”, the study “demonstration”, "
        "its simulated annotators and the runs of a small system; prints where to go. "
        "Touches nothing else."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if demonstration() is None:
            self.stderr.write("Loading the demonstration study; this takes about half a minute.")
        study = load_demonstration(at=timezone.now())
        load_demonstration_runs(study.benchmark)
        simulated = Assignment.objects.simulated().filter(study=study).count()
        join = reverse("annotation:join_study", args=[study.join_token])
        table = reverse("scoring:comparison", args=["study", SLUG])
        self.stdout.write(f"Annotator: {settings.PUBLIC_URL}{join}")
        self.stdout.write(
            f"Table: {settings.PUBLIC_URL}{table}?simulated=on  "
            f"(filled by {simulated} simulated annotators; sign in first)"
        )

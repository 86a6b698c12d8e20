"""Say how far a study is."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from annotation.management.arguments import RefusingCommand, find_study
from annotation.models import clock
from annotation.studies.monitoring import progress_of, study_figures


class Command(RefusingCommand):
    help = "Writes to stdout how many places of a study are taken and finished. Only reads."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG")
        parser.add_argument("--format", choices=["text", "json"], default="text")

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["slug"])
        progress = progress_of(study, study_figures(study, at=clock.now()))
        if options["format"] == "json":
            self.stdout.write(json.dumps(progress, indent=1, cls=DjangoJSONEncoder))
            return
        self.stdout.write(f"{progress['slug']}, {progress['state']}: {_places(progress)}")
        for batch in progress["batches"]:
            name = ", ".join(filter(None, [batch["task"], batch["label"], batch["pool"]]))
            self.stdout.write(f"  {name}: {_places(batch)}")


def _places(counts: dict[str, Any]) -> str:
    return f"{counts['kept']} of {counts['wanted']} places finished, {counts['taken']} taken"

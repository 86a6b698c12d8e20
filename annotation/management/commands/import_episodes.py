"""Import episodes that FLEX's toolkit wrote, with their answer key."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from annotation.benchmarks.importing import import_episodes
from annotation.management.arguments import ImportingCommand


class Command(ImportingCommand):
    help = (
        "Import the episodes of a FLEX challenge: adds one task for each of its data sets, with "
        "examples, gold and the item sets of every episode. Prints counts and the challenge's "
        "checksum. If a file is bad, nothing is imported; importing the same files again changes "
        "nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        files = "the challenge's rows and its answer key, one JSON object per line"
        add("paths", nargs=2, type=Path, metavar="FILE", help=files)
        add("--name", default="flex", help="the benchmark's name (%(default)s)")
        super().add_arguments(parser)

    def act(self, owner: User | None, options: Mapping[str, Any]) -> None:
        episodes, tasks = import_episodes(options["paths"], name=options["name"], owner=owner)
        for task in tasks:
            news = "new" if task.created else "changed" if task.is_changed else "no change"
            examples = task.training_examples + task.test_examples
            self.stdout.write(f"{task.slug}: {examples} examples ({news})")
        few, zero = episodes.few_shot, episodes.zero_shot
        self.stdout.write(f"{few} few-shot and {zero} zero-shot episodes")
        known = f", as the published challenge {episodes.published}" if episodes.published else ""
        self.stdout.write(f"checksum {episodes.checksum}{known}")
        self.ask_for_descriptions(tasks)

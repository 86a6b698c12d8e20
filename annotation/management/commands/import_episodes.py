"""Import episodes that FLEX's toolkit wrote, with their answer key."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.access.members import find_owner
from annotation.benchmarks.importing import import_episodes
from annotation.management.arguments import add_owner, without_description
from annotation.models.errors import Refusal


class Command(BaseCommand):
    help = (
        "Import the episodes of a FLEX challenge: adds one task for each of its data sets, with "
        "examples, gold and the item sets of every episode. Prints counts and the challenge's "
        "checksum. If a file is bad, nothing is imported; importing the same files again changes "
        "nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "paths",
            nargs=2,
            type=Path,
            metavar="FILE",
            help="the challenge's rows and its answer key, one JSON object per line",
        )
        parser.add_argument("--name", default="flex", help="the benchmark's name (%(default)s)")

        add_owner(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = import_episodes(
                options["paths"], name=options["name"], owner=find_owner(options["owner"])
            )
        except Refusal as refusal:
            raise CommandError(f"{refusal} Nothing was imported.") from refusal
        for task in report.tasks:
            news = "new" if task.created else "changed" if task.is_changed else "no change"
            examples = task.training_examples + task.test_examples
            self.stdout.write(f"{task.slug}: {examples} examples ({news})")
        self.stdout.write(f"{report.few_shot} few-shot and {report.zero_shot} zero-shot episodes")
        known = f", as the published challenge {report.published}" if report.published else ""
        self.stdout.write(f"checksum {report.checksum}{known}")
        for sentence in without_description(report.tasks):
            self.stderr.write(sentence)

"""Write everything about a study as CSV, with dictionaries."""

from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.management.arguments import add_chosen, chosen_in, find_study
from annotation.studies.exports import EXPORTS


class Command(BaseCommand):
    help = (
        "Writes judgements, assignments, people, items and reported problems of a study as CSV "
        "files into a folder, and beside each what its columns mean. People appear under "
        "pseudonyms. Holds the gold of the test. Only reads; changes no row."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="SLUG")
        parser.add_argument("--output", required=True, metavar="FOLDER", type=Path)
        add_chosen(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        study, chosen = find_study(options["study"]), chosen_in(options)
        folder: Path = options["output"]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, table in EXPORTS.items():
                _write(folder / f"{name}.csv", table.lines(study, chosen))
                _write(folder / f"{name}-dictionary.csv", table.dictionary())
        except OSError as error:
            raise CommandError(f"Cannot write in {folder}: {error.strerror}.") from error
        self.stderr.write(f"{len(EXPORTS)} tables written in {folder}.")


def _write(file: Path, lines: Iterable[str]) -> None:
    with file.open("w", encoding="utf-8", newline="") as target:
        target.writelines(lines)

"""Write everything about a study as CSV, with dictionaries."""

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.management.arguments import StudyCommand, chosen_in
from annotation.models import Study
from annotation.studies.exported_tables import EXPORTS


class Command(StudyCommand):
    chooses = True
    help = (
        "Writes judgements, assignments, people, items and reported problems of a study as CSV "
        "files into a folder, and beside each what its columns mean. People appear under "
        "pseudonyms. Holds the gold of the test. Only reads; changes no row."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--output", required=True, metavar="FOLDER", type=Path)

    def act(self, study: Study, options: Mapping[str, Any]) -> None:
        folder, chosen = options["output"], chosen_in(options)
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

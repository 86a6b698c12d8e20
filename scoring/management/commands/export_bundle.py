from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation.management.arguments import StudyCommand
from annotation.models import Study
from scoring.bundle.packing import export_bundle
from scoring.management.arguments import writing


class Command(StudyCommand):
    chooses = True
    help = (
        "Write a study as a zip: answers under pseudonyms, gold, hashes of the examples, the "
        "figures, and a script that computes them again. Holds the gold of the test. Adds a line "
        "to the study's log, and stores score vectors; changes no other row."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        add = parser.add_argument
        add("--output", required=True, metavar="FILE", type=Path)
        add("--texts", action="store_true", help="with the texts of examples and descriptions")

    def act(self, study: Study, options: Mapping[str, Any]) -> None:
        file: Path = options["output"]
        chosen = {name: options[name] for name in ("texts", "simulated", "with_excluded")}
        # A broken bundle never takes the place of a whole one.
        part = file.with_name(f"{file.name}.part")
        try:
            with writing(file):
                with part.open("wb") as target:
                    checksum = export_bundle(study, target, **chosen)
                part.replace(file)
        finally:
            part.unlink(missing_ok=True)
        self.stderr.write(f"Written: {file}")
        self.stderr.write(f"Checksum, to be published with it: {checksum}")

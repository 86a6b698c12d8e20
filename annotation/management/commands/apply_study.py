"""Make or change a draft as a file says it."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from annotation.management.arguments import ImportingCommand
from annotation.models.errors import BadInput
from annotation.studies.study_file.applying import apply_study
from annotation.studies.study_file.reading import read_study_file


class Command(ImportingCommand):
    done = "changed"
    help = (
        "Makes a draft of a study's file, or changes the draft of that name until it is what the "
        "file says: its settings, pools, batches and outcomes. Writes to stdout what changes, line "
        "by line. If the file is bad, nothing is changed; a study that has started may not differ."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="TOML, such as study.toml")
        parser.add_argument("--dry-run", action="store_true", help="store nothing")
        super().add_arguments(parser)

    def act(self, owner: User | None, options: Mapping[str, Any]) -> None:
        path: Path = options["file"]
        try:
            content = path.read_bytes()
        except OSError as error:
            raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
        file = read_study_file(content, path.name, path.parent)
        applied = apply_study(file, by=owner, dry_run=options["dry_run"])
        if applied.diff:
            self.stdout.write(applied.diff)
        name = file.data["study"]["name"]
        if options["dry_run"]:
            self.stderr.write("Nothing was stored: leave out --dry-run to store it.")
        elif applied.is_new:
            self.stderr.write(f"The study {name} is a draft now.")
        else:
            self.stderr.write(f"The study {name} is {'changed' if applied.diff else 'unchanged'}.")

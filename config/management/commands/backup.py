"""Back up the database."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.management.arguments import RefusingCommand
from config.backups.archive import write_backup


class Command(RefusingCommand):
    help = (
        "Writes everything that the database holds at this moment, and the identity key, to a new "
        "file, and reads it back. People may go on working. Keep the file as you keep passwords."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        manifest = write_backup(options["file"])
        for table in manifest.tables:
            if table.rows:
                self.stdout.write(f"{table.rows:>9,}  {table.table}")
        self.stdout.write(
            f"{manifest.rows:,} rows written to {options['file']} and read back. It holds the "
            "identity key and who people are: keep it as you keep passwords."
        )

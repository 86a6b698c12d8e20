"""Restore a backup."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.management.arguments import RefusingCommand
from config.backups.archive import Backup
from config.backups.restoring import restore_backup


class Command(RefusingCommand):
    help = (
        "Restores a file of `manage.py backup` into the new, empty database of DATABASE_URL or "
        "DATA_DIR, compares every row with it, and migrates it to this version."
    )
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        with Backup(options["file"]) as backup:
            restore_backup(backup)
        self.stdout.write(
            f"{backup.manifest.rows:,} rows of {backup.manifest.made_at[:16].replace('T', ' ')} "
            "UTC restored and compared."
        )

"""Copy the database into another one, as from SQLite to PostgreSQL."""

import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from annotation.management.arguments import RefusingCommand
from config.backups.archive import write_backup


class Command(RefusingCommand):
    help = (
        "Copies this database into the new, empty one that URL names (postgres://… or sqlite:///…) "
        "and compares every row. This one is only read; end the web server and the workers first, "
        "or what comes in meanwhile stays behind."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("url", metavar="URL")

    def handle(self, *args: Any, **options: Any) -> None:
        with tempfile.TemporaryDirectory(dir=settings.DATA_DIR) as folder:
            file = Path(folder) / "copy.zip"
            manifest = write_backup(file)
            self._restore(file, options["url"])
        self.stdout.write(
            f"{manifest.rows:,} rows copied and compared. Set DATABASE_URL to the new database, "
            "keep IDENTITY_KEY, and start again."
        )

    def _restore(self, file: Path, url: str) -> None:
        # In a process of its own: what migrates and what fills is then on one database alone.
        key = settings.IDENTITY_KEY or settings.SECRET_KEY
        restored = subprocess.run(
            [sys.executable, "manage.py", "restore", str(file)],
            cwd=settings.BASE_DIR,
            env={**os.environ, "DATABASE_URL": url, "IDENTITY_KEY": key},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if restored.returncode:
            raise CommandError(restored.stderr.strip().removeprefix("CommandError: "))

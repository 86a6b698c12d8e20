from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from annotation.kinds.naming import WAYS
from annotation.management.arguments import ImportingCommand
from annotation.models import clock
from scoring.elsewhere.importing import Order, import_people
from scoring.management.arguments import put_lines
from scoring.runs.importing import choose_benchmark


class Command(ImportingCommand):
    help = (
        "Imports what people answered whom others asked, a row for each person and item, as a "
        "closed study from elsewhere. Adds this one study with its people and answers, and changes "
        "no rows that are there."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("file", type=Path, help="CSV, TSV, JSON, JSON lines or Parquet")
        add("--benchmark", required=True, metavar="NAME", help="whose items these are")
        add("--study", required=True, metavar="NAME", help="what the study will be called")
        add("--source", required=True, metavar="TEXT", help="the paper, and where the file is from")
        add("--leave-out", action="store_true", help="rows whose task or item is not here")
        by = "how answers name options, where they could do so in two ways"
        add("--answer-by", choices=WAYS, default="", help=by)
        of = "the group whose items hang together, as a story's: they count as one; once a task"
        add("--clusters", action="append", default=[], metavar="TASK:GROUP", help=of)
        add("--dry-run", action="store_true", help="reads and checks all of it, and stores nothing")
        super().add_arguments(parser)

    def act(self, owner: User | None, options: Mapping[str, Any]) -> None:
        path: Path = options["file"]
        try:
            data = path.read_bytes()
        except OSError as error:
            raise CommandError(f"Cannot read {path}: {error.strerror}.") from error
        order = Order(
            choose_benchmark(options["benchmark"]),
            options["study"],
            options["source"],
            leaves_out=options["leave_out"],
            answer_by=options["answer_by"],
            clusters=dict(map(_cluster, options["clusters"])),
        )
        about: dict[str, Any] = {"owner": owner, "dry_run": options["dry_run"]}
        report = import_people(data, path.name, order, at=clock.now(), **about)
        put_lines(self, report.in_words(), None)


def _cluster(text: str) -> tuple[str, str]:
    task, _, group = (part.strip() for part in text.partition(":"))
    if not group:
        raise CommandError(f"--clusters {text}: write a task and its group, as ner:document.")
    return task, group

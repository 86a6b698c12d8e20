"""Erase what names people once it is old enough."""

from argparse import ArgumentParser, ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from annotation.models import clock
from annotation.studies.people import OLDER, clear_files, count_old, erase_old


def days(text: str) -> int:
    if not text.isdecimal() or not 0 <= int(text) <= 36_500:
        raise ArgumentTypeError(f"{text!r} is no number of days from 0 to 36500")
    return int(text)


class Command(BaseCommand):
    help = (
        "Erases what is older than so many days: the platform ids of people (and with them what "
        "they wrote) all of whose studies are closed, comments, the log of changes, sign-ins. "
        "Judgements and their times stay. With --dry-run it only counts."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        for kind in OLDER:
            parser.add_argument(f"--{kind.replace('_', '-')}", type=days, metavar="DAYS")
        parser.add_argument("--dry-run", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        now = clock.now()
        ages = {kind: options[kind] for kind in OLDER if options[kind] is not None}
        if not ages:
            raise CommandError("Say what, and after how many days: as in `--ids 365`.")
        limits = {kind: now - timedelta(days=age) for kind, age in ages.items()}
        erased = count_old(limits) if options["dry_run"] else erase_old(limits, at=now)
        if any(erased.values()) and not options["dry_run"]:
            transaction.on_commit(clear_files)
        counts = ", ".join(f"{erased[kind]} {kind.replace('_', '-')}" for kind in ages)
        self.stdout.write(f"{'Would erase' if options['dry_run'] else 'Erased'}: {counts}.")

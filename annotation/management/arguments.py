"""What several commands ask for."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError

from annotation.models import Study
from annotation.studies.exporting import Chosen


def add_owner(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--owner",
        metavar="USER",
        help="the user name of who owns what is made (default: nobody, so superusers alone see it)",
    )


def add_chosen(parser: ArgumentParser) -> None:
    parser.add_argument("--simulated", action="store_true", help="with simulated annotators")
    parser.add_argument("--with-excluded", action="store_true", help="with excluded assignments")


def chosen_in(options: Mapping[str, Any]) -> Chosen:
    return Chosen(simulated=options["simulated"], with_excluded=options["with_excluded"])


def find_study(slug: str) -> Study:
    study = Study.objects.filter(slug=slug).first()
    if study is None:
        known = ", ".join(Study.objects.values_list("slug", flat=True)) or "none"
        raise CommandError(f"There is no study {slug!r}. Studies: {known}.")
    return study

"""What several commands ask for and say."""

from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.benchmarks.storing import TaskReport
from annotation.models import Study
from annotation.models.errors import Refusal
from annotation.studies.exported_judgements import Chosen


class StudyCommand(BaseCommand):
    """A command about one study, refused with a sentence."""

    # Whether it is asked whose work besides that of the people that count.
    chooses = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--study", required=True, metavar="SLUG")
        if self.chooses:
            parser.add_argument(
                "--simulated", action="store_true", help="with simulated annotators"
            )
            parser.add_argument(
                "--with-excluded", action="store_true", help="with excluded assignments"
            )

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            known = ", ".join(Study.objects.values_list("slug", flat=True)) or "none"
            raise CommandError(f"There is no study {options['study']!r}. Studies: {known}.")
        try:
            self.act(study, options)
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal

    def act(self, study: Study, options: Mapping[str, Any]) -> None:
        raise NotImplementedError

    def write(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.stdout.write(line, ending="")


def add_owner(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--owner",
        metavar="USER",
        help="the user name of who owns what is made (default: nobody, so superusers alone see it)",
    )


def chosen_in(options: Mapping[str, Any]) -> Chosen:
    return Chosen(simulated=options["simulated"], with_excluded=options["with_excluded"])


def without_description(
    tasks: Iterable[TaskReport], *, where: str = "in the admin"
) -> Iterator[str]:
    for task in tasks:
        if not task.described:
            yield f"{task.slug} has no description, which every study needs: write one {where}."

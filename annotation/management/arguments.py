"""What several commands ask for and say."""

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db import models

from annotation.access.rights import Right, find_owner, may
from annotation.benchmarks.storing import TaskReport
from annotation.models import Study, clock
from annotation.models.errors import BadInput, NotReady, Refusal
from annotation.studies.exported_judgements import Chosen
from annotation.studies.lifecycle import ACTS, CHANGES, what_was_done

ModelT = TypeVar("ModelT", bound=models.Model)


class RefusingCommand(BaseCommand):
    """What is refused ends it with one sentence."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal


def find(model: type[ModelT], field: str, value: str) -> ModelT:
    row = model._default_manager.filter(**{field: value}).first()
    if row is None:
        names = model._default_manager.order_by(field).values_list(field, flat=True)
        known = ", ".join(names) or "none"
        raise CommandError(f"There is no {model._meta.verbose_name} {value!r}; there are: {known}.")
    return row


def find_study(slug: str) -> Study:
    return find(Study, "slug", slug)


class StudyCommand(RefusingCommand):
    # Whether it is asked whose work besides that of the people that count.
    chooses = False
    # What it is asked for, the usual one first.
    formats: Sequence[str] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("--study", required=True, metavar="SLUG")
        if self.chooses:
            add("--simulated", action="store_true", help="with simulated annotators")
            add("--with-excluded", action="store_true", help="with excluded assignments")
        if self.formats:
            add("--format", choices=self.formats, default=self.formats[0])

    def handle(self, *args: Any, **options: Any) -> None:
        self.act(find_study(options["study"]), options)

    def act(self, study: Study, options: Mapping[str, Any]) -> None:
        raise NotImplementedError

    def write(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.stdout.write(line, ending="")


class ActingCommand(RefusingCommand):
    """A command that acts on a study as its pages do, in the name of whoever is named."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG")
        who = "in whose name, for the log: somebody who may set the study up (default: nobody)"
        parser.add_argument("--user", metavar="USER", help=who)

    def handle(self, *args: Any, **options: Any) -> None:
        study, by = find_study(options["slug"]), find_owner(options["user"])
        if by and not may(by, study, Right.SET_UP):
            raise BadInput(f"{by} may not set up the study {study.slug}: name somebody who may.")
        try:
            self.stderr.write(self.act(study, by))
        except NotReady as refusal:
            raise CommandError("\n- ".join(["Missing:", *refusal.missing])) from refusal

    def act(self, study: Study, by: User | None) -> str:
        """What is said of it."""
        raise NotImplementedError


class ChangingCommand(ActingCommand):
    """Changes the state of a study, as lifecycle.toml says it."""

    change = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.help = f"Changes the state of a study. {CHANGES[self.change]['question']}"

    def act(self, study: Study, by: User | None) -> str:
        ACTS[self.change](study, clock.now(), by)
        return what_was_done(self.change, study)


def add_owner(parser: ArgumentParser) -> None:
    whose = "the user name of who owns what is made (default: nobody, so superusers alone see it)"
    parser.add_argument("--owner", metavar="USER", help=whose)


class ImportingCommand(BaseCommand):
    """A command that makes something for somebody, all of it or nothing."""

    # What is said of it if nothing was.
    done = "imported"

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_owner(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.act(find_owner(options["owner"]), options)
        except Refusal as refusal:
            raise CommandError(f"{refusal} Nothing was {self.done}.") from refusal

    def act(self, owner: User | None, options: Mapping[str, Any]) -> None:
        raise NotImplementedError

    def ask_for_descriptions(
        self, tasks: Iterable[TaskReport], *, where: str = "in the admin"
    ) -> None:
        for task in tasks:
            if not task.described:
                sentence = "has no description, which every study needs: write one"
                self.stderr.write(f"{task.slug} {sentence} {where}.")


def chosen_in(options: Mapping[str, Any]) -> Chosen:
    return Chosen(simulated=options["simulated"], with_excluded=options["with_excluded"])

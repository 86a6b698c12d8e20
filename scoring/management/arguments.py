"""What a command is about, by the names on its command line; and where its document goes."""

from argparse import ArgumentParser
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.management.arguments import find, find_study
from annotation.models import Benchmark, ReferencePolicy
from annotation.models.errors import BadInput
from scoring.cells.scope import Scope
from scoring.models import ProtocolTag
from scoring.prompts.prompting import Subject
from scoring.runs.importing import choose_benchmark


def find_scope(options: Mapping[str, Any]) -> Scope:
    if options["study"]:
        chosen = find_study(options["study"])
        return Scope(chosen.benchmark, chosen)
    return Scope(find(Benchmark, "name", options["benchmark"]))


def add_scope(parser: ArgumentParser, *, study: str = "", benchmark: str = "") -> None:
    scope = parser.add_mutually_exclusive_group(required=True)
    scope.add_argument("--study", metavar="SLUG", help=study)
    scope.add_argument("--benchmark", metavar="NAME", help=benchmark)
    add = parser.add_argument
    several = "how several reference answers count (default: as each task says)"
    add("--references", choices=ReferencePolicy.values, help=several)
    add("--simulated", action="store_true", help="with simulated annotators")
    add("--with-excluded", action="store_true", help="with excluded annotators")
    signs = "without annotators whose answers show signs of a program"
    add("--without-signs", action="store_true", help=signs)


def add_format(parser: ArgumentParser, formats: Collection[str], default: str = "csv") -> None:
    parser.add_argument("--format", choices=list(formats), default=default)


def add_output(parser: ArgumentParser) -> None:
    parser.add_argument("--output", metavar="FILE", type=Path)


def add_bundle(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("file", type=Path, help="the zip, or the unpacked folder")
    add("--checksum", default="", metavar="HEX", help="the checksum that its authors published")


def add_system(group: Any, *, protocol: str) -> None:
    """What is the same of all runs of a system."""
    group.add_argument("--citation", help="how to cite the system")
    group.add_argument("--url", help="where to read about the system")
    values = ProtocolTag.values
    group.add_argument("--protocol", action="append", choices=values, help=protocol)


def add_subject(parser: ArgumentParser) -> None:
    """Which batches a model is shown."""
    add = parser.add_argument_group("what is asked").add_argument
    add("--benchmark", default="", help="needed if there are several")
    add("--study", default="", metavar="SLUG", help="as its people saw it")
    add("--task", nargs="+", default=[], metavar="SLUG", help="default: all")
    add("--shots", type=int, nargs="+", default=[], metavar="K")
    add("--splits", type=int, nargs="+", default=[], metavar="S")
    add("--episodes", type=int, nargs="+", default=[], metavar="NUMBER")
    add("--limit", type=int, metavar="N", help="the first N examples of each set: partial runs")


def find_subject(options: Mapping[str, Any]) -> Subject:
    """Raises BadInput."""
    if options["limit"] is not None and options["limit"] < 1:
        raise BadInput("The limit must be at least 1.")
    study = find_study(options["study"]) if options["study"] else None
    named = options["benchmark"] or (study.benchmark.name if study else "")
    others = {name: options[name] for name in ("shots", "splits", "episodes", "seed")}
    return Subject(choose_benchmark(named), study, options["task"], **others)


@contextmanager
def writing(path: Path | None) -> Iterator[None]:
    """What cannot be written there ends the command with one sentence."""
    try:
        yield
    except OSError as error:
        raise CommandError(f"Cannot write {path}: {error.strerror}.") from error


def put_lines(command: BaseCommand, lines: Iterable[str], file: Path | None) -> None:
    if file is None:
        for line in lines:
            command.stdout.write(line)
        return
    with writing(file), file.open("w", encoding="utf-8") as target:
        target.writelines(f"{line}\n" for line in lines)
    command.stderr.write(f"Written: {file}")


def put_document(command: BaseCommand, document: bytes, file: Path | None) -> None:
    if file is not None:
        with writing(file):
            file.write_bytes(document)
        command.stderr.write(f"Written: {file}")
    elif (raw := getattr(command.stdout, "buffer", None)) is not None:  # a workbook is bytes
        raw.write(document)
        raw.flush()
    else:
        command.stdout.write(document.decode(), ending="")

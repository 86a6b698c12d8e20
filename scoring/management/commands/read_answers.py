"""Make predictions from a model's answers to exported prompts."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.benchmarks.formats.lines import Record, read_records
from annotation.models.errors import BadInput
from scoring.prompts.formats import read_label

KEPT = ("benchmark", "task", "shots", "split", "episode", "id")


class Command(BaseCommand):
    help = (
        "Print predictions for import_runs from the lines of export_prompts, each with what the "
        "model answered in `answer`: a letter before a label is removed. Lines of training "
        "examples are left out. Reads a file; stores nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, metavar="FILE")
        parser.add_argument("--system", required=True)
        parser.add_argument("--method", required=True, help="FT, PT, ICL or other")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["path"]
        try:
            data = path.read_bytes()
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
        try:
            for line in _predictions(data, path.name):
                self.stdout.write(json.dumps({**_who(options), **line}, ensure_ascii=False))
        except BadInput as error:
            raise CommandError(str(error)) from error


def _who(options: dict[str, Any]) -> dict[str, Any]:
    return {"system": options["system"], "method": options["method"]}


def _predictions(data: bytes, file: str) -> Iterator[dict[str, Any]]:
    for record in read_records(data, file):
        if record.fields.get("role") != "training":
            kept = {name: record.fields[name] for name in KEPT if name in record.fields}
            yield {**kept, "prediction": _prediction(record)}


def _prediction(record: Record) -> list[str]:
    answer = record.text("answer")
    options = record.fields.get("options")
    if options is None:
        return _pieces(answer)
    if not isinstance(options, list):
        record.refuse("“options” must be the list that was exported.")
    label = read_label(answer, [record.as_text(option, "an option") for option in options])
    return [label] if label else []


def _pieces(answer: str) -> list[str]:
    """A JSON list of strings, as in the demonstrations, or one piece per line."""
    try:
        listed = json.loads(answer)
    except (ValueError, RecursionError):
        listed = None
    if isinstance(listed, list) and all(isinstance(piece, str) for piece in listed):
        return listed
    return [piece.strip() for piece in answer.splitlines() if piece.strip()]

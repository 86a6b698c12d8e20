import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.benchmarks.archives import read_file
from annotation.benchmarks.formats.content import Record, read_records
from annotation.kinds import UnknownKind, answer_kind
from annotation.kinds.choice import KIND as CHOICE
from annotation.kinds.spans import KIND as SPANS
from annotation.management.arguments import RefusingCommand
from annotation.models.texts import storable
from scoring.runs.formats.records import PROMPT_PROVENANCE, RUN_KEYS

KEPT = ("id", *RUN_KEYS, *PROMPT_PROVENANCE)


class Command(RefusingCommand):
    help = (
        "Print predictions for import_runs from the lines of export_prompts, each with what the "
        "model answered in `answer`, read as a person would; what names no option stays as it "
        "is, and is wrong. Lines of training examples are left out. Reads a file; stores nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, metavar="FILE")
        parser.add_argument("--system", required=True)
        parser.add_argument("--method", required=True, help="FT, PT, ICL or other")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["path"]
        who = {name: options[name] for name in ("system", "method")}
        for line in _predictions(read_file(path), path.name):
            # What else a line says is handed on as it is, but for half a character.
            self.stdout.write(storable(json.dumps({**who, **line}, ensure_ascii=False)))


def _predictions(data: bytes, file: str) -> Iterator[dict[str, Any]]:
    for record in read_records(data, file):
        if record.fields.get("role") != "training":
            kept = {name: record.fields[name] for name in KEPT if name in record.fields}
            yield {**kept, "prediction": _prediction(record)}


def _prediction(record: Record) -> list[str]:
    answer = record.text("answer")
    options = record.fields.get("options") or []
    if not isinstance(options, list):
        record.refuse("“options” must be the list that was exported.")
    offered = [record.as_text(option, "an option") for option in options]
    labels = record.fields.get("labels") or []
    if not isinstance(labels, list) or len(labels) not in (0, len(offered)):
        record.refuse("“labels” must be the list that was exported.")
    named = [record.as_text(label, "a label") for label in labels]
    # Lines of an older export do not name their kind.
    implied = (CHOICE if options else SPANS).name
    name = record.as_text(record.fields.get("answer_kind", implied), "“answer_kind”")
    try:
        kind = answer_kind(name)
    except UnknownKind as error:
        record.refuse(str(error))
    return kind.from_prompted(answer, offered, labels=named)

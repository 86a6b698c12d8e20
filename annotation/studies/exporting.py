"""Judgements as they were given: pseudonymous, complete, one row each, with checksums.

Every row ends with a running checksum: SHA-256 over the checksum of the row before (nothing
in the first) and the row's other fields as JSON, keys sorted, without spaces, in ASCII. So
the last one vouches for all rows, and both formats carry the same ones.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from annotation.models import Item, Judgement, Study

Row = dict[str, Any]

# The columns of a row. Neither external ids nor gold are among them.
SOURCES = {
    "study": "assignment__study__slug",
    "benchmark": "assignment__study__benchmark__name",
    "task": "assignment__batch__task__slug",
    "batch": "assignment__batch_id",
    "shots": "assignment__batch__training_set__shots",
    "split": "assignment__batch__training_set__split",
    "chain": "assignment__batch__chain",
    "episode": "assignment__batch__test_set__episode",
    "annotator": "assignment__annotator__pseudonym",
    "simulated": "assignment__annotator__channel__is_simulated",
    "assignment": "assignment_id",
    "order_seed": "assignment__order_seed",
    "outcome": "assignment__outcome",
    "excluded": "assignment__exclusion",
    "role": "role",
    "step": "step",
    "identity": "example__identity",
    "content_hash": "example__content_hash",
    "answer": "answer",
    "spans": "spans",
    "shown_at": "shown_at",
    "submitted_at": "submitted_at",
    "paid_ms": "paid_ms",
    "browser_ms": "browser_ms",
    "first_action_ms": "first_action_ms",
    "active_ms": "active_ms",
    "gold_version": "assignment__batch__gold_version__number",
}
# Used only to find an item's id and the checksum of its set.
_HIDDEN = {
    "example": "example_id",
    "training_set": "assignment__batch__training_set_id",
    "test_set": "assignment__batch__test_set_id",
    "training_checksum": "assignment__batch__training_set__checksum",
    "test_checksum": "assignment__batch__test_set__checksum",
}
COLUMNS = [*SOURCES, "item", "scorer_version", "set_checksum", "checksum"]
FORMATS = ("jsonl", "csv")


def export_judgements(study: Study, file_format: str) -> Iterator[str]:
    """Every judgement of a study, line by line, in the order batch, assignment, step."""
    rows = with_checksums(judgement_rows(study))
    return _csv_lines(rows) if file_format == "csv" else _json_lines(rows)


def judgement_rows(study: Study) -> Iterator[Row]:
    """The rows without their checksums, read from the database a piece at a time."""
    names = [*SOURCES, *_HIDDEN]
    values = (
        Judgement.objects.filter(assignment__study=study)
        .order_by("assignment__batch_id", "assignment_id", "step")
        .values_list(*SOURCES.values(), *_HIDDEN.values())
    )
    item_ids = _ItemIds()
    scorer_version = study.frozen.get("scorer_version")
    for found in values.iterator(chunk_size=2000):
        row = dict(zip(names, found, strict=True))
        hidden = {name: row.pop(name) for name in _HIDDEN}
        role = row["role"]
        row["shots"] = row["shots"] or 0
        row["excluded"] = row["excluded"] is not None
        row["shown_at"], row["submitted_at"] = _utc(row["shown_at"]), _utc(row["submitted_at"])
        row["item"] = item_ids.find(hidden[f"{role}_set"], hidden["example"])
        row["scorer_version"] = scorer_version
        row["set_checksum"] = hidden[f"{role}_checksum"]
        yield {name: row[name] for name in COLUMNS[:-1]}


def with_checksums(rows: Iterable[Row]) -> Iterator[Row]:
    before = ""
    for row in rows:
        plain = json.dumps(row, sort_keys=True, separators=(",", ":"))
        before = sha256((before + plain).encode()).hexdigest()
        yield {**row, "checksum": before}


class _ItemIds:
    """The ids that a set's file gives its examples; sets are read one after another."""

    def __init__(self) -> None:
        self._by_set: dict[int, dict[int, str]] = {}

    def find(self, item_set_id: int, example_id: int) -> str:
        if item_set_id not in self._by_set:
            items = Item.objects.filter(item_set_id=item_set_id)
            self._by_set[item_set_id] = dict(items.values_list("example_id", "source_id"))
        return self._by_set[item_set_id][example_id]


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


def _json_lines(rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _csv_lines(rows: Iterable[Row]) -> Iterator[str]:
    """Lists are JSON in their cell, so that no answer can pass for a formula."""
    yield _csv_line(COLUMNS)
    for row in rows:
        yield _csv_line([_cell(row[name]) for name in COLUMNS])


def _cell(value: object) -> object:
    if isinstance(value, list | bool):
        return json.dumps(value, ensure_ascii=False)
    return value


def _csv_line(fields: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(fields)
    return line.getvalue()

"""Judgements as they were given, with their scores: pseudonymous, one row each, with checksums.

Every row ends with a running checksum: SHA-256 over the checksum of the row before (nothing
in the first) and the row's other fields as JSON, keys sorted, without spaces, in ASCII. So
the last one vouches for all rows, and both formats carry the same ones. (In CSV a text that a
spreadsheet would compute has an apostrophe before it, which the checksums know nothing of.)
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from typing import Any

from django.db.models import QuerySet

from annotation.jobs import files, queue
from annotation.models import CHECK, Assignment, Gold, GoldVersion, Item, Job, Judgement, Study
from annotation.models.assignment import AssignmentQuerySet
from annotation.models.errors import Refusal
from scoring.core.normalisation import as_compared
from scoring.core.s1 import REFERENCE_POLICIES, score_one
from scoring.tables.documents import csv_line
from scoring.tables.table import Column, columns_in

Row = dict[str, Any]
Rows = QuerySet[Judgement, tuple[Any, ...]]


@dataclass(frozen=True)
class Chosen:
    simulated: bool = False
    with_excluded: bool = False

    def assignments(self, study: Study) -> AssignmentQuerySet:
        chosen = Assignment.objects.filter(study=study)
        chosen = chosen if self.simulated else chosen.of_people()
        return chosen if self.with_excluded else chosen.filter(exclusion__isnull=True)


PEOPLE = Chosen()


# With where the database has each, and whether readers have it who may not see the gold:
# exported_judgements.toml. Neither external ids nor gold are among them.
COLUMNS = tuple(columns_in(__file__, "judgement").values())
# What follows from the others.
DERIVED = (
    *("item", "s1_set", "s1_any", "scored_gold_version", "scorer_version"),
    *("set_checksum", "checksum"),
)
# Used only to find an item's id, the checksum of its set and its gold.
_HIDDEN = {
    "task_id": "assignment__batch__task_id",
    "normalisation": "assignment__batch__task__normalisation",
    "example": "example_id",
    "check_task": "assignment__batch__check_set__task__slug",
    "check_task_id": "assignment__batch__check_set__task_id",
    "check_normalisation": "assignment__batch__check_set__task__normalisation",
    "check_gold_version": "assignment__batch__check_gold_version__number",
    "check_set": "assignment__batch__check_set_id",
    "check_checksum": "assignment__batch__check_set__checksum",
    "training_set": "assignment__batch__training_set_id",
    "test_set": "assignment__batch__test_set_id",
    "training_checksum": "assignment__batch__training_set__checksum",
    "test_checksum": "assignment__batch__test_set__checksum",
}
FORMATS = ("jsonl", "csv")
ASSIGNMENTS_AT_ONCE = 20


# Made once: of a million rows each has four.
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
_as_json = json.JSONEncoder(ensure_ascii=False).encode


def export_judgements(study: Study, file_format: str, chosen: Chosen = PEOPLE) -> Iterator[str]:
    """The judgements of a study, line by line, in the order batch, assignment, step."""
    rows = with_checksums(judgement_rows(study, chosen))
    if file_format == "csv":
        return csv_lines(COLUMNS, rows)
    return (_as_json(row) + "\n" for row in rows)


def judgement_rows(study: Study, chosen: Chosen = PEOPLE) -> Iterator[Row]:
    """The rows without their checksums, read a piece at a time: on SQLite nothing could be written
    past a cursor that stays open."""
    stored = {one.key: one.source or one.key for one in COLUMNS if one.key not in DERIVED}
    names = [*stored, *_HIDDEN]
    values = Judgement.objects.order_by(
        "assignment__batch_id", "assignment_id", "step"
    ).values_list(*stored.values(), *_HIDDEN.values())
    # Sets and tasks are read one after another, each once.
    item_ids, golds = cache(_item_ids), cache(_golds)
    scorer_version = study.frozen.get("scorer_version")
    for values_of_row in _pieces(values, chosen.assignments(study)):
        row = dict(zip(names, values_of_row, strict=True))
        hidden = {name: row.pop(name) for name in _HIDDEN}
        role = row["role"]
        if role == CHECK:
            row |= {"task": hidden["check_task"], "gold_version": hidden["check_gold_version"]}
            hidden["task_id"] = hidden["check_task_id"]
            hidden["normalisation"] = hidden["check_normalisation"]
        row["shots"] = row["shots"] or 0
        row["excluded"] = row["excluded"] is not None
        for name in ("shown_at", "submitted_at", "resume_renewed_at"):
            row[name] = _plain(row[name])
        row["scored_gold_version"], of_task = golds(hidden["task_id"])
        given, gold = as_compared(
            row["answer"], of_task[hidden["example"]], hidden["normalisation"]
        )
        row |= {f"s1_{p}": score_one(given, gold, references=p) for p in REFERENCE_POLICIES}
        row["item"] = item_ids(hidden[f"{role}_set"])[hidden["example"]]
        row["scorer_version"] = scorer_version
        row["set_checksum"] = hidden[f"{role}_checksum"]
        yield {one.key: row[one.key] for one in COLUMNS[:-1]}


def _pieces(values: Rows, chosen: AssignmentQuerySet) -> Iterator[tuple[Any, ...]]:
    assignments = list(chosen.order_by("batch_id", "pk").values_list("pk", flat=True))
    for start in range(0, len(assignments), ASSIGNMENTS_AT_ONCE):
        some = assignments[start : start + ASSIGNMENTS_AT_ONCE]
        yield from list(values.filter(assignment__in=some))


def with_checksums(rows: Iterable[Row]) -> Iterator[Row]:
    before = ""
    for row in rows:
        before = sha256((before + _canonical(row)).encode()).hexdigest()
        yield {**row, "checksum": before}


def _item_ids(item_set_id: int) -> dict[int, str]:
    items = Item.objects.filter(item_set_id=item_set_id)
    return dict(items.values_list("example_id", "source_id"))


def _golds(task_id: int) -> tuple[int, dict[int, list[list[str]]]]:
    """A task's gold in force, which the tables are scored by, and its version."""
    version = GoldVersion.objects.filter(task_id=task_id).latest("number").number
    golds = Gold.objects.filter(version__task_id=task_id, version__number__lte=version)
    rows = golds.order_by("version__number")
    return version, {gold.example_id: gold.alternative_texts() for gold in rows.iterator()}


def csv_lines(columns: Sequence[Column], rows: Iterable[Row]) -> Iterator[str]:
    """Of rows by the columns' keys. Lists are JSON, so that no answer can pass for a formula."""
    yield csv_line(one.key for one in columns)
    for row in rows:
        yield csv_line([_cell(one, row[one.key]) for one in columns])


def dictionary_lines(columns: Iterable[Column]) -> Iterator[str]:
    yield csv_line(["column", "meaning"])
    yield from (csv_line([one.key, one.meaning]) for one in columns)


def _cell(column: Column, value: Any) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and column.digits is not None:
        return f"{value:.{column.digits}f}"
    return _as_json(value) if isinstance(value, list) else _plain(value)


def _plain(value: Any) -> Any:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value


JOB = "export_judgements"
TELLS_EVERY = 2_000


def judgements_file(study: Study, file_format: str, chosen: Chosen = PEOPLE) -> files.FileOrder:
    arguments = {"format": file_format, **asdict(chosen)}
    return files.FileOrder(JOB, study, arguments, answers=_judgements(study))


@queue.runs(JOB)
def make_file(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: study, its id, and format."""
    study = Study.objects.filter(pk=job.arguments["study"]).first()
    file_format = job.arguments["format"]
    if study is None or file_format not in FORMATS:
        raise Refusal("The study is no longer there.")
    chosen = Chosen(*(job.arguments[name] for name in ("simulated", "with_excluded")))
    lines = _lines(study, file_format, chosen, progress)
    return files.keep(job, file_name(study, file_format), lines)


def file_name(study: Study, file_format: str) -> str:
    return f"{study.slug}-judgements.{file_format}"


def _lines(
    study: Study, file_format: str, chosen: Chosen, progress: queue.Progress
) -> Iterator[bytes]:
    total = _judgements(study)
    for number, line in enumerate(export_judgements(study, file_format, chosen)):
        if number % TELLS_EVERY == 0:
            progress(min(number, total), total)
        yield line.encode()


def _judgements(study: Study) -> int:
    return Judgement.objects.filter(assignment__study=study).count()

"""Judgements as they were given, with their scores: pseudonymous, one row each, with checksums.

Every row ends with a running checksum: SHA-256 over the checksum of the row before (nothing
in the first) and the row's other fields as JSON, keys sorted, without spaces, in ASCII. So
the last one vouches for all rows, and both formats carry the same ones. (In CSV a text that a
spreadsheet would compute has an apostrophe before it, which the checksums know nothing of.)
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache, partial
from hashlib import sha256
from operator import itemgetter
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import TextField
from django.db.models.functions import Cast

from annotation.jobs import files, queue
from annotation.models import CHECK, Assignment, Gold, GoldVersion, Item, Job, Judgement, Study
from annotation.models.assignment import AssignmentQuerySet
from annotation.models.errors import Refusal
from scoring.core.normalisation import as_compared
from scoring.core.s1 import REFERENCE_POLICIES, SCORER_VERSION, score_one
from scoring.tables.documents import csv_line
from scoring.tables.table import Column, columns_in

Row = dict[str, Any]


@dataclass(frozen=True)
class Chosen:
    simulated: bool = False
    with_excluded: bool = False

    def assignments(self, study: Study) -> AssignmentQuerySet:
        chosen = Assignment.objects.filter(study=study)
        chosen = chosen if self.simulated else chosen.in_places()
        return chosen if self.with_excluded else chosen.filter(exclusion__isnull=True)


PEOPLE = Chosen()


# With where the database has each, and whether readers have it who may not see the gold:
# exported_judgements.toml. Neither external ids nor gold are among them.
COLUMNS = tuple(columns_in(__file__, "judgement").values())
_ROLES = (CHECK, "training", "test")
# What all answers of an assignment share: the rest of what is read is hidden, and used only to find
# the items, the checksum of their set, and their gold.
_OF_ASSIGNMENT = {
    **{
        column.key: column.source.removeprefix("assignment__") if "__" in column.source else "pk"
        for column in COLUMNS
        if column.source.startswith("assignment")
    },
    "task_id": "batch__task_id",
    "normalisation": "batch__task__normalisation",
    "check_task": "batch__check_set__task__slug",
    "check_task_id": "batch__check_set__task_id",
    "check_normalisation": "batch__check_set__task__normalisation",
    "check_gold_version": "batch__check_gold_version__number",
    **{f"{role}_set": f"batch__{role}_set_id" for role in _ROLES},
    **{f"{role}_checksum": f"batch__{role}_set__checksum" for role in _ROLES},
}
_OF_CHECK = ("task", "task_id", "normalisation", "gold_version")
# What differs: found once for all who answered alike; numbers, or nothing; texts without quotation
# marks in them.
_SEEN = ("decoy", "translated")
_OF_ANSWER = ("identity", "content_hash", "item", "answer", "spans", *_SEEN, "s1_set", "s1_any")
_NUMBERS = ("step", "paid_ms", "browser_ms", "first_action_ms", "active_ms", "pastes", "typed")
_TIMES = ("shown_at", "submitted_at")
_PLAIN = (*_TIMES, "checksum")
_GAPS = (*_OF_ANSWER, *_NUMBERS, *_PLAIN)
# JSON as the database writes it: it is read once for all who answered alike.
_AS_TEXT = [Cast(name, TextField()) for name in ("answer", "spans")]
_ANSWERED = len(_AS_TEXT) + len(_SEEN)
_READ: Sequence[str | Cast] = [
    *("assignment_id", "role", *_TIMES, "example_id"),
    *_AS_TEXT,
    *_SEEN,
    *_NUMBERS,
]
FORMATS = ("jsonl", "csv")
ASSIGNMENTS_AT_ONCE = 20
ANSWERS_KEPT, SETS_KEPT = 20_000, 8

# Made once: a million rows have them.
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
_as_json = json.JSONEncoder(ensure_ascii=False).encode


class _Form:
    """Writes rows by templates: what they share is written once, with gaps for the rest."""

    def __init__(
        self, keys: Sequence[str], row: Callable[[Row], str], cell: Callable[[Any], str]
    ) -> None:
        self._keys, self._row, self.cell = keys, row, cell
        self._none = cell(None)
        self._in_order = itemgetter(*(_GAPS.index(key) for key in keys if key in _GAPS))

    def template(self, shared: Row) -> str:
        # No database holds a NUL in a text. The gap of a plain text lies within quotation marks.
        row = shared | dict.fromkeys(_GAPS, "\0") | dict.fromkeys(_PLAIN, "\0\0")
        line = self._row({key: row[key] for key in self._keys}).replace("%", "%%")
        line = line.replace(self.cell("\0\0").strip('"'), "%s")
        return line.replace(self.cell("\0"), "%s")

    def line(
        self, template: str, cells: Sequence[str], numbers: Iterable[int | None], *plain: str
    ) -> str:
        scores = [self._none if number is None else number for number in numbers]
        filled: str = template % self._in_order((*cells, *scores, *plain))
        return filled


_KEYS = tuple(column.key for column in COLUMNS)
_CHECKED = _Form(sorted(_KEYS[:-1]), _canonical, _canonical)
# A task, its normalisation, and an item set.
_Asked = tuple[int, str, int]


class _Scoring:
    """What follows for the rows of one export from what was asked and answered. Tasks and sets come
    one after another."""

    def __init__(self, form: _Form) -> None:
        self._forms = (_CHECKED, form)
        self._items, self._golds = lru_cache(SETS_KEPT)(_items), lru_cache(SETS_KEPT)(_golds)
        self.cells = lru_cache(ANSWERS_KEPT)(self._cells)

    def templates(self, assignment: Row, role: str) -> tuple[_Asked, list[str]]:
        row = assignment | {"role": role, "set_checksum": assignment[f"{role}_checksum"]}
        if role == CHECK:
            row |= {name: row[f"check_{name}"] for name in _OF_CHECK}
        asked = (row["task_id"], row["normalisation"], row[f"{role}_set"])
        scored_by, _ = self._golds(row["task_id"])
        row |= {"scored_gold_version": scored_by, "scorer_version": SCORER_VERSION}
        return asked, [form.template(row) for form in self._forms]

    def _cells(
        self, asked: _Asked, example: int, answer: str, spans: str, *seen: bool | None
    ) -> list[list[str]]:
        task_id, normalisation, item_set = asked
        read, (_, golds) = json.loads(answer), self._golds(task_id)
        texts, gold = as_compared(read, golds[example], normalisation)
        scores = [score_one(texts, gold, references=policy) for policy in REFERENCE_POLICIES]
        values = (*self._items(item_set)[example], read, json.loads(spans), *seen, *scores)
        return [list(map(form.cell, values)) for form in self._forms]


def export_judgements(study: Study, file_format: str, chosen: Chosen = PEOPLE) -> Iterator[str]:
    """The judgements of a study, line by line, in the order batch, assignment, step."""
    form = _FORMS[file_format]
    if file_format == "csv":
        yield csv_line(_KEYS)
    scoring = _Scoring(form)
    before = ""
    for assignment, rows in _by_assignment(chosen.assignments(study)):
        templates = cache(partial(scoring.templates, assignment))
        for _, role, shown_at, submitted_at, example, *rest in rows:
            answered, numbers = rest[:_ANSWERED], rest[_ANSWERED:]
            asked, (as_checked, as_told) = templates(role)
            checked, scores = scoring.cells(asked, example, *answered)
            times = (_plain(shown_at), _plain(submitted_at))
            line = _CHECKED.line(as_checked, checked, numbers, *times)
            before = sha256((before + line).encode()).hexdigest()
            yield form.line(as_told, scores, numbers, *times, before)


def _by_assignment(chosen: AssignmentQuerySet) -> Iterator[tuple[Row, list[tuple[Any, ...]]]]:
    """Each with its judgements, a few read at once: on SQLite nothing could be written past a
    cursor that stays open."""
    pks = list(chosen.order_by("batch_id", "pk").values_list("pk", flat=True))
    for start in range(0, len(pks), ASSIGNMENTS_AT_ONCE):
        some = pks[start : start + ASSIGNMENTS_AT_ONCE]
        known = {row["assignment"]: row for row in _assignments(some)}
        judged = defaultdict(list)
        rows = Judgement.objects.filter(assignment__in=some).values_list(*_READ)
        # An index has them in this order.
        for row in rows.order_by("assignment_id", "step"):
            judged[row[0]].append(row)
        yield from ((known[pk], judged[pk]) for pk in some if pk in judged)


def _assignments(pks: Sequence[int]) -> Iterator[Row]:
    assignments = Assignment.objects.filter(pk__in=pks)
    for values in assignments.values_list(*_OF_ASSIGNMENT.values()):
        row = dict(zip(_OF_ASSIGNMENT, values, strict=True))
        row |= {"shots": row["shots"] or 0, "excluded": row["excluded"] is not None}
        yield row | {"resume_renewed_at": _plain(row["resume_renewed_at"])}


def _items(item_set_id: int) -> dict[int, tuple[str, str, str]]:
    """The identity, the hash of its content and its id in this set, by example."""
    names = ("example_id", "example__identity", "example__content_hash", "source_id")
    items = Item.objects.filter(item_set_id=item_set_id).order_by()
    return {example: values for example, *values in items.values_list(*names)}


def _golds(task_id: int) -> tuple[int, dict[int, list[list[str]]]]:
    """A task's gold in force, which the tables are scored by, and its version."""
    version = GoldVersion.objects.filter(task_id=task_id).latest("number").number
    golds = Gold.objects.filter(version__task_id=task_id, version__number__lte=version)
    rows = golds.order_by("version__number")
    return version, {gold.example_id: gold.alternative_texts() for gold in rows.iterator()}


def csv_lines(columns: Sequence[Column], things: Iterable[object]) -> Iterator[str]:
    """What the columns show of each. Lists are JSON, so that no answer can pass for a formula."""
    yield csv_line(column.key for column in columns)
    for thing in things:
        yield csv_line([_cell(column.value_of(thing), column.digits) for column in columns])


def json_rows(columns: Sequence[Column], things: Iterable[object]) -> Iterator[Row]:
    return ({column.key: column.value_of(thing) for column in columns} for thing in things)


def json_lines(rows: Iterable[Row]) -> Iterator[str]:
    return (json.dumps(row, ensure_ascii=False, cls=DjangoJSONEncoder) + "\n" for row in rows)


def dictionary_lines(columns: Iterable[Column]) -> Iterator[str]:
    yield csv_line(["column", "meaning"])
    yield from (csv_line([column.key, column.meaning]) for column in columns)


def _cell(value: Any, digits: int | None = None) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and digits is not None:
        return f"{value:.{digits}f}"
    return _as_json(value) if isinstance(value, list) else _plain(value)


def _plain(value: Any) -> Any:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value


def _csv_cell(value: Any) -> str:
    """The value as it stands in a line: one that is empty and alone would be quoted."""
    return csv_line([_cell(value), ""]).removesuffix(",\n")


_FORMS = {
    "jsonl": _Form(_KEYS, lambda row: _as_json(row) + "\n", _as_json),
    "csv": _Form(_KEYS, lambda row: csv_line(map(_cell, row.values())), _csv_cell),
}


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

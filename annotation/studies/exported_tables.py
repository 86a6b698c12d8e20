"""What leaves a study as CSV: its tables, and beside each a dictionary of its columns. People stand
under pseudonyms; their ids leave by a table of their own, for owners, with a line in the log."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Min, Q, Sum

from annotation.access.rights import Right
from annotation.models import ChangeAction, Comment, Gold, Item, Study
from annotation.models.access import record
from annotation.studies.exported_judgements import (
    COLUMNS,
    PEOPLE,
    Chosen,
    csv_lines,
    dictionary_lines,
    export_judgements,
    json_lines,
    json_rows,
)
from scoring.tables.documents import csv_line
from scoring.tables.table import OPEN, Table, columns_in, lines_of, table_in

# So many rows are read from the database at once.
PIECE = 500


@dataclass(frozen=True)
class Export:
    """One table, and what reads the things of its lines (nothing: they are judgements). It takes
    the right, the permission, and where a column of it is not open, the right to see the gold."""

    table: Table
    reads: Callable[[Study, Chosen], Iterable[Any]] | None
    right: Right = Right.PEOPLE
    permission: str = "annotation.view_assignment"

    @property
    def rights(self) -> tuple[Right, ...]:
        is_open = all(column.without_gold == OPEN for column in self.table.columns)
        return (self.right,) if is_open else (self.right, Right.GOLD)

    def lines(self, study: Study, chosen: Chosen = PEOPLE, form: str = "csv") -> Iterator[str]:
        if self.reads is None:
            return export_judgements(study, form, chosen)
        things, columns = self.reads(study, chosen), self.table.columns
        holds_items = self.reads is _items
        if form == "jsonl":
            rows = json_rows(columns, things)
            return json_lines(study.benchmark.headed(rows) if holds_items else rows)
        lines = csv_lines(columns, things)
        canary = study.benchmark.canary if holds_items else ""
        return chain([csv_line([f"# {canary}"])] if canary else [], lines)

    def filled(self, study: Study, chosen: Chosen) -> Table:
        """The table with its lines, as a workbook has them: lists as JSON, times as texts."""
        rows = map(json.loads, self.lines(study, chosen, "jsonl"))
        cells = ({one.key: _cell(row[one.key]) for one in self.table.columns} for row in rows)
        return replace(self.table, lines=lines_of(cells))

    def dictionary(self) -> Iterator[str]:
        return dictionary_lines(self.table.columns)


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def _assignments(study: Study, chosen: Chosen) -> Iterator[Any]:
    related = ("batch__training_set", "batch__test_set", "batch__check_set", "batch__pool")
    people = ("annotator__channel", "exclusion", "summary", "batch__task", "batch__gold_version")
    return _pieces(chosen.assignments(study).select_related(*people, *related))


def _people(study: Study, chosen: Chosen) -> Iterable[Any]:
    completed = Count("pk", filter=Q(outcome="completed"))
    return (
        chosen.assignments(study)
        .order_by("annotator__pseudonym")
        .values("annotator__pseudonym", "annotator__channel__slug", "batch__pool__slug")
        .annotate(Count("pk"), Min("joined_at"), Sum("paid_ms"), completed=completed)
        .annotate(is_erased=Q(annotator__erased_at__isnull=False))
    )


def _items(study: Study, chosen: Chosen) -> Iterator[Any]:
    """Every item that the study's batches show or ask, with its gold as it stands."""
    batches = study.batches.select_related("check_set", "training_set", "test_set")
    shown = [one for each in batches for one in (each.check_set, each.training_set, each.test_set)]
    sets = {item_set.pk: item_set for item_set in shown if item_set}
    for item_set in sets.values():
        items = Item.objects.filter(item_set=item_set).select_related("example")
        for item in _pieces(items.prefetch_related("example__golds__version")):
            gold: Gold = max(item.example.golds.all(), key=lambda gold: gold.version.number)
            texts = gold.alternative_texts()
            if study.benchmark.keeps_texts:
                item.example.context, item.example.question = [], ""
                item.example.candidates, item.example.options = [], []
                item.example.images = []
            yield {"set": item_set, "item": item, "gold": gold, "texts": texts}


def _problems(study: Study, chosen: Chosen) -> Iterator[Any]:
    """What annotators reported, in their own words; of everybody whose work is exported."""
    comments = Comment.objects.filter(assignment__in=chosen.assignments(study).values("pk"))
    related = ("assignment__annotator", "assignment__batch__task", "example")
    return _pieces(comments.select_related(*related))


def _ids(study: Study, chosen: Chosen) -> Iterator[Any]:
    related = ("annotator__channel", "latest_submission")
    rows = chosen.assignments(study).select_related(*related)
    return _pieces(rows.prefetch_related("submissions"))


def _pieces(rows: Any) -> Iterator[Any]:
    """Yield rows by key, a piece at a time: no cursor stays open between them."""
    last, is_full = 0, True
    while is_full:
        piece = list(rows.filter(pk__gt=last).order_by("pk")[:PIECE])
        yield from piece
        is_full = len(piece) == PIECE
        last = piece[-1].pk if piece else last


_OF_JUDGEMENTS = {column.key: column for column in COLUMNS}


def _table(name: str) -> Table:
    """A column without a meaning is described among the judgements, and read from another thing."""
    columns = (
        column if column.meaning else replace(_OF_JUDGEMENTS[column.key], source=column.source)
        for column in columns_in(__file__, name).values()
    )
    return table_in(__file__, name, columns)


_LINES = table_in(__file__, "judgements", (replace(column, source="") for column in COLUMNS))
EXPORTS = {
    export.table.name: export
    for export in (
        Export(_LINES, None, permission="annotation.view_judgement"),
        Export(_table("assignments"), _assignments),
        Export(_table("people"), _people),
        Export(_table("items"), _items, Right.GOLD, "annotation.view_example"),
        Export(_table("problems"), _problems, permission="annotation.view_comment"),
    )
}
IDS = Export(_table("ids"), _ids, Right.IDS, "annotation.view_annotator")


@transaction.atomic
def export_ids(study: Study, chosen: Chosen = PEOPLE, *, by: User | None = None) -> Iterator[str]:
    """The ids, line by line. That they left, and with whom, is logged before the first line."""
    count = chosen.assignments(study).count()
    record(by, study, ChangeAction.IDS_EXPORTED, {}, {"assignments": count})
    return IDS.lines(study, chosen)

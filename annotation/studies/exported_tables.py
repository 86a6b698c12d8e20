"""What leaves a study as CSV: its tables, and beside each a dictionary of its columns.

People stand under pseudonyms. Their external ids leave by a table of their own, which only owners
get, and which leaves a line in the log. Rows are read a piece at a time.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Min, Q, Sum

from annotation.access.rights import Right
from annotation.models import ChangeAction, Comment, Gold, Item, Study
from annotation.models.access import record
from annotation.studies.exported_judgements import (
    MEANINGS,
    PEOPLE,
    Chosen,
    Row,
    csv_lines,
    dictionary_lines,
    judgement_rows,
    utc,
    with_checksums,
)

# So many rows are read from the database at once.
PIECE = 500
# By name what a column means, and where a row has it: by names in a row, or as a function finds it.
Columns = Mapping[str, tuple[str, str | Callable[[Any], Any]]]


@dataclass(frozen=True)
class Export:
    """One table. It takes all of these rights, and the permission."""

    name: str
    label: str
    about: str
    reads: Callable[[Study, Chosen], Iterable[Any]]
    described: Columns
    rights: tuple[Right, ...] = (Right.PEOPLE,)
    permission: str = "annotation.view_assignment"

    @property
    def columns(self) -> Mapping[str, str]:
        """What each means."""
        return {name: meaning for name, (meaning, _source) in self.described.items()}

    def rows(self, study: Study, chosen: Chosen = PEOPLE) -> Iterator[Row]:
        for row in self.reads(study, chosen):
            yield {name: _cell(row, source) for name, (_, source) in self.described.items()}

    def lines(self, study: Study, chosen: Chosen = PEOPLE) -> Iterator[str]:
        return csv_lines(list(self.described), self.rows(study, chosen))

    def dictionary(self) -> Iterator[str]:
        return dictionary_lines(self.columns)


def _cell(row: Any, source: str | Callable[[Any], Any]) -> Any:
    if callable(source):
        return source(row)
    for name in source.split("."):
        if row is not None:
            row = row[name] if isinstance(row, dict) else getattr(row, name)
    return utc(row) if isinstance(row, datetime) else row


def _judgements(study: Study, chosen: Chosen) -> Iterator[Row]:
    return with_checksums(judgement_rows(study, chosen))


def _assignments(study: Study, chosen: Chosen) -> Iterator[Any]:
    related = ("batch__training_set", "batch__test_set", "batch__gold_version")
    people = ("annotator__channel", "exclusion", "batch__task")
    return _pieces(chosen.assignments(study).select_related(*people, *related))


def _people(study: Study, chosen: Chosen) -> Iterable[Any]:
    """One row for each person, over their assignments in this study."""
    completed = Count("pk", filter=Q(outcome="completed"))
    return (
        chosen.assignments(study)
        .order_by("annotator__pseudonym")
        .values("annotator__pseudonym", "annotator__channel__slug", "annotator__erased_at")
        .annotate(Count("pk"), Min("joined_at"), Sum("paid_ms"), completed=completed)
    )


def _items(study: Study, chosen: Chosen) -> Iterator[Any]:
    """Every item that the study's batches show or ask, with its gold as it stands."""
    batches = study.batches.select_related("task", "training_set", "test_set")
    sets = {one.pk: one for batch in batches for one in (batch.training_set, batch.test_set) if one}
    for item_set in sets.values():
        items = Item.objects.filter(item_set=item_set).select_related("example")
        for item in _pieces(items.prefetch_related("example__golds__version")):
            item.item_set = item_set
            yield item


def _gold(item: Item) -> Gold:
    return max(item.example.golds.all(), key=lambda gold: gold.version.number)


def _problems(study: Study, chosen: Chosen) -> Iterator[Any]:
    """What annotators reported, in their own words; of everybody whose work is exported."""
    comments = Comment.objects.filter(assignment__in=chosen.assignments(study).values("pk"))
    related = ("assignment__annotator", "assignment__batch__task", "example")
    return _pieces(comments.select_related(*related))


def _ids(study: Study, chosen: Chosen) -> Iterator[Any]:
    return _pieces(chosen.assignments(study).select_related("annotator__channel"))


def _pieces(rows: Any) -> Iterator[Any]:
    """By key, a piece at a time: no cursor stays open between them."""
    last, is_full = 0, True
    while is_full:
        piece = list(rows.filter(pk__gt=last).order_by("pk")[:PIECE])
        yield from piece
        is_full = len(piece) == PIECE
        last = piece[-1].pk if piece else last


_ASSIGNMENTS: Columns = {
    "assignment": ("Number of the person's work on the batch.", "pk"),
    "annotator": ("Pseudonym of the person.", "annotator.pseudonym"),
    "simulated": ("true where a program works.", "is_simulated"),
    "excluded": ("true where a researcher excluded it.", lambda row: hasattr(row, "exclusion")),
    "task": ("Short name of the task.", "batch.task.slug"),
    "batch": ("Number of the batch.", "batch_id"),
    "shots": ("Training examples, 0 for none.", "batch.shots"),
    "split": ("Which of the shot sets of this size; empty where there is none.", "batch.split"),
    "episode": ("Number of the few-shot episode; empty elsewhere.", "batch.test_set.episode"),
    "gold_version": (
        "Version of the gold that is shown in training, and screened by.",
        "batch.gold_version.number",
    ),
    "state": ("description, answering, revealed or finished.", "state"),
    "step": ("The next item, counted from 0 over training and test.", "step"),
    "outcome": (
        "completed, screened_out, withdrawn, expired, displaced; empty while open.",
        "outcome",
    ),
    "training_score": ("Mean S1 of the first answers in training, in percent.", "training_score"),
    "passed": (
        "Whether the training was passed; empty before its end, or without training.",
        lambda row: row.screening.get("passed"),
    ),
    "joined_at": ("When the person joined (UTC).", "joined_at"),
    "training_ended_at": ("When the training ended (UTC).", "training_ended_at"),
    "finished_at": ("When the work ended (UTC).", "finished_at"),
    "paid_ms": ("Milliseconds counted for pay, with the study's caps.", "paid_ms"),
    "reveal_ms": ("Milliseconds spent on right answers in training.", "reveal_ms"),
    "resume_renewed_at": (
        "When a new personal link was handed out (UTC); empty for never.",
        "resume_renewed_at",
    ),
    "order_seed": ("Seed of the order in which this person sees the items.", "order_seed"),
}

_PEOPLE: Columns = {
    "annotator": ("Pseudonym of the person.", "annotator__pseudonym"),
    "channel": ("Where the person came from.", "annotator__channel__slug"),
    "assignments": ("Assignments in this study.", "pk__count"),
    "completed": ("Of these, the completed ones.", "completed"),
    "first_joined_at": ("When the person first joined (UTC).", "joined_at__min"),
    "paid_ms": ("Milliseconds counted for pay, over all of them.", "paid_ms__sum"),
    "erased": (
        "true where the person's identity was erased.",
        lambda row: row["annotator__erased_at"] is not None,
    ),
}

_ITEMS: Columns = {
    "task": ("Short name of the task.", "item_set.task.slug"),
    "set": ("Name of the item set.", "item_set.name"),
    "role": ("training or test.", "item_set.role"),
    "position": ("Position in the set; annotators see an order of their own.", "position"),
    "item": ("The id that the benchmark's file gives the item.", "source_id"),
    "identity": (
        "Name of the example: training by its content, test by its id.",
        "example.identity",
    ),
    "context": ("The text, a JSON list of segments.", "example.context"),
    "question": ("The question.", "example.question"),
    "candidates": (
        "JSON list of [segment, start, end] of the marked candidates.",
        "example.candidates",
    ),
    "labels": ("JSON list of the labels that the set offers.", "item_set.choices"),
    "gold": (
        "JSON list of alternatives, each a list of texts.",
        lambda row: _gold(row).alternative_texts(),
    ),
    "gold_version": ("The version that brought this gold.", lambda row: _gold(row).version.number),
    "content_hash": ("SHA-256 of the example's content.", "example.content_hash"),
    "context_hash": (
        "SHA-256 of its context; items that share one are one cluster.",
        "example.context_hash",
    ),
}

_PROBLEMS: Columns = {
    "annotator": ("Pseudonym of the person.", "assignment.annotator.pseudonym"),
    "assignment": ("Number of the person's work on the batch.", "assignment_id"),
    "task": ("Short name of the task.", "assignment.batch.task.slug"),
    "example": (
        "The example that it is about; empty for the whole.",
        lambda row: row.example.identity if row.example else "",
    ),
    "text": ("What the person wrote.", "text"),
    "written_at": ("When (UTC).", "written_at"),
}

_IDS: Columns = {
    "annotator": ("Pseudonym of the person.", "annotator.pseudonym"),
    "assignment": ("Number of the person's work on the batch.", "pk"),
    "channel": ("Where the person came from.", "annotator.channel.slug"),
    "external_id": ("The person's id there; empty once it was erased.", "annotator.external_id"),
    "submission_id": ("The id of the submission there, if the channel has one.", "submission_id"),
}

SCORED = (Right.PEOPLE, Right.GOLD)
EXPORTS = {
    export.name: export
    for export in (
        Export(
            "judgements",
            "Judgements",
            "Every answer with its time and its score under both reference policies.",
            _judgements,
            {name: (meaning, name) for name, meaning in MEANINGS.items()},
            SCORED,
            "annotation.view_judgement",
        ),
        Export(
            "assignments",
            "Assignments",
            "Who worked on what, how far, and how it ended.",
            _assignments,
            _ASSIGNMENTS,
        ),
        Export("people", "People", "One row for each person.", _people, _PEOPLE),
        Export(
            "items",
            "Items",
            "What was shown and asked, with its gold.",
            _items,
            _ITEMS,
            (Right.GOLD,),
            "annotation.view_example",
        ),
        Export(
            "problems",
            "Reported problems",
            "What people wrote about items, in their own words.",
            _problems,
            _PROBLEMS,
            SCORED,
            "annotation.view_comment",
        ),
    )
}
IDS = Export(
    "ids",
    "External ids",
    "Which person of the channel stands behind each pseudonym.",
    _ids,
    _IDS,
    (Right.IDS,),
    "annotation.view_annotator",
)


@transaction.atomic
def export_ids(study: Study, chosen: Chosen = PEOPLE, *, by: User | None = None) -> Iterator[str]:
    """The ids, line by line. That they left, and with whom, is logged before the first line."""
    count = chosen.assignments(study).count()
    record(by, study, ChangeAction.IDS_EXPORTED, {}, {"assignments": count})
    return IDS.lines(study, chosen)

"""What leaves a study as CSV: its tables, and beside each a dictionary of its columns. People stand
under pseudonyms; their ids leave by a table of their own, for owners, with a line in the log."""

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
    column,
    csv_lines,
    dictionary_lines,
    judgement_rows,
    open_column,
    with_checksums,
)
from scoring.tables.documents import csv_line
from scoring.tables.table import OPEN, Column, values_of

# So many rows are read from the database at once.
PIECE = 500
Reads = Callable[[Study, Chosen], Iterable[Any]]


@dataclass(frozen=True)
class Export:
    """One table, and what reads the things of its lines. It takes the right, the permission, and
    where a column of it is not open, the right to see the gold."""

    name: str
    label: str
    about: str
    reads: Reads
    columns: tuple[Column, ...]
    right: Right = Right.PEOPLE
    permission: str = "annotation.view_assignment"

    @property
    def rights(self) -> tuple[Right, ...]:
        is_open = all(one.without_gold == OPEN for one in self.columns)
        return (self.right,) if is_open else (self.right, Right.GOLD)

    def lines(self, study: Study, chosen: Chosen = PEOPLE) -> Iterator[str]:
        things = self.reads(study, chosen)
        lines = csv_lines(self.columns, (values_of(self.columns, thing) for thing in things))
        canary = study.benchmark.canary if self.reads is _items else ""
        return chain([csv_line([f"# {canary}"])] if canary else [], lines)

    def dictionary(self) -> Iterator[str]:
        return dictionary_lines(self.columns)


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
    sets = {one.pk: one for one in shown if one}
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


def _pieces(rows: Any) -> Iterator[Any]:
    """By key, a piece at a time: no cursor stays open between them."""
    last, is_full = 0, True
    while is_full:
        piece = list(rows.filter(pk__gt=last).order_by("pk")[:PIECE])
        yield from piece
        is_full = len(piece) == PIECE
        last = piece[-1].pk if piece else last


_OF_JUDGEMENTS = {one.key: one for one in COLUMNS}


def _same(key: str, source: str = "") -> Column:
    """As it is described among the judgements, read from another thing."""
    return replace(_OF_JUDGEMENTS[key], source=source)


_ASSIGNMENTS = (
    _same("assignment", "pk"),
    _same("annotator", "annotator.pseudonym"),
    open_column("simulated", "true where a program works.", "is_simulated"),
    open_column("excluded", "true where a researcher excluded it.", "is_excluded"),
    _same("task", "batch.task.slug"),
    _same("batch", "batch_id"),
    _same("pool", "batch.pool.slug"),
    open_column("shots", "Training examples, 0 for none.", "batch.shots"),
    _same("split", "batch.split"),
    _same("episode", "batch.test_set.episode"),
    open_column(
        "gold_version",
        "Version of the gold that is shown in training, and screened by.",
        "batch.gold_version.number",
    ),
    open_column("state", "description, answering, revealed or finished."),
    open_column("step", "The next item, counted from 0 over checks, training and test."),
    _same("outcome"),
    open_column("check_set", "Name of the set of checks.", "batch.check_set.name"),
    open_column(
        "check_score",
        "Mean S1 of the checks, in percent; empty before their end, or without checks.",
        "check_screening.score",
    ),
    open_column("check_floor", "The least share that passes, in percent.", "check_screening.floor"),
    open_column("check_passed", "Whether the checks were passed.", "check_screening.passed"),
    open_column("training_score", "Mean S1 of the first answers in training, in percent."),
    open_column(
        "passed",
        "Whether the training was passed; empty before its end, or without training.",
        "screening.passed",
    ),
    open_column("joined_at", "When the person joined (UTC)."),
    open_column("training_ended_at", "When the training ended (UTC)."),
    open_column("finished_at", "When the work ended (UTC)."),
    open_column("paid_ms", "Milliseconds counted for pay, with the study's caps."),
    open_column("reveal_ms", "Milliseconds spent on right answers in training."),
    _same("resume_renewed_at"),
    open_column("order_seed", "Seed of the order in which this person sees the items."),
    open_column(
        "signs",
        "Signs that the answers are a program's, when last looked at.",
        "summary.sign_names",
    ),
)

_PEOPLE = (
    _same("annotator", "annotator__pseudonym"),
    open_column("channel", "Where the person came from.", "annotator__channel__slug"),
    _same("pool", "batch__pool__slug"),
    open_column("assignments", "Assignments in this study.", "pk__count"),
    open_column("completed", "Of these, the completed ones."),
    open_column("first_joined_at", "When the person first joined (UTC).", "joined_at__min"),
    open_column("paid_ms", "Milliseconds counted for pay, over all of them.", "paid_ms__sum"),
    open_column("erased", "true where the person's identity was erased.", "is_erased"),
)


def _of_example(key: str, meaning: str) -> Column:
    return column(key, meaning, f"item.example.{key}")


_ITEMS = (
    column("task", "Short name of the task.", "set.task.slug"),
    column("set", "Name of the item set.", "set.name"),
    column("role", "training or test.", "set.role"),
    column(
        "position", "Position in the set; annotators see an order of their own.", "item.position"
    ),
    _same("item", "item.source_id"),
    _same("identity", "item.example.identity"),
    _of_example("context", "The text, a JSON list of segments."),
    _of_example("question", "The question."),
    _of_example("candidates", "JSON list of [segment, start, end] of the marked candidates."),
    _of_example(
        "options", "JSON list of the item's own options; its gold is their numbers, from 0."
    ),
    _of_example(
        "images",
        "JSON list of the images beside the text: checksum of the benchmark’s file, text, size.",
    ),
    column("labels", "JSON list of the labels that the set offers.", "set.choices"),
    _of_example("groups", "JSON object of what the item belongs to, such as its subject."),
    column("gold", "JSON list of alternatives, each a list of texts.", "texts"),
    column("gold_version", "The version that brought this gold.", "gold.version.number"),
    _same("content_hash", "item.example.content_hash"),
    _of_example("context_hash", "SHA-256 of its context; items that share one are one cluster."),
)

_PROBLEMS = (
    _same("annotator", "assignment.annotator.pseudonym"),
    _same("assignment", "assignment_id"),
    _same("task", "assignment.batch.task.slug"),
    column("example", "The example that it is about; empty for the whole.", "example.identity"),
    column("text", "What the person wrote."),
    open_column("written_at", "When (UTC)."),
)

_IDS = (
    _same("annotator", "annotator.pseudonym"),
    _same("assignment", "pk"),
    open_column("channel", "Where the person came from.", "annotator.channel.slug"),
    open_column(
        "external_id", "The person's id there; empty once it was erased.", "annotator.external_id"
    ),
    open_column("submission_id", "The id of the submission there, if the channel has one."),
)

EXPORTS = {
    export.name: export
    for export in (
        Export(
            "judgements",
            "Judgements",
            "Every answer with its time and its score under both reference policies.",
            lambda study, chosen: with_checksums(judgement_rows(study, chosen)),
            tuple(replace(one, source="") for one in COLUMNS),
            permission="annotation.view_judgement",
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
            Right.GOLD,
            "annotation.view_example",
        ),
        Export(
            "problems",
            "Reported problems",
            "What people wrote about items, in their own words.",
            _problems,
            _PROBLEMS,
            permission="annotation.view_comment",
        ),
    )
}
IDS = Export(
    "ids",
    "External ids",
    "Which person of the channel stands behind each pseudonym.",
    lambda study, chosen: _pieces(chosen.assignments(study).select_related("annotator__channel")),
    _IDS,
    Right.IDS,
    "annotation.view_annotator",
)


@transaction.atomic
def export_ids(study: Study, chosen: Chosen = PEOPLE, *, by: User | None = None) -> Iterator[str]:
    """The ids, line by line. That they left, and with whom, is logged before the first line."""
    count = chosen.assignments(study).count()
    record(by, study, ChangeAction.IDS_EXPORTED, {}, {"assignments": count})
    return IDS.lines(study, chosen)

"""What leaves a study as CSV: its tables, and beside each a dictionary of its columns.

People stand under pseudonyms. Their external ids leave by a table of their own, which only owners
get, and which leaves a line in the log. Rows are read a piece at a time.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Min, Q, Sum
from django.utils.functional import Promise

from annotation.access.rights import Right
from annotation.models import Assignment, Batch, ChangeAction, Comment, Item, ItemSet, Study
from annotation.models.access import record
from annotation.studies.dictionary import COLUMNS
from annotation.studies.exporting import (
    PEOPLE,
    Chosen,
    Row,
    csv_lines,
    dictionary_lines,
    judgement_rows,
    utc,
    with_checksums,
)
from scoring.tables.table import Column

# So many rows are read from the database at once.
PIECE = 500


@dataclass(frozen=True)
class Export:
    """One table. It takes all of these rights, and the permission."""

    name: str
    label: str | Promise
    about: str | Promise
    rows: Callable[[Study, Chosen], Iterator[Row]]
    rights: tuple[Right, ...] = (Right.PEOPLE,)
    permission: str = "annotation.view_assignment"

    @property
    def columns(self) -> Sequence[Column]:
        return COLUMNS[self.name]

    def lines(self, study: Study, chosen: Chosen = PEOPLE) -> Iterator[str]:
        return csv_lines(self.columns, self.rows(study, chosen))

    def dictionary(self) -> Iterator[str]:
        return dictionary_lines(self.columns)


def checked_judgements(study: Study, chosen: Chosen) -> Iterator[Row]:
    return with_checksums(judgement_rows(study, chosen))


def assignment_rows(study: Study, chosen: Chosen) -> Iterator[Row]:
    assignments = chosen.assignments(study).select_related(
        *("annotator__channel", "exclusion", "batch__task"),
        *("batch__training_set", "batch__test_set", "batch__gold_version"),
    )
    for assignment in _pieces(assignments):
        yield _assignment_row(assignment, assignment.batch)


def _assignment_row(assignment: Assignment, batch: Batch) -> Row:
    return {
        "assignment": assignment.pk,
        "annotator": assignment.annotator.pseudonym,
        "simulated": assignment.is_simulated,
        "excluded": hasattr(assignment, "exclusion"),
        "task": batch.task.slug,
        "batch": batch.pk,
        "shots": batch.shots,
        "split": batch.split,
        "episode": batch.test_set.episode,
        "gold_version": batch.gold_version.number if batch.gold_version else None,
        "state": assignment.state,
        "step": assignment.step,
        "outcome": assignment.outcome,
        "training_score": assignment.training_score,
        "passed": assignment.screening.get("passed"),
        "joined_at": utc(assignment.joined_at),
        "training_ended_at": utc(assignment.training_ended_at),
        "finished_at": utc(assignment.finished_at),
        "paid_ms": assignment.paid_ms,
        "reveal_ms": assignment.reveal_ms,
        "resume_renewed_at": utc(assignment.resume_renewed_at),
        "order_seed": assignment.order_seed,
    }


def people_rows(study: Study, chosen: Chosen) -> Iterator[Row]:
    """One row for each person, over their assignments in this study."""
    completed = Count("pk", filter=Q(outcome="completed"))
    people = (
        chosen.assignments(study)
        .order_by("annotator__pseudonym")
        .values("annotator__pseudonym", "annotator__channel__slug", "annotator__erased_at")
        .annotate(Count("pk"), Min("joined_at"), Sum("paid_ms"), completed=completed)
    )
    for person in people:
        yield {
            "annotator": person["annotator__pseudonym"],
            "channel": person["annotator__channel__slug"],
            "assignments": person["pk__count"],
            "completed": person["completed"],
            "first_joined_at": utc(person["joined_at__min"]),
            "paid_ms": person["paid_ms__sum"],
            "erased": person["annotator__erased_at"] is not None,
        }


def item_rows(study: Study, chosen: Chosen) -> Iterator[Row]:
    """Every item that the study's batches show or ask, with its gold as it stands."""
    batches = study.batches.select_related("task", "training_set", "test_set")
    sets = {one.pk: one for batch in batches for one in (batch.training_set, batch.test_set) if one}
    for item_set in sets.values():
        yield from _items_of(item_set)


def _items_of(item_set: ItemSet) -> Iterator[Row]:
    items = Item.objects.filter(item_set=item_set).select_related("example")
    for item in _pieces(items.prefetch_related("example__golds__version")):
        example = item.example
        gold = max(example.golds.all(), key=lambda gold: gold.version.number)
        yield {
            "task": item_set.task.slug,
            "set": item_set.name,
            "role": item_set.role,
            "position": item.position,
            "item": item.source_id,
            "identity": example.identity,
            "context": example.context,
            "question": example.question,
            "candidates": example.candidates,
            "labels": item_set.choices,
            "gold": gold.alternative_texts(),
            "gold_version": gold.version.number,
            "content_hash": example.content_hash,
            "context_hash": example.context_hash,
        }


def problem_rows(study: Study, chosen: Chosen) -> Iterator[Row]:
    """What annotators reported, in their own words; of everybody whose work is exported."""
    comments = Comment.objects.filter(assignment__in=chosen.assignments(study).values("pk"))
    related = ("assignment__annotator", "assignment__batch__task", "example")
    for comment in _pieces(comments.select_related(*related)):
        yield {
            "annotator": comment.assignment.annotator.pseudonym,
            "assignment": comment.assignment_id,
            "task": comment.assignment.batch.task.slug,
            "example": comment.example.identity if comment.example else "",
            "text": comment.text,
            "written_at": utc(comment.written_at),
        }


def id_rows(study: Study, chosen: Chosen) -> Iterator[Row]:
    assignments = chosen.assignments(study).select_related("annotator__channel")
    for assignment in _pieces(assignments):
        yield {
            "annotator": assignment.annotator.pseudonym,
            "assignment": assignment.pk,
            "channel": assignment.annotator.channel.slug,
            "external_id": assignment.annotator.external_id,
            "submission_id": assignment.submission_id,
        }


def _pieces(rows: Any) -> Iterator[Any]:
    """By key, a piece at a time: no cursor stays open between them."""
    last, is_full = 0, True
    while is_full:
        piece = list(rows.filter(pk__gt=last).order_by("pk")[:PIECE])
        yield from piece
        is_full = len(piece) == PIECE
        last = piece[-1].pk if piece else last


SCORED = (Right.PEOPLE, Right.GOLD)
EXPORTS = {
    export.name: export
    for export in (
        Export(
            "judgements",
            "Judgements",
            "Every answer with its time and its score under both reference policies.",
            checked_judgements,
            SCORED,
            "annotation.view_judgement",
        ),
        Export(
            "assignments",
            "Assignments",
            "Who worked on what, how far, and how it ended.",
            assignment_rows,
        ),
        Export("people", "People", "One row for each person.", people_rows),
        Export(
            "items",
            "Items",
            "What was shown and asked, with its gold.",
            item_rows,
            (Right.GOLD,),
            "annotation.view_example",
        ),
        Export(
            "problems",
            "Reported problems",
            "What people wrote about items, in their own words.",
            problem_rows,
            SCORED,
            "annotation.view_comment",
        ),
    )
}
IDS = Export(
    "ids",
    "External ids",
    "Which person of the channel stands behind each pseudonym.",
    id_rows,
    (Right.IDS,),
    "annotation.view_annotator",
)


@transaction.atomic
def export_ids(study: Study, chosen: Chosen = PEOPLE, *, by: User | None = None) -> Iterator[str]:
    """The ids, line by line. That they left, and with whom, is logged before the first line."""
    count = chosen.assignments(study).count()
    record(by, study, ChangeAction.IDS_EXPORTED, {}, {"assignments": count})
    return IDS.lines(study, chosen)

"""One person's way through a study: what happened when, and each answer with its time."""

from collections.abc import Iterator
from datetime import datetime
from operator import itemgetter
from typing import Any

from annotation.kinds import answer_score, gold_in_force
from annotation.models import Assignment, Comment, Item, Role
from annotation.models.frozen import batch_content

Event = tuple[datetime, str]


def events(assignment: Assignment) -> list[Event]:
    """In the order in which they happened."""
    return sorted(_events(assignment), key=itemgetter(0))


def _events(assignment: Assignment) -> Iterator[Event]:
    if assignment.consented_at:
        yield assignment.consented_at, "agreed to take part"
    first = assignment.judgements.order_by("step").first()
    if first:
        yield first.submitted_at, "first answer"
    if assignment.training_ended_at:
        yield assignment.training_ended_at, "practice ended"
    if assignment.resume_renewed_at:
        yield assignment.resume_renewed_at, "was given a new personal link"
    for written_at in assignment.comments.values_list("written_at", flat=True):
        yield written_at, "reported a problem"
    if assignment.finished_at:
        outcome = assignment.get_outcome_display()
        yield assignment.finished_at, f"ended: {outcome}"
    yield from _marks(assignment)


def _marks(assignment: Assignment) -> Iterator[Event]:
    submission = getattr(assignment, "submission", None)
    if submission:
        status = submission.get_status_display()
        yield submission.status_at, f"on the platform: {status}"
    exclusion = getattr(assignment, "exclusion", None)
    if exclusion:
        yield exclusion.created_at, f"excluded: {exclusion.reason}"


def answers(assignment: Assignment, *, scored: bool) -> list[dict[str, Any]]:
    """`scored` only after the end, and for those who may see the gold: S1 in percent at the gold
    that the study started with."""
    given = list(assignment.judgements.order_by("step"))
    batch, content = assignment.batch, batch_content(assignment.batch_id)
    items = Item.objects.filter(
        item_set__in=filter(None, (batch.training_set_id, batch.test_set_id))
    )
    names = dict(items.values_list("example", "source_id"))
    asked = [judgement.example_id for judgement in given] if scored else []
    golds = gold_in_force(asked, content.task_id, content.gold_version)
    policy, how = content.reference_policy, content.normalisation
    return [
        {
            "step": one.step,
            "is_training": one.role == Role.TRAINING,
            "item": names.get(one.example_id, ""),
            "example_id": one.example_id,
            "texts": ", ".join(one.answer) or "none",
            "seconds": (one.submitted_at - one.shown_at).total_seconds(),
            "score": 100 * answer_score(one.answer, golds[one.example_id], policy, how)
            if scored
            else None,
            "pastes": one.pastes or 0,
        }
        for one in given
    ]


def comments(assignment: Assignment) -> list[Comment]:
    return list(assignment.comments.select_related("example").order_by("id"))

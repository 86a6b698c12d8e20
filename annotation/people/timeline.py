"""One person's way through a study: what happened when, and each answer with its time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from annotation.kinds.scoring import answer_score, gold_in_force
from annotation.models import Assignment, Comment, Gold, Item, Judgement, Role
from annotation.models.frozen import batch_content


@dataclass(frozen=True)
class Event:
    at: datetime
    text: str


@dataclass(frozen=True)
class Answer:
    step: int
    is_training: bool
    item: str
    example_id: int
    texts: str
    seconds: float
    # S1 in percent at the gold that the study started with; None where it is not told.
    score: float | None
    pastes: int


def events(assignment: Assignment) -> list[Event]:
    """In the order in which they happened."""
    return sorted(_events(assignment), key=lambda event: event.at)


def _events(assignment: Assignment) -> Iterator[Event]:
    if assignment.consented_at:
        yield Event(assignment.consented_at, "agreed to take part")
    first = assignment.judgements.order_by("step").first()
    if first:
        yield Event(first.submitted_at, "first answer")
    if assignment.training_ended_at:
        yield Event(assignment.training_ended_at, "practice ended")
    if assignment.resume_renewed_at:
        yield Event(assignment.resume_renewed_at, "was given a new personal link")
    for written_at in assignment.comments.values_list("written_at", flat=True):
        yield Event(written_at, "reported a problem")
    if assignment.finished_at:
        outcome = assignment.get_outcome_display()
        yield Event(assignment.finished_at, f"ended: {outcome}")
    yield from _marks(assignment)


def _marks(assignment: Assignment) -> Iterator[Event]:
    submission = getattr(assignment, "submission", None)
    if submission:
        status = submission.get_status_display()
        yield Event(submission.status_at, f"on the platform: {status}")
    exclusion = getattr(assignment, "exclusion", None)
    if exclusion:
        yield Event(exclusion.created_at, f"excluded: {exclusion.reason}")


def answers(assignment: Assignment, *, scored: bool) -> list[Answer]:
    """`scored` only after the end, and for those who may see the gold."""
    given = list(assignment.judgements.order_by("step"))
    names = _names(assignment)
    golds = _golds(assignment, given) if scored else {}
    return [
        Answer(
            step=judgement.step,
            is_training=judgement.role == Role.TRAINING,
            item=names.get(judgement.example_id, ""),
            example_id=judgement.example_id,
            texts=", ".join(judgement.answer) or "none",
            seconds=(judgement.submitted_at - judgement.shown_at).total_seconds(),
            score=_score(assignment, judgement, golds) if scored else None,
            pastes=judgement.pastes or 0,
        )
        for judgement in given
    ]


def comments(assignment: Assignment) -> list[Comment]:
    return list(assignment.comments.select_related("example").order_by("id"))


def _names(assignment: Assignment) -> dict[int, str]:
    batch = assignment.batch
    sets = [pk for pk in (batch.training_set_id, batch.test_set_id) if pk]
    items = Item.objects.filter(item_set__in=sets)
    return dict(items.values_list("example", "source_id"))


def _golds(assignment: Assignment, given: list[Judgement]) -> dict[int, Gold]:
    content = batch_content(assignment.batch_id)
    examples = [judgement.example_id for judgement in given]
    return gold_in_force(examples, content.task_id, content.gold_version)


def _score(assignment: Assignment, judgement: Judgement, golds: Mapping[int, Gold]) -> float:
    content = batch_content(assignment.batch_id)
    gold = golds[judgement.example_id]
    return 100 * answer_score(
        judgement.answer, gold, content.reference_policy, content.normalisation
    )

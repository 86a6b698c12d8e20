"""Judging: every step of an assignment from consent to the last answer.

Each act takes the step number that its form carried. A repeated or stale form changes
nothing; the page shown afterwards is always the assignment's current one.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction

from annotation.kinds.answers import RawAnswer, read_answer
from annotation.models import Assignment, Judgement, Outcome, Role, WorkState
from annotation.models.frozen import FrozenExample, batch_content, sequence
from annotation.work.finishing import finish
from annotation.work.paying import paid_ms
from annotation.work.places import holds_place, renew_lease
from annotation.work.qualifying import qualify


@dataclass(frozen=True)
class BrowserTimes:
    """The browser's own account of one answer, in milliseconds; None where it has none."""

    browser_ms: int | None = None
    first_action_ms: int | None = None
    active_ms: int | None = None


def notice_displacement(assignment: Assignment, *, at: datetime) -> None:
    """Tell those who come back too late before they do any more work."""
    if not assignment.is_finished and not holds_place(assignment):
        finish(assignment, Outcome.DISPLACED, at=at)


def give_consent(assignment: Assignment, *, at: datetime) -> None:
    if assignment.state == WorkState.CONSENT and _holds_place(assignment, at):
        _move(assignment, WorkState.CONSENT, at=at, state=WorkState.DESCRIPTION, consented_at=at)


def decline(assignment: Assignment, *, at: datetime) -> None:
    if assignment.state == WorkState.CONSENT:
        finish(assignment, Outcome.DECLINED, at=at)


def begin(assignment: Assignment, *, at: datetime) -> None:
    """From the task description to the first example."""
    if assignment.state != WorkState.DESCRIPTION or not _holds_place(assignment, at):
        return
    rules = batch_content(assignment.batch_id).rules
    reading = paid_ms(assignment.shown_at, at, rules.reading_cap_s)
    _move(
        assignment,
        WorkState.DESCRIPTION,
        state=WorkState.ANSWERING,
        paid_ms=assignment.paid_ms + reading,
        at=at,
    )


def current_example(assignment: Assignment) -> FrozenExample:
    return sequence(assignment.batch_id, assignment.order_seed)[assignment.step]


def judgement_at(assignment: Assignment, step: int) -> Judgement | None:
    return assignment.judgements.filter(step=step).first()


def submit_answer(
    assignment: Assignment,
    *,
    step: int,
    raw: RawAnswer,
    times: BrowserTimes,
    at: datetime,
) -> Judgement | None:
    """Lock the answer to a step. If repeated, returns the first judgement; if stale or ahead of the
    server's position, nothing. Raises BadInput and changes nothing.

    On return the judgement is committed, so its gold may be shown.
    """
    if assignment.state != WorkState.ANSWERING or step != assignment.step:
        return judgement_at(assignment, step)
    content = batch_content(assignment.batch_id)
    example = current_example(assignment)
    answer = read_answer(raw, example, content)
    paid = paid_ms(assignment.shown_at, at, content.rules.item_cap_s)
    try:
        with transaction.atomic():
            if not _holds_place(assignment, at):
                return None
            judgement: Judgement | None = Judgement.objects.create(
                assignment=assignment,
                example_id=example.pk,
                role=example.role,
                step=step,
                answer=list(answer.texts),
                spans=[list(span) for span in answer.spans],
                shown_at=min(assignment.shown_at or at, at),
                submitted_at=at,
                paid_ms=paid,
                browser_ms=times.browser_ms,
                first_action_ms=times.first_action_ms,
                active_ms=times.active_ms,
            )
            if not _after_answer(assignment, example, step, paid, content.steps, at):
                # The assignment ended or moved on meanwhile: this answer came too late.
                transaction.set_rollback(True)
                judgement = None
    except IntegrityError:
        # The same form came twice at once: the first one stands.
        assignment.refresh_from_db()
        return judgement_at(assignment, step)
    return judgement


def _after_answer(
    assignment: Assignment, example: FrozenExample, step: int, paid: int, steps: int, at: datetime
) -> bool:
    in_training = example.role == Role.TRAINING
    moved = _move(
        assignment,
        WorkState.ANSWERING,
        at=at,
        state=WorkState.REVEALED if in_training else WorkState.ANSWERING,
        step=step if in_training else min(step + 1, steps - 1),
        paid_ms=assignment.paid_ms + paid,
    )
    if moved and not in_training and step + 1 == steps:
        finish(assignment, Outcome.COMPLETED, at=at)
    return moved


def leave_reveal(assignment: Assignment, *, step: int, at: datetime) -> None:
    """From a revealed gold to the next example; after the last one, qualification."""
    if assignment.state != WorkState.REVEALED or step != assignment.step:
        return
    content = batch_content(assignment.batch_id)
    with transaction.atomic():
        if not _holds_place(assignment, at):
            return
        reading = paid_ms(assignment.shown_at, at, content.rules.reveal_cap_s)
        moved = _move(
            assignment,
            WorkState.REVEALED,
            at=at,
            state=WorkState.ANSWERING,
            step=step + 1,
            paid_ms=assignment.paid_ms + reading,
            reveal_ms=assignment.reveal_ms + reading,
        )
        last = step + 1 == len(content.training)
        if moved and last and not qualify(assignment, at=at).passed:
            finish(assignment, Outcome.SCREENED_OUT, at=at)


def _holds_place(assignment: Assignment, at: datetime) -> bool:
    """Renew the lease; if a join took the place meanwhile, the work ends here."""
    if renew_lease(assignment, at=at):
        return True
    finish(assignment, Outcome.DISPLACED, at=at)
    return False


def _move(assignment: Assignment, from_state: str, *, at: datetime, **changes: object) -> bool:
    """Move one step on, unless another request was first; the row count decides."""
    changes |= {"seen_at": at, "shown_at": at}
    moved = Assignment.objects.filter(
        pk=assignment.pk, state=from_state, step=assignment.step
    ).update(**changes)
    if not moved:
        assignment.refresh_from_db()
    for field, value in changes.items() if moved else ():
        setattr(assignment, field, value)
    return bool(moved)

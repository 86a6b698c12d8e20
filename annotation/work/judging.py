"""Judging: every step of an assignment after the consent, to the last answer.

Each act takes the step number that its form carried. A repeated or stale form changes
nothing; the page shown afterwards is always the assignment's current one.
"""

from collections.abc import Mapping
from datetime import datetime

from django.db import IntegrityError, transaction

from annotation.kinds import answer_kind
from annotation.kinds.base import Form
from annotation.models import Assignment, Judgement, Outcome, WorkState, prepared
from annotation.models.errors import BadInput
from annotation.models.frozen import BatchContent, FrozenExample, batch_content, sequence
from annotation.work.finishing import end_by_closing, finish, paid_ms
from annotation.work.places import holds_place, renew_lease
from annotation.work.qualifying import qualify, qualify_by_checks

# The browser's own account of one answer: times in milliseconds, pastes, characters typed, whether
# the decoy was answered and whether the page was translated; by the columns of a judgement, None or
# left out where it has none.
BrowserTimes = Mapping[str, int | None]


def notice_end(assignment: Assignment, *, at: datetime) -> None:
    """Tell those who come back too late before they do any more work."""
    if assignment.is_finished:
        return
    if not holds_place(assignment):
        finish(assignment, Outcome.DISPLACED, at=at)
    elif assignment.study.is_over(at):
        end_by_closing(assignment, at=at)


def begin(assignment: Assignment, *, at: datetime, step: int = 0) -> None:
    """Go from a task description to the first example after it, or from the end of the training to
    the test."""
    if assignment.state != WorkState.DESCRIPTION or step != assignment.step:
        return
    if not _holds_place(assignment, at):
        return
    rules = batch_content(assignment.batch_id).rules
    reading = paid_ms(assignment.shown_at, at, rules.reading_cap_s)
    _move(assignment, at=at, state=WorkState.ANSWERING, paid_ms=assignment.paid_ms + reading)
    _end_if_closed(assignment, at)


def current_example(assignment: Assignment) -> FrozenExample:
    return sequence(assignment.batch_id, assignment.order_seed)[assignment.step]


def judgement_at(assignment: Assignment, step: int) -> Judgement | None:
    return assignment.judgements.filter(step=step).first()


def submit_answer(
    assignment: Assignment, *, step: int, form: Form, times: BrowserTimes, at: datetime
) -> Judgement | None:
    """Lock the answer to a step. If repeated, returns the first judgement; if stale or ahead of the
    server's position, nothing. Raises BadInput and changes nothing.

    On return the judgement is committed, so its gold may be shown.
    """
    if assignment.state != WorkState.ANSWERING or step != assignment.step:
        return judgement_at(assignment, step)
    content = batch_content(assignment.batch_id)
    task, example = content.task_at(step), current_example(assignment)
    answer = answer_kind(task.kind).read(form, example, task)
    paid = paid_ms(assignment.shown_at, at, content.rules.item_cap_s)
    try:
        with transaction.atomic():
            if not _holds_place(assignment, at):
                return None
            judgement = Judgement(
                assignment=assignment,
                example_id=example.pk,
                role=example.role,
                step=step,
                answer=list(answer.texts),
                spans=[list(span) for span in answer.spans],
                options_order=list(example.options_order),
                shown_at=min(assignment.shown_at or at, at),
                submitted_at=at,
                paid_ms=paid,
                **times,
            )
            prepared.insert(judgement)
            if not _after_answer(assignment, content, step, paid, at):
                # The assignment ended or moved on meanwhile: this answer came too late.
                transaction.set_rollback(True)
                return None
    except IntegrityError:
        # The same form came twice at once: the first one stands.
        assignment.refresh_from_db()
        return judgement_at(assignment, step)
    return judgement


def counts_otherwise(assignment: Assignment, *, step: int, form: Form) -> bool:
    """Whether the step has another answer than the form's: one from another tab or device. A form
    that is only sent again holds the same."""
    stored = judgement_at(assignment, step)
    if stored is None:
        return False
    task = batch_content(assignment.batch_id).task_at(step)
    example = sequence(assignment.batch_id, assignment.order_seed)[step]
    try:
        answer = answer_kind(task.kind).read(form, example, task)
    except BadInput:
        return True
    counting: list[str] = stored.answer
    return list(answer.texts) != counting


def _after_answer(
    assignment: Assignment, content: BatchContent, step: int, paid: int, at: datetime
) -> bool:
    state, following = _position_after(content, step)
    moved = _move(
        assignment,
        at=at,
        state=state,
        step=min(following, content.steps - 1),
        paid_ms=assignment.paid_ms + paid,
    )
    if not moved:
        return False
    if following == content.steps:
        finish(assignment, Outcome.COMPLETED, at=at)
    elif state == WorkState.DESCRIPTION and not qualify_by_checks(assignment):
        finish(assignment, Outcome.SCREENED_OUT, at=at)
    else:
        _end_if_closed(assignment, at)
    return True


def _position_after(content: BatchContent, step: int) -> tuple[str, int]:
    """Where an answer leads: to its gold in practice, and after the checks to what to do."""
    if len(content.checks) <= step < content.test_from:
        return WorkState.REVEALED, step
    following = step + 1
    is_last_check = following == len(content.checks)
    return WorkState.DESCRIPTION if is_last_check else WorkState.ANSWERING, following


def leave_reveal(assignment: Assignment, *, step: int, at: datetime) -> None:
    """Go from a revealed gold to the next example; after the last one to qualification, and a page
    between training and test."""
    if assignment.state != WorkState.REVEALED or step != assignment.step:
        return
    content = batch_content(assignment.batch_id)
    with transaction.atomic():
        if not _holds_place(assignment, at):
            return
        reading = paid_ms(assignment.shown_at, at, content.rules.reveal_cap_s)
        last = step + 1 == content.test_from
        moved = _move(
            assignment,
            at=at,
            state=WorkState.DESCRIPTION if last else WorkState.ANSWERING,
            step=step + 1,
            paid_ms=assignment.paid_ms + reading,
            reveal_ms=assignment.reveal_ms + reading,
        )
        if moved and last and not qualify(assignment, at=at):
            finish(assignment, Outcome.SCREENED_OUT, at=at)
        elif moved:
            _end_if_closed(assignment, at)


def _holds_place(assignment: Assignment, at: datetime) -> bool:
    """Renew the lease; if a join took the place meanwhile, or the study is over, the work ends
    here."""
    if assignment.study.is_over(at):
        end_by_closing(assignment, at=at)
        return False
    if renew_lease(assignment, at=at):
        return True
    finish(assignment, Outcome.DISPLACED, at=at)
    return False


def _end_if_closed(assignment: Assignment, at: datetime) -> None:
    """A closed study takes the page that was shown when it closed, and shows no other."""
    if assignment.study.is_closed:
        end_by_closing(assignment, at=at)


def _move(assignment: Assignment, *, at: datetime, **changes: object) -> bool:
    """Move on from where it stood, unless another request was first; the row count decides."""
    changes |= {"seen_at": at, "shown_at": at}
    where = {"id": assignment.pk, "state": assignment.state, "step": assignment.step}
    moved = prepared.update(Assignment, where, changes)
    if not moved:
        assignment.refresh_from_db()
    for field, value in changes.items() if moved else ():
        setattr(assignment, field, value)
    return bool(moved)

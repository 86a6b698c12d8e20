"""How an assignment ends: once, with one outcome, and for good."""

from datetime import datetime, timedelta

from django.db import transaction

from annotation.models import Assignment, Outcome, Place, Study, StudyState, WorkState
from annotation.models.work import AssignmentQuerySet
from annotation.work.paying import amount_due

# Those who finish their work keep the place; everybody else's is open again.
KEEPS_PLACE = frozenset({Outcome.COMPLETED})


def finish(assignment: Assignment, outcome: str, *, at: datetime) -> bool:
    """End the assignment, unless it has ended already; says whether this call did it."""
    with transaction.atomic():
        ended = (
            Assignment.objects.open()
            .filter(pk=assignment.pk)
            .update(
                state=WorkState.FINISHED,
                outcome=outcome,
                finished_at=at,
                seen_at=at,
                amount=amount_due(assignment, outcome),
            )
        )
        if ended:
            _settle_place(assignment, outcome)
    assignment.refresh_from_db()
    return bool(ended)


def _settle_place(assignment: Assignment, outcome: str) -> None:
    place = Place.objects.filter(holder=assignment)
    if outcome in KEEPS_PLACE:
        place.update(kept=True, lease_until=None)
    else:
        place.update(holder=None, lease_until=None)


def withdraw(assignment: Assignment, *, at: datetime) -> bool:
    return finish(assignment, Outcome.WITHDRAWN, at=at)


def expire_idle(*, at: datetime) -> int:
    """End every assignment that has been silent for longer than its study allows, and those left
    open in closed studies. Returns how many."""
    studies = Study.objects.filter(assignments__outcome="").distinct()
    return sum(
        finish(assignment, Outcome.EXPIRED, at=at)
        for study in studies
        for assignment in _overdue(study, at)
    )


def _overdue(study: Study, at: datetime) -> AssignmentQuerySet:
    unfinished = Assignment.objects.open().filter(study=study)
    if study.state == StudyState.CLOSED:
        return unfinished
    return unfinished.filter(seen_at__lt=at - timedelta(hours=study.expire_hours))

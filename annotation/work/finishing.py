"""How an assignment ends: once, with one outcome, and for good."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F

from annotation.models import Assignment, Outcome, Place, Study, WorkState
from annotation.work.paying import amount_due, in_hand_ms

# Those who finish their work keep the place; everybody else's is open again.
KEEPS_PLACE = frozenset({Outcome.COMPLETED})


def finish(assignment: Assignment, outcome: str, *, at: datetime, by_closing: bool = False) -> bool:
    """End the assignment, unless it has ended already; says whether this call did it.

    The time on the present page is added, except for those who have gone away in silence.
    """
    in_silence = outcome == Outcome.EXPIRED and not by_closing
    with transaction.atomic():
        # As it stands now, and until this is over: what is paid rests on it.
        own = Assignment.objects.open().filter(pk=assignment.pk)
        present = own.select_for_update(no_key=True).first()
        if present is not None:
            in_hand = 0 if in_silence else in_hand_ms(present, at=at)
            reads_gold = present.state == WorkState.REVEALED
            present.paid_ms += in_hand
            Assignment.objects.filter(pk=present.pk).update(
                state=WorkState.FINISHED,
                outcome=outcome,
                ended_by_closing=by_closing,
                finished_at=at,
                seen_at=at,
                paid_ms=present.paid_ms,
                reveal_ms=F("reveal_ms") + (in_hand if reads_gold else 0),
                amount=amount_due(present, outcome),
            )
            keeps = outcome in KEEPS_PLACE
            left = {"kept": True} if keeps else {"holder": None}
            Place.objects.filter(holder=assignment).update(**left, lease_until=None)
    assignment.refresh_from_db()
    return present is not None


def withdraw(assignment: Assignment, *, at: datetime) -> bool:
    return finish(assignment, Outcome.WITHDRAWN, at=at)


def end_by_closing(assignment: Assignment, *, at: datetime) -> bool:
    return finish(assignment, Outcome.EXPIRED, at=at, by_closing=True)


def expire_idle(*, at: datetime) -> int:
    """End every assignment that has been silent for longer than its study allows, and those left
    open in studies that are over. Returns how many."""
    studies = Study.objects.filter(assignments__outcome="").distinct()
    return sum(_expire(study, at) for study in studies)


def _expire(study: Study, at: datetime) -> int:
    unfinished = Assignment.objects.open().filter(study=study)
    silent = unfinished.filter(seen_at__lt=at - timedelta(hours=study.expire_hours))
    ended = sum(finish(assignment, Outcome.EXPIRED, at=at) for assignment in silent)
    if study.is_over(at):
        ended += sum(end_by_closing(assignment, at=at) for assignment in unfinished.all())
    return ended

"""Places: claimed, renewed and lost by a conditional update of one row each."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F

from annotation.models import Annotator, Assignment, Batch, ChangeAction, HookEvent, Place, Study
from annotation.models.access import record
from annotation.models.errors import Refusal
from annotation.models.frozen import batch_content
from annotation.models.webhook import tell


def open_places(batch: Batch, *, simulated: bool = False) -> None:
    """Create the wanted places that do not exist yet. Safe to run twice."""
    Place.objects.bulk_create(
        [
            Place(batch=batch, number=number, simulated=simulated)
            for number in range(1, batch.wanted + 1)
        ],
        ignore_conflicts=True,
    )


def stands_beside(annotator: Annotator, study: Study) -> bool:
    """Whether somebody takes a place beside the study's own: a simulated annotator does, but in a
    demonstration."""
    return annotator.channel.is_simulated and not study.is_demonstration


def claim_place(assignment: Assignment, *, at: datetime) -> Place | None:
    """An empty place of the batch, else one whose lease has lapsed, else nothing."""
    beside = stands_beside(assignment.annotator, assignment.study)
    places = Place.objects.filter(batch=assignment.batch, simulated=beside).claimable(at)
    for place in places.order_by(F("holder_id").asc(nulls_first=True), "number"):
        # Somebody may have taken it since the read; the row count decides.
        won = (
            Place.objects.filter(pk=place.pk)
            .claimable(at)
            .update(holder=assignment, lease_until=_lease_end(assignment, at))
        )
        if won:
            return place
    return None


def holds_place(assignment: Assignment) -> bool:
    return getattr(assignment, "place", None) is not None


def renew_lease(assignment: Assignment, *, at: datetime) -> bool:
    """Keep the place for another lease, lapsed or not; False if a join took it.

    A lease with more than half of its time left needs no write: no join can take it.
    """
    held_until = assignment.place.lease_until if holds_place(assignment) else None
    if held_until is not None and held_until - at > _lease(assignment) / 2:
        return True
    end = _lease_end(assignment, at)
    kept = Place.objects.filter(holder=assignment).update(lease_until=end)
    if kept and Assignment.place.is_cached(assignment):
        assignment.place.lease_until = end
    return bool(kept)


def _lease_end(assignment: Assignment, at: datetime) -> datetime:
    return at + _lease(assignment)


def _lease(assignment: Assignment) -> timedelta:
    return timedelta(minutes=batch_content(assignment.batch_id).rules.lease_minutes)


_MOMENT = timedelta(microseconds=1)


# Who sent something so lately is at work, whatever the platform's clock says.
AT_WORK = timedelta(minutes=5)


@transaction.atomic
def time_out(assignment: Assignment, *, at: datetime) -> None:
    """The platform's time for the work ran out: the place of who is not at work lapses."""
    silent = Assignment.objects.open().filter(pk=assignment.pk, seen_at__lt=at - AT_WORK)
    if silent.update(timed_out_at=at):
        _let_lapse(assignment, at)


def _let_lapse(assignment: Assignment, at: datetime) -> bool:
    """End the lease of unfinished work. Whoever comes back before somebody else takes the place
    goes on; after that their work ends as displaced, and is paid. Says whether there was one."""
    lapsed = Place.objects.filter(
        holder=assignment, kept=False, holder__outcome="", lease_until__gte=at
    ).update(lease_until=at - _MOMENT)
    if lapsed:
        who = assignment.annotator.pseudonym
        tell(assignment.study, HookEvent.GIVEN_BACK, at=at, person=who)
    return bool(lapsed)


@transaction.atomic
def release_place(assignment: Assignment, *, at: datetime, by: User | None = None) -> None:
    """The same as a researcher's act, which is logged. Raises Refusal without such a place."""
    if not _let_lapse(assignment, at):
        raise Refusal("This person holds no place of unfinished work: it is open already.")
    who = {assignment.annotator.pseudonym: "released"}
    record(by, assignment.study, ChangeAction.PLACE_RELEASED, {}, who)

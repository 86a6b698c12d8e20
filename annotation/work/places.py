"""Places: claimed, renewed and lost by a conditional update of one row each."""

from datetime import datetime, timedelta

from django.db.models import F

from annotation.models import Assignment, Batch, Place
from annotation.models.frozen import batch_content


def open_places(batch: Batch, *, simulated: bool = False) -> None:
    """Create the wanted places that do not exist yet. Safe to run twice."""
    Place.objects.bulk_create(
        [
            Place(batch=batch, number=number, simulated=simulated)
            for number in range(1, batch.wanted + 1)
        ],
        ignore_conflicts=True,
    )


def claim_place(assignment: Assignment, *, at: datetime) -> Place | None:
    """An empty place of the batch, else one whose lease has lapsed, else nothing."""
    places = Place.objects.filter(
        batch=assignment.batch, simulated=assignment.is_simulated
    ).claimable(at)
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
    if _is_fresh(assignment, at):
        return True
    end = _lease_end(assignment, at)
    kept = Place.objects.filter(holder=assignment).update(lease_until=end)
    if kept and Assignment.place.is_cached(assignment):
        assignment.place.lease_until = end
    return bool(kept)


def _is_fresh(assignment: Assignment, at: datetime) -> bool:
    if not holds_place(assignment) or assignment.place.lease_until is None:
        return False
    return assignment.place.lease_until - at > _lease(assignment) / 2


def _lease_end(assignment: Assignment, at: datetime) -> datetime:
    return at + _lease(assignment)


def _lease(assignment: Assignment) -> timedelta:
    return timedelta(minutes=batch_content(assignment.batch_id).rules.lease_minutes)

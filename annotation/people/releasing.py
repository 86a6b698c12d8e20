"""Releasing a place: somebody else may take it from now on."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from annotation.access.changes import record
from annotation.models import Assignment, ChangeAction, Place
from annotation.models.errors import Refusal

_MOMENT = timedelta(microseconds=1)


class NoPlace(Refusal):
    """Nothing to release."""


def let_lapse(assignment: Assignment, *, at: datetime) -> bool:
    """End the lease of unfinished work. Whoever comes back before somebody else takes the place
    goes on; after that their work ends as displaced, and is paid. Says whether there was one."""
    lapsed = Place.objects.filter(
        holder=assignment, kept=False, holder__outcome="", lease_until__gte=at
    ).update(lease_until=at - _MOMENT)
    return bool(lapsed)


@transaction.atomic
def release_place(assignment: Assignment, *, at: datetime, by: User | None = None) -> None:
    """The same as a researcher's act, which is logged. Raises NoPlace."""
    if not let_lapse(assignment, at=at):
        raise NoPlace("This person holds no place of unfinished work: it is open already.")
    who = {assignment.annotator.pseudonym: "released"}
    record(by, assignment.study, ChangeAction.PLACE_RELEASED, {}, who)

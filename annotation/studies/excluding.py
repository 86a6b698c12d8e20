"""Exclusion: a researcher's mark on ended work. Outcome, code and pay stay as they are."""

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotation.models import Assignment, ChangeAction, Exclusion, Outcome, Place, StudyState
from annotation.models.access import record
from annotation.models.errors import BadInput, Refusal

# A paused study takes people again once it is resumed; a closed one never does.
REFILLS_PLACES = (StudyState.OPEN, StudyState.PAUSED)


class CannotExclude(Refusal):
    """An assignment that cannot be marked now."""


class CannotLift(Refusal):
    """An exclusion whose place has gone to somebody else."""


def exclude(assignment: Assignment, *, reason: str, author: User | None = None) -> Exclusion:
    """Mark an assignment that has ended; its place opens again unless the study is closed.

    If excluded twice, the first mark and its reason stand.
    """
    if not reason.strip():
        raise BadInput("An exclusion needs a reason: give one.")
    if not assignment.outcome:
        raise CannotExclude(
            "This annotator is still at work: exclude them once their work has ended."
        )
    try:
        with transaction.atomic():
            exclusion = Exclusion.objects.create(
                assignment=assignment, reason=reason.strip(), author=author
            )
            _log(assignment, ChangeAction.EXCLUDED, author, "counted", "excluded")
            Place.objects.filter(holder=assignment, batch__study__state__in=REFILLS_PLACES).update(
                kept=False, holder=None, lease_until=None
            )
    except IntegrityError:
        return Exclusion.objects.get(assignment=assignment)
    return exclusion


def lift_exclusion(assignment: Assignment, *, by: User | None = None) -> None:
    """Remove the mark.

    Only if that keeps the batch exact: completed work needs the place that it still holds, or an
    empty one. Nobody at work loses a place to this.
    """
    with transaction.atomic():
        lifted, _rows = Exclusion.objects.filter(assignment=assignment).delete()
        if lifted:
            _log(assignment, ChangeAction.EXCLUSION_LIFTED, by, "excluded", "counted")
        if assignment.outcome == Outcome.COMPLETED and not _has_place_again(assignment):
            raise CannotLift(
                "The place has gone to somebody else, so the batch would count more people "
                "than it needs: give the batch one more place first."
            )


def _log(assignment: Assignment, action: ChangeAction, by: User | None, *states: str) -> None:
    """Before and after. Not the reason: that is a comment, and stands beside the mark."""
    who = f"{assignment.annotator}, assignment {assignment.pk}"
    record(by, assignment.study, action, *({who: state} for state in states))


def _has_place_again(assignment: Assignment) -> bool:
    if Place.objects.filter(holder=assignment, kept=True).exists():
        return True
    empty = Place.objects.filter(
        batch=assignment.batch, simulated=assignment.is_simulated, kept=False, holder__isnull=True
    )
    # A join may take one between the read and the write; the row count decides.
    return any(
        empty.filter(pk=pk).update(kept=True, holder=assignment, lease_until=None)
        for pk in empty.order_by("number").values_list("pk", flat=True)
    )

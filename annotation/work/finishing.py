"""How an assignment ends: once, with one outcome, and for good; and what its time amounts to, by
the server's clock alone."""

from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from django.db import transaction
from django.db.models import F

from annotation.models import Assignment, HookEvent, Outcome, OutcomeRule, Place, Study, WorkState
from annotation.models.frozen import batch_content
from annotation.models.webhook import tell
from annotation.work.money import smallest_unit

HOUR_MS = 3_600_000


def paid_ms(since: datetime | None, until: datetime, cap_s: int) -> int:
    """Milliseconds between two server times, capped by the study."""
    if since is None or until <= since:
        return 0
    elapsed_ms = int((until - since).total_seconds() * 1000)
    return min(elapsed_ms, cap_s * 1000)


def in_hand_ms(assignment: Assignment, *, at: datetime) -> int:
    """The time spent on the present page so far, by the cap of such a page."""
    if assignment.is_finished:
        return 0
    rules = batch_content(assignment.batch_id).rules
    caps_s = {
        WorkState.DESCRIPTION: rules.reading_cap_s,
        WorkState.ANSWERING: rules.item_cap_s,
        WorkState.REVEALED: rules.reveal_cap_s,
    }
    return paid_ms(assignment.shown_at, at, caps_s[WorkState(assignment.state)])


def earned(milliseconds: int, hourly_rate: Decimal, currency: str) -> Decimal:
    """What worked time is worth at an hourly rate, before any minimum."""
    hours = Decimal(milliseconds) / Decimal(HOUR_MS)
    return (hours * hourly_rate).quantize(smallest_unit(currency), ROUND_HALF_UP)


def elapsed_hours(consented_at: datetime | None, finished_at: datetime | None) -> float:
    """The hours from consent to the end, breaks included; 0 before the end."""
    if consented_at is None or finished_at is None:
        return 0
    return (finished_at - consented_at).total_seconds() / 3600


def amount_due(assignment: Assignment, outcome: str) -> Decimal:
    """What an outcome pays by the study's rule: the time if it pays for time, and at least what is
    promised for it, which a reward that is changed later does not take back."""
    study = assignment.study
    rule = OutcomeRule.objects.filter(study=study, outcome=outcome).first()
    worked = earned(assignment.paid_ms, study.hourly_rate, study.currency)
    if rule is None:
        return worked
    return max(worked if rule.pays_time else Decimal(0), rule.least)


# Those who finish their work keep the place; everybody else's is open again.
KEEPS_PLACE = frozenset({Outcome.COMPLETED})


def finish(assignment: Assignment, outcome: str, *, at: datetime, by_closing: bool = False) -> bool:
    """End the assignment, unless it has ended already; says whether this call did it.

    The time on the present page is added, except for those who have gone away in silence.
    """
    in_silence = outcome == Outcome.EXPIRED and not by_closing
    with transaction.atomic():
        # As it stands now, and until this is over: what is paid rests on it.
        open_rows = Assignment.objects.open().filter(pk=assignment.pk)
        present = open_rows.select_for_update(no_key=True).first()
        if present is not None:
            in_hand = 0 if in_silence else in_hand_ms(present, at=at)
            reads_gold = present.state == WorkState.REVEALED
            present.paid_ms += in_hand
            Assignment.objects.filter(pk=present.pk).update(
                state=WorkState.FINISHED,
                outcome=outcome,
                ended_by_closing=by_closing,
                finished_at=at,
                # Who expires is not here.
                seen_at=present.seen_at if outcome == Outcome.EXPIRED else at,
                paid_ms=present.paid_ms,
                reveal_ms=F("reveal_ms") + (in_hand if reads_gold else 0),
                amount=amount_due(present, outcome),
            )
            keeps = outcome in KEEPS_PLACE
            left = {"kept": True} if keeps else {"holder": None}
            places = Place.objects.filter(holder=assignment).update(**left, lease_until=None)
            _tell_end(present, outcome, at, is_open=bool(places and not keeps))
    assignment.refresh_from_db()
    return present is not None


def _tell_end(assignment: Assignment, outcome: str, at: datetime, *, is_open: bool) -> None:
    study, annotator = assignment.study, assignment.annotator
    if annotator.channel.is_simulated and not study.is_demonstration:
        return
    who = {"person": annotator.pseudonym}
    tell(study, HookEvent.FINISHED, at=at, outcome=str(outcome), **who)
    if is_open:
        tell(study, HookEvent.GIVEN_BACK, at=at, **who)
    places = Place.objects.filter(batch__study=study, simulated=False, kept=False)
    if outcome in KEEPS_PLACE and not places.exists():
        tell(study, HookEvent.FULL, at=at)


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

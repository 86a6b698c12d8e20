"""Paid time, and what it amounts to, by the server's clock alone."""

from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal

from annotation.models import Assignment, OutcomeRule, WorkState
from annotation.models.frozen import batch_content

CENT = Decimal("0.01")
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


def earned(milliseconds: int, hourly_rate: Decimal) -> Decimal:
    """What worked time is worth at an hourly rate, before any minimum."""
    hours = Decimal(milliseconds) / Decimal(HOUR_MS)
    return (hours * hourly_rate).quantize(CENT, ROUND_HALF_UP)


def elapsed_hours(assignment: Assignment) -> float:
    """From consent to the end, breaks included; 0 before the end."""
    if assignment.consented_at is None or assignment.finished_at is None:
        return 0
    return (assignment.finished_at - assignment.consented_at).total_seconds() / 3600


def amount_due(assignment: Assignment, outcome: str) -> Decimal:
    """What an outcome pays by the study's rule: the time if it pays for time, and at least its
    minimum."""
    rule = OutcomeRule.objects.filter(study=assignment.study, outcome=outcome).first()
    worked = earned(assignment.paid_ms, assignment.study.hourly_rate)
    if rule is None:
        return worked
    return max(worked if rule.pays_time else Decimal(0), rule.minimum)

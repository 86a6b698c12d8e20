"""Paid time, and what it amounts to, by the server's clock alone."""

from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal

from annotation.models import Assignment, Outcome, OutcomeRule

CENT = Decimal("0.01")


def paid_ms(since: datetime | None, until: datetime, cap_s: int) -> int:
    """Milliseconds between two server times, capped by the study."""
    if since is None or until <= since:
        return 0
    elapsed_ms = int((until - since).total_seconds() * 1000)
    return min(elapsed_ms, cap_s * 1000)


def earned(milliseconds: int, hourly_rate: Decimal) -> Decimal:
    """What worked time is worth at an hourly rate, before any minimum."""
    hours = Decimal(milliseconds) / Decimal(3_600_000)
    return (hours * hourly_rate).quantize(CENT, ROUND_HALF_UP)


def amount_due(assignment: Assignment, outcome: str) -> Decimal:
    """What an outcome pays by the study's rule: the time if it pays for time, and at least its
    minimum."""
    rule = OutcomeRule.objects.filter(study=assignment.study, outcome=outcome).first()
    worked = earned(assignment.paid_ms, assignment.study.hourly_rate)
    if rule is None:
        return worked if outcome != Outcome.DECLINED else Decimal(0)
    return max(worked if rule.pays_time else Decimal(0), rule.minimum)

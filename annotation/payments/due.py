"""What each person is due, what the platform pays of it by itself, and what was sent on top."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, QuerySet, Sum

from annotation.models import (
    Assignment,
    JoinAnswer,
    Outcome,
    OutcomeRule,
    PaymentLine,
    PayPurpose,
    Study,
    SubmissionStatus,
)
from annotation.work.paying import CENT, HOUR_MS, elapsed_hours

# Nothing was paid by the platform, whatever code was handed in.
_UNPAID = (SubmissionStatus.RETURNED, SubmissionStatus.REJECTED, SubmissionStatus.TIMED_OUT)
# What the platform paid, whatever the work's outcome was.
_PAID_AS = {
    SubmissionStatus.APPROVED: Outcome.COMPLETED,
    SubmissionStatus.SCREENED_OUT: Outcome.SCREENED_OUT,
}
NOTHING = Decimal("0.00")


# What an assignment's lines of one purpose come to, and how many they are.
Lines = tuple[Decimal, int]
NO_LINES: Lines = (NOTHING, 0)
Ledger = Mapping[tuple[int, str], Lines]


@dataclass(frozen=True)
class Due:
    """One assignment that has ended; amounts in the study's currency.

    How many lines there are is read with their sum: a new line takes the next number, so that
    whoever added one in between is found out by the constraint.
    """

    assignment: Assignment
    rule: OutcomeRule | None
    # By the outcome's rule, before anybody approved it.
    earned: Decimal
    # Approved as due, with later corrections.
    approvals: Lines
    # What the platform pays by itself.
    base: Decimal
    # Sent so far, less what was taken back.
    bonuses: Lines

    @property
    def approved(self) -> Decimal | None:
        """None while nobody has approved it."""
        return self.approvals[0] if self.approvals[1] else None

    @property
    def sent(self) -> Decimal:
        return self.bonuses[0]

    @property
    def total(self) -> Decimal:
        return self.earned if self.approved is None else self.approved

    @property
    def open(self) -> Decimal:
        """The bonus that is still to be sent: never below 0."""
        return max(self.total - self.base - self.sent, NOTHING)

    @property
    def overpaid(self) -> Decimal:
        """What the platform and the bonuses paid beyond what is due."""
        return max(self.base + self.sent - self.total, NOTHING)

    @property
    def is_approved(self) -> bool:
        return self.approved is not None

    @property
    def person_id(self) -> str:
        return self.assignment.annotator.external_id

    @property
    def status(self) -> str:
        """What the platform says, if it says anything."""
        submission = getattr(self.assignment, "submission", None)
        return submission.status if submission else ""

    @property
    def pays_time(self) -> bool:
        return self.rule.pays_time if self.rule else True

    @property
    def minimum(self) -> Decimal:
        return self.rule.minimum if self.rule else Decimal(0)

    @property
    def paid_minutes(self) -> float:
        return self.assignment.paid_ms / 60_000

    @property
    def elapsed_minutes(self) -> float:
        return 60 * elapsed_hours(self.assignment)

    @property
    def hourly(self) -> Decimal | None:
        """What an hour of elapsed time is worth, breaks included."""
        return _per_hour(self.total, elapsed_hours(self.assignment))

    @property
    def hourly_paid(self) -> Decimal | None:
        """What an hour of paid time is worth."""
        return _per_hour(self.total, self.assignment.paid_ms / HOUR_MS)


def dues(study: Study, *, among: Iterable[int] | None = None) -> list[Due]:
    """Of everybody whose work has ended, or of these assignments; the latest first."""
    assignments = ended_assignments(study)
    if among is not None:
        assignments = assignments.filter(pk__in=list(among))
    rules = {rule.outcome: rule for rule in study.outcome_rules.all()}
    lines = PaymentLine.objects.filter(assignment__study=study).order_by()
    grouped = lines.values_list("assignment", "purpose").annotate(Sum("amount"), Count("pk"))
    # SQLite adds up binary fractions.
    ledger = {(pk, purpose): (sum_.quantize(CENT), count) for pk, purpose, sum_, count in grouped}
    return [_due(assignment, rules, ledger) for assignment in assignments]


def due_of(assignment: Assignment) -> Due | None:
    """None while somebody is at work."""
    return next(iter(dues(assignment.study, among=[assignment.pk])), None)


def ended_assignments(study: Study) -> QuerySet[Assignment]:
    """Work of people: nobody pays simulated ones, and who declined has not worked."""
    return (
        Assignment.objects.of_people()
        .filter(study=study, amount__isnull=False)
        .exclude(outcome__in=["", JoinAnswer.DECLINED])
        .select_related("annotator", "submission", "exclusion")
        .order_by("-finished_at", "-id")
    )


def _due(assignment: Assignment, rules: Mapping[str, OutcomeRule], ledger: Ledger) -> Due:
    submission = getattr(assignment, "submission", None)
    return Due(
        assignment=assignment,
        rule=rules.get(assignment.outcome),
        earned=assignment.amount or NOTHING,
        approvals=ledger.get((assignment.pk, PayPurpose.DUE), NO_LINES),
        base=_base(submission.status if submission else "", assignment.outcome, rules),
        bonuses=ledger.get((assignment.pk, PayPurpose.BONUS), NO_LINES),
    )


def _base(status: str, outcome: str, rules: Mapping[str, OutcomeRule]) -> Decimal:
    """By what the platform says; until it says how it ended, by the code that was shown."""
    if status in _UNPAID:
        return NOTHING
    rule = rules.get(_PAID_AS.get(SubmissionStatus(status), outcome) if status else outcome)
    return rule.platform_pays if rule else NOTHING


def _per_hour(amount: Decimal, hours: float) -> Decimal | None:
    return (amount / Decimal(hours)).quantize(CENT) if hours > 0 else None


def totals(all_dues: Collection[Due]) -> dict[str, Any]:
    """Of all dues of a study."""
    names = {"due": "total", **{name: name for name in ("base", "sent", "open", "overpaid")}}
    return {
        "people": len(all_dues),
        "approved": sum(due.is_approved for due in all_dues),
        **{name: sum(getattr(d, field) for d in all_dues) for name, field in names.items()},
    }

"""What each person is due, what the platform pays of it by itself, and what was sent on top."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.contrib.auth.models import User
from django.db import transaction
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
from annotation.studies.codes import log_rules, rules_of
from annotation.work.paying import CENT, HOUR_MS, elapsed_hours

# Nothing was paid by the platform, whatever code was handed in.
_UNPAID = (SubmissionStatus.RETURNED, SubmissionStatus.REJECTED, SubmissionStatus.TIMED_OUT)
# What the platform paid, whatever the work's outcome was.
_PAID_AS = {
    SubmissionStatus.APPROVED: Outcome.COMPLETED,
    SubmissionStatus.SCREENED_OUT: Outcome.SCREENED_OUT,
}
NOTHING = Decimal("0.00")


@dataclass(frozen=True)
class Lines:
    """What an assignment's lines of one purpose come to."""

    amount: Decimal = NOTHING
    count: int = 0


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
        return self.approvals.amount if self.approvals.count else None

    @property
    def sent(self) -> Decimal:
        return self.bonuses.amount

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
    ledger = _ledger(study)
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


def _ledger(study: Study) -> dict[tuple[int, str], Lines]:
    lines = PaymentLine.objects.filter(assignment__study=study).order_by()
    grouped = lines.values_list("assignment", "purpose").annotate(Sum("amount"), Count("pk"))
    # SQLite adds up binary fractions.
    return {
        (pk, purpose): Lines(amount.quantize(CENT), count) for pk, purpose, amount, count in grouped
    }


def _due(assignment: Assignment, rules: Mapping[str, OutcomeRule], ledger: Ledger) -> Due:
    submission = getattr(assignment, "submission", None)
    return Due(
        assignment=assignment,
        rule=rules.get(assignment.outcome),
        earned=assignment.amount or NOTHING,
        approvals=ledger.get((assignment.pk, PayPurpose.DUE), Lines()),
        base=_base(submission.status if submission else "", assignment.outcome, rules),
        bonuses=ledger.get((assignment.pk, PayPurpose.BONUS), Lines()),
    )


def _base(status: str, outcome: str, rules: Mapping[str, OutcomeRule]) -> Decimal:
    """By what the platform says; until it says how it ended, by the code that was shown."""
    if status in _UNPAID:
        return NOTHING
    rule = rules.get(_PAID_AS.get(SubmissionStatus(status), outcome) if status else outcome)
    return rule.platform_pays if rule else NOTHING


def _per_hour(amount: Decimal, hours: float) -> Decimal | None:
    return (amount / Decimal(hours)).quantize(CENT) if hours > 0 else None


@dataclass(frozen=True)
class Totals:
    """Of all dues of a study."""

    people: int
    approved: int
    due: Decimal
    base: Decimal
    sent: Decimal
    open: Decimal
    overpaid: Decimal


def totals(all_dues: Iterable[Due]) -> Totals:
    sums: dict[str, Decimal] = defaultdict(Decimal)
    people = approved = 0
    for due in all_dues:
        people += 1
        approved += due.is_approved
        for name in ("base", "sent", "open", "overpaid"):
            sums[name] += getattr(due, name)
        sums["due"] += due.total
    names = ("due", "base", "sent", "open", "overpaid")
    return Totals(people, approved, **{name: sums[name] for name in names})


# The outcomes that a platform rewards; all others are returned there.
REWARDED = (Outcome.COMPLETED, Outcome.SCREENED_OUT)


def rewards(study: Study) -> dict[str, Decimal]:
    rules = study.outcome_rules.filter(outcome__in=REWARDED)
    return dict(rules.values_list("outcome", "platform_pays"))


@transaction.atomic
def set_rewards(study: Study, amounts: Mapping[str, Decimal], *, by: User | None = None) -> None:
    """Also while the study runs: the platform's reward can be raised there at any time."""
    if {name: amounts[name] for name in REWARDED} == rewards(study):
        return
    before = rules_of(study)
    for outcome in REWARDED:
        study.outcome_rules.filter(outcome=outcome).update(platform_pays=amounts[outcome])
    log_rules(study, before, by=by)

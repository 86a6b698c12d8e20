"""What each person is due, what the platform pays of it by itself, and the ledger: what was
approved, and what was sent. Lines are added; none is ever changed. Of two who do the same at once
the constraint on assignment, purpose and correction lets one line in. The files, of what everybody
is due and of bonuses to pay, hold external ids: they are for owners."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Count, Sum

from annotation.models import (
    HANDED_IN,
    LOST,
    Assignment,
    ChangeAction,
    Outcome,
    OutcomeRule,
    PaymentLine,
    Payout,
    PayoutState,
    PayoutWay,
    PayPurpose,
    Study,
    Submission,
    SubmissionStatus,
)
from annotation.models.access import record
from annotation.models.errors import BadInput, Refusal
from annotation.studies.exported_judgements import csv_lines
from annotation.studies.monitoring import Person, people_of
from annotation.work.finishing import HOUR_MS, elapsed_hours
from annotation.work.money import CENT
from annotation.work.wording import amount_text
from scoring.tables.table import columns_in

# Nothing was paid by the platform, whatever code was handed in.
_UNPAID = (*LOST, SubmissionStatus.REJECTED)
# What the platform paid, whatever the work's outcome was.
_PAID_AS: dict[str, str] = {
    SubmissionStatus.APPROVED: Outcome.COMPLETED,
    SubmissionStatus.SCREENED_OUT: Outcome.SCREENED_OUT,
}
NOTHING = Decimal("0.00")


# What an assignment's lines of one purpose come to, and how many they are.
Lines = tuple[Decimal, int]
NO_LINES: Lines = (NOTHING, 0)


class Due:
    """One assignment that has ended; amounts in the study's currency. Lines are counted with their
    sum: a new one takes the next number, so that the constraint finds one added in between."""

    def __init__(
        self,
        person: Person,
        rules: Mapping[str, OutcomeRule],
        lines: Mapping[tuple[int, str], Lines],
        submissions: Sequence[str],
    ) -> None:
        """submissions: of each by which the person came, what the platform last said."""
        self.person, self.rule = person, rules[person.outcome]
        # By the outcome's rule, before anybody approved it.
        self.earned = person.amount or NOTHING
        # Approved as due, with later corrections.
        self.approvals = lines.get((person.pk, PayPurpose.DUE), NO_LINES)
        self.is_approved = self.approvals[1] > 0
        self.total = self.approvals[0] if self.is_approved else self.earned
        # By the latest submission; and how many the platform pays in all.
        self.status = person.status or ""
        self.paid_there = sum(status in HANDED_IN for status in submissions)
        # Of several, one alone is to be paid: those that the platform did not end may be.
        self.may_be_paid = sum(status not in _UNPAID for status in submissions)
        # What the platform pays by itself.
        self.base = self._base(rules)
        # Sent so far, less what was taken back.
        self.bonuses = lines.get((person.pk, PayPurpose.BONUS), NO_LINES)
        self.sent = self.bonuses[0]
        # The bonus that is still to be sent, or what was paid beyond what is due: never below 0.
        self.open = max(self.total - self.base - self.sent, NOTHING)
        self.overpaid = max(self.base + self.sent - self.total, NOTHING)

    @property
    def approved(self) -> Decimal | None:
        """The amount that was approved; None while nobody has."""
        return self.total if self.is_approved else None

    @property
    def is_paid_twice(self) -> bool:
        return self.paid_there > 1

    @property
    def may_be_paid_twice(self) -> bool:
        return self.may_be_paid > 1 and not self.is_paid_twice

    @property
    def status_label(self) -> str:
        return str(SubmissionStatus(self.status).label)

    @property
    def paid_minutes(self) -> float:
        return self.person.paid_ms / 60_000

    @property
    def elapsed_hours(self) -> float:
        return elapsed_hours(self.person.consented_at, self.person.finished_at)

    @property
    def elapsed_minutes(self) -> float:
        return 60 * self.elapsed_hours

    @property
    def hourly(self) -> Decimal | None:
        """What an hour of elapsed time is worth, breaks included."""
        return _per_hour(self.total, self.elapsed_hours)

    @property
    def hourly_paid(self) -> Decimal | None:
        return _per_hour(self.total, self.person.paid_ms / HOUR_MS)

    def _base(self, rules: Mapping[str, OutcomeRule]) -> Decimal:
        """What the platform pays by what it says; until then by the code that was shown."""
        if self.status in _UNPAID:
            return NOTHING
        return rules[_PAID_AS.get(self.status, self.person.outcome)].platform_pays or NOTHING


def dues(study: Study, *, among: Collection[int] | None = None) -> list[Due]:
    """The dues of everybody whose work has ended, or of these assignments; the latest first. Nobody
    pays simulated ones."""
    people = people_of(study, among=among, order=("-finished_at", "-id"))
    return dues_of(study, [one for one in people if one.outcome and one.amount is not None])


def dues_of(study: Study, ended: Iterable[Person]) -> list[Due]:
    rules = {rule.outcome: rule for rule in study.outcome_rules.all()}
    lines = PaymentLine.objects.filter(assignment__study=study).order_by()
    grouped = lines.values_list("assignment", "purpose").annotate(Sum("amount"), Count("pk"))
    # SQLite adds up binary fractions.
    ledger = {(pk, purpose): (sum_.quantize(CENT), count) for pk, purpose, sum_, count in grouped}
    submissions = defaultdict[int, list[str]](list)
    came = Submission.objects.filter(assignment__study=study).order_by()
    for pk, status in came.values_list("assignment", "status"):
        submissions[pk].append(status)
    # One from elsewhere has no rules, and pays nobody.
    owed = (person for person in ended if person.outcome in rules)
    return [Due(person, rules, ledger, submissions[person.pk]) for person in owed]


def due_of(assignment: Assignment) -> Due | None:
    """What is due for an assignment; None while somebody is at work."""
    return next(iter(dues(assignment.study, among=[assignment.pk])), None)


def _per_hour(amount: Decimal, hours: float) -> Decimal | None:
    return (amount / Decimal(hours)).quantize(CENT) if hours > 0 else None


def totals(all_dues: Collection[Due]) -> dict[str, Any]:
    names = {"due": "total", **{name: name for name in ("base", "sent", "open", "overpaid")}}
    return {
        "people": len(all_dues),
        "approved": sum(due.is_approved for due in all_dues),
        "paid_twice": sum(due.is_paid_twice for due in all_dues),
        "maybe_twice": sum(due.may_be_paid_twice for due in all_dues),
        "without_submission": sum(not due.person.submission_id for due in all_dues),
        **{name: sum(getattr(d, field) for d in all_dues) for name, field in names.items()},
    }


# The most that fits into a line.
MOST = Decimal(999_999)
# Anybody may have written an id into a link: in a file of bonuses a comma would name an amount.
PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]*")


NONE_OPEN = "No approved bonus is waiting: there is nothing to send."
CHANGED = (
    "The payments have changed since this page was shown: somebody else approved, "
    "corrected or sent some. Look at the new list before you go on."
)


class Changed(Refusal):
    """What somebody saw is no longer what stands in the ledger."""


class NotTyped(BadInput):
    """More than the installation moves without the amount being typed again."""


def check_typed(study: Study, amount: Decimal, typed: str, *, whose: str = "") -> None:
    """Raises NotTyped for an amount above the installation's limit that was not typed; `whose` due
    a correction changes."""
    if abs(amount) <= settings.TYPE_AGAIN_ABOVE:
        return
    with suppress(InvalidOperation):
        if Decimal(typed) == abs(amount):
            return
    text = amount_text(abs(amount), study.currency)
    moved = f"This moves {text}."
    if whose:
        moved = (
            f"This {f'takes {text} from' if amount < 0 else f'adds {text} to'} what {whose} is due."
        )
    raise NotTyped(f"{moved} So large an amount is typed again before it moves.")


@dataclass(frozen=True)
class OpenBonuses:
    """Approved bonuses that are not sent yet."""

    dues: Sequence[Due]
    # Those whose id was erased, or is none that a platform gives out: nobody can pay them.
    nameless: Sequence[Due]
    # Those that nobody has approved yet.
    waiting: Sequence[Due]

    @property
    def awaited(self) -> Decimal:
        return sum((due.open for due in self.waiting), NOTHING)

    @property
    def total(self) -> Decimal:
        return sum((due.open for due in self.dues), NOTHING)

    @property
    def digest(self) -> str:
        """Names exactly these bonuses: whoever marks them as sent has seen them."""
        lines = sorted(f"{due.person.pk}:{due.sent}:{due.open}" for due in self.dues)
        return sha256("\n".join(lines).encode()).hexdigest()[:16]


def open_bonuses(study: Study) -> OpenBonuses:
    opened = [due for due in dues(study) if due.open > 0]
    unsent = [due for due in opened if due.is_approved]
    return OpenBonuses(
        [due for due in unsent if PLAIN_ID.fullmatch(due.person.external_id)],
        [due for due in unsent if not PLAIN_ID.fullmatch(due.person.external_id)],
        list(filter(waits, opened)),
    )


def waits(due: Due) -> bool:
    """Whether it waits for somebody to approve it."""
    return not due.is_approved and due.earned > 0


def approve(
    study: Study, assignment_ids: Collection[int], *, at: datetime, by: User | None = None
) -> int:
    """Approve what these people are due, where nobody has; returns how many were approved now."""
    while True:
        try:
            with transaction.atomic():
                missing = list(filter(waits, dues(study, among=assignment_ids)))
                new = [(due.person.pk, 0, due.earned) for due in missing]
                _add(new, purpose=PayPurpose.DUE, author=by, made_at=at)
                if missing:
                    record(by, study, ChangeAction.PAY_APPROVED, {}, {"people": len(missing)})
                return len(missing)
        except IntegrityError:
            # Somebody else approved one of them meanwhile: the others are still to be approved.
            continue


def correct(
    assignment: Assignment,
    *,
    amount: Decimal,
    reason: str,
    lines: int | None = None,
    at: datetime,
    by: User | None = None,
) -> PaymentLine:
    """Add to what somebody is due, or take from it, after it was approved; `lines` are those that
    whoever corrects has seen. Raises BadInput, and Changed where there are others by now."""
    due = due_of(assignment)
    if due is None or due.approved is None:
        raise BadInput("Nothing is approved for this person yet: approve what is due first.")
    if not reason.strip():
        raise BadInput("A correction needs a reason: give one.")
    if not amount or abs(amount) > MOST:
        raise BadInput("Write by how much it changes, such as 1.50 or -1.50.")
    if due.approved + amount < 0:
        raise BadInput(f"The amount due cannot be negative: take away {due.approved} at most.")
    if lines not in (None, due.approvals[1]):
        raise Changed(CHANGED)
    with _unless_changed():
        line = PaymentLine.objects.create(
            assignment=assignment,
            purpose=PayPurpose.DUE,
            correction=due.approvals[1],
            amount=amount,
            reason=reason.strip(),
            author=by,
            made_at=at,
        )
        who = {assignment.annotator.pseudonym: f"{amount:+.2f}"}
        record(by, assignment.study, ChangeAction.PAY_CORRECTED, {}, who)
    return line


def write_payout(
    study: Study,
    *,
    digest: str,
    way: str = PayoutWay.FILE,
    at: datetime,
    by: User | None = None,
    remote_id: str = "",
) -> Payout:
    """A line for each open bonus, all or none. A file is written down once the platform has it.
    Raises Changed, if they are others than the digest names, and BadInput if there are none."""
    state = PayoutState.SENT if way == PayoutWay.FILE else PayoutState.SENDING
    with _unless_changed():
        bonuses = open_bonuses(study)
        if bonuses.digest != digest:
            raise Changed(CHANGED)
        if not bonuses.dues:
            raise BadInput(NONE_OPEN)
        payout = Payout.objects.create(
            study=study, way=way, state=state, remote_id=remote_id, author=by, made_at=at
        )
        new = [(due.person.pk, due.bonuses[1], due.open) for due in bonuses.dues]
        _add(new, purpose=PayPurpose.BONUS, payout=payout, author=by, made_at=at)
        record(by, study, ChangeAction.PAY_SENT, {}, {"people": len(bonuses.dues), "by": way})
    return payout


def settle_payout(payout: Payout, *, was_sent: bool, at: datetime, by: User | None = None) -> bool:
    """Say what became of a payout whose answer is missing. What was not sent is taken back by
    lines of its own, and is open again. Says whether this call settled it."""
    state = PayoutState.SENT if was_sent else PayoutState.REFUSED
    unsettled = (PayoutState.SENDING, PayoutState.UNKNOWN)
    with _unless_changed():
        # The row count decides between two who settle it at once.
        settled = Payout.objects.filter(pk=payout.pk, state__in=unsettled).update(state=state)
        if settled and not was_sent:
            sent = dict(payout.lines.values_list("assignment", "amount"))
            back = [
                (due.person.pk, due.bonuses[1], -sent[due.person.pk])
                for due in dues(payout.study, among=sent)
            ]
            _add(back, purpose=PayPurpose.BONUS, payout=payout, author=by, made_at=at)
        if settled:
            record(by, payout.study, ChangeAction.PAY_SENT, {}, {"payout": state})
    payout.refresh_from_db()
    return bool(settled)


def _add(new: Iterable[tuple[int, int, Decimal]], **shared: Any) -> None:
    """Lines of an assignment, the number of its correction, and an amount, with what they share."""
    PaymentLine.objects.bulk_create(
        PaymentLine(assignment_id=pk, correction=number, amount=amount, **shared)
        for pk, number, amount in new
    )


@contextmanager
def _unless_changed() -> Iterator[None]:
    """One transaction. Raises Changed where somebody else was quicker."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as raced:
        raise Changed(CHANGED) from raced


FORMATS = ("csv", "prolific")
# What each means, and where a study and a due have it: ledger.toml.
COLUMNS = tuple(columns_in(__file__, "payments").values())


def export_payments(
    study: Study, file_format: str, *, payout: Payout | None = None
) -> Iterator[str]:
    """Lines of a file; of bonuses those that are open, or were sent by a payout. Nothing is stored:
    what was sent is logged by whoever writes it down."""
    if payout is not None:
        sent = payout.lines.filter(amount__gt=0).order_by("pk")
        return _bonus_lines(sent.values_list("assignment__annotator__external_id", "amount"))
    if file_format == "prolific":
        return prolific_lines(open_bonuses(study).dues)
    return csv_lines(COLUMNS, ({"study": study, "due": due} for due in dues(study)))


def prolific_lines(bonuses: Iterable[Due]) -> Iterator[str]:
    return _bonus_lines((due.person.external_id, due.open) for due in bonuses)


def _bonus_lines(bonuses: Iterable[tuple[str, Decimal]]) -> Iterator[str]:
    """What Prolific takes for bulk bonuses: the person's id and the amount, without a heading."""
    for external_id, amount in bonuses:
        yield f"{external_id},{amount:.2f}\n"

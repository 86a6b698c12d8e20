"""What a study's annotators were due, and what that came to per hour."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import median

from annotation.models import Assignment, Outcome

HOUR_MS = 3_600_000


@dataclass(frozen=True)
class Pay:
    """Amounts in the study's currency. Elapsed time runs from consent to the end, breaks
    included; paid time is capped for each page."""

    total: Decimal
    paid_hours: float
    # Of completed assignments; None where nobody completed.
    amount: Decimal | None
    minutes: float | None
    # What an hour of elapsed time was worth: the median, and the lowest.
    hourly: float | None
    lowest_hourly: float | None
    # What an hour of paid time was worth, over all completed ones together.
    hourly_paid: float | None
    # Assignments that ended and were due nothing, by outcome.
    unpaid: dict[str, int]


def pay(people: Sequence[Assignment]) -> Pay:
    # Each with what it was due.
    ended = [
        (person, person.amount) for person in people if person.outcome and person.amount is not None
    ]
    done = [(each, amount) for each, amount in ended if each.outcome == Outcome.COMPLETED]
    due = [amount for _, amount in done]
    timed = [(amount, _hours(each)) for each, amount in done]
    rates = [float(amount) / hours for amount, hours in timed if hours > 0]
    paid_ms = sum(each.paid_ms for each, _ in done)
    return Pay(
        total=sum((amount for _, amount in ended), Decimal(0)),
        paid_hours=sum(each.paid_ms for each, _ in ended) / HOUR_MS,
        amount=median(due) if due else None,
        minutes=median(60 * hours for _, hours in timed) if timed else None,
        hourly=median(rates) if rates else None,
        lowest_hourly=min(rates, default=None),
        hourly_paid=float(sum(due)) * HOUR_MS / paid_ms if paid_ms else None,
        unpaid={
            outcome: count
            for outcome in Outcome.values
            if (count := sum(each.outcome == outcome and not amount for each, amount in ended))
        },
    )


def _hours(assignment: Assignment) -> float:
    if assignment.consented_at is None or assignment.finished_at is None:
        return 0
    return (assignment.finished_at - assignment.consented_at).total_seconds() / 3600

"""What a study's annotators were due, and what that came to per hour."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import median

from annotation.models import Assignment, Outcome
from annotation.work.paying import HOUR_MS, elapsed_hours


@dataclass(frozen=True)
class Pay:
    """Amounts in the study's currency. Elapsed time runs from consent to the end, breaks
    included; paid time is capped for each page."""

    # Of assignments that ended, whatever their outcome.
    assignments: int
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
    done = [(person, amount) for person, amount in ended if person.outcome == Outcome.COMPLETED]
    due = [amount for _, amount in done]
    timed = [(amount, elapsed_hours(person)) for person, amount in done]
    rates = [float(amount) / hours for amount, hours in timed if hours > 0]
    paid_ms = sum(person.paid_ms for person, _ in done)
    return Pay(
        assignments=len(ended),
        total=sum((amount for _, amount in ended), Decimal(0)),
        paid_hours=sum(person.paid_ms for person, _ in ended) / HOUR_MS,
        amount=median(due) if due else None,
        minutes=median(60 * hours for _, hours in timed) if timed else None,
        hourly=median(rates) if rates else None,
        lowest_hourly=min(rates, default=None),
        hourly_paid=float(sum(due)) * HOUR_MS / paid_ms if paid_ms else None,
        unpaid={
            outcome: count
            for outcome in Outcome.values
            if (count := sum(person.outcome == outcome and not amount for person, amount in ended))
        },
    )

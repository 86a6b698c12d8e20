"""Numbers, dates and lists as a report writes them in Python and in its templates, in English."""

from collections.abc import Collection, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import apnumber

from annotation.models import Outcome
from scoring.tables.table import Column
from scoring.tables.words import ENDS, counted, listed, span, with_stop

register = template.Library()

# What columns of several tables are called.
INTERVAL = "95 % interval"
TASK = Column("task", "Task", is_number=False, is_name=True)

# What `Outcome` has not: expired by the closing, not by silence.
CLOSED = "closed"
# How an assignment ended: of one, and of several.
OUTCOMES: dict[str, tuple[str, str]] = {
    Outcome.COMPLETED: ("was completed", "were completed"),
    Outcome.SCREENED_OUT: ("was screened out", "were screened out"),
    Outcome.WITHDRAWN: ("withdrew", "withdrew"),
    Outcome.EXPIRED: ("was not heard from again", "were not heard from again"),
    CLOSED: (
        "was still at work when the study was closed",
        "were still at work when the study was closed",
    ),
    Outcome.DISPLACED: (
        "was resumed after its place had gone to somebody else",
        "were resumed after their places had gone to somebody else",
    ),
}


MOST_LISTED = 8


@register.filter
def few(values: Collection[object], words: str) -> str:
    """“a, b and c”; of more than eight how many they are, as `counted` says it."""
    return listed(values) if len(values) <= MOST_LISTED else counted(len(values), words)


@register.filter
def comma_and(forloop: Mapping[str, Any]) -> str:
    """What stands between this member of a list and the next."""
    return {1: "", 2: " and "}.get(forloop["revcounter"], ", ")


@register.filter
def semicolon(forloop: Mapping[str, Any]) -> str:
    return "" if forloop["last"] else "; "


@register.filter
def day(moment: date | str) -> str:
    """Write a day; of a text too, as dates are exported."""
    on = date.fromisoformat(moment) if isinstance(moment, str) else moment
    return f"{on.day} {on:%B %Y}"


def between(first: datetime, last: datetime) -> str:
    if first.date() == last.date():
        return f"on {day(first)}"
    return f"between {day(first)} and {day(last)}"


@register.filter
def money(amount: Decimal | float, currency: str) -> str:
    return f"{amount:,.2f} {currency}"


@register.filter
def number(value: Decimal | float, form: str) -> str:
    return format(value, form)


@register.filter
def points(value: float) -> str:
    text = f"{value:.1f}"
    return f"{text} point{'s' * (text != '1.0')}"


@register.filter
def percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} %"


def from_to(low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"{low:.1f} to {high:.1f}"


@register.filter
def ended(counts: Mapping[str, int]) -> list[str]:
    """“3 were completed”, “1 withdrew”."""
    return [
        f"{count} {one if count == 1 else many}"
        for outcome, (one, many) in OUTCOMES.items()
        if (count := counts.get(outcome, 0))
    ]


@register.filter
def how_one_ended(outcome: str) -> str:
    return "expired" if outcome == Outcome.EXPIRED else OUTCOMES[outcome][0]


@register.filter
def without_stop(text: str) -> str:
    return text.rstrip(".")


@register.filter
def quoted(text: str) -> str:
    """Quote a text at the end of a sentence, with one stop."""
    words = without_stop(text)
    return f"“{words}”" if words.endswith(ENDS) else f"“{words}”."


for shared in (apnumber, counted, listed, span, with_stop):
    register.filter(shared)

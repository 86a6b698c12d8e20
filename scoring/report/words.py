"""Numbers, dates and lists as a methods section writes them. Documents are in English."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal


def counted(count: int, one: str, many: str = "") -> str:
    """“1 person”, “3 people”."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(values: Iterable[object]) -> str:
    """“a, b and c”."""
    texts = [str(value) for value in values]
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def alternatives(values: Iterable[object]) -> str:
    """“a, b or c”."""
    texts = [str(value) for value in values]
    return " or ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"


def between(first: datetime, last: datetime) -> str:
    if first.date() == last.date():
        return f"on {day(first)}"
    return f"between {day(first)} and {day(last)}"


def money(amount: Decimal | float, currency: str) -> str:
    return f"{amount:,.2f} {currency}"


def percent(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:.{digits}f} %"


def from_to(low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"{low:.1f} to {high:.1f}"


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]

"""A section of a report: paragraphs, and possibly a table."""

from collections.abc import Iterable
from dataclasses import dataclass

from scoring.tables.table import Table


@dataclass(frozen=True)
class Section:
    title: str
    paragraphs: tuple[str, ...]
    table: Table | None = None


def paragraph(sentences: Iterable[str]) -> tuple[str, ...]:
    """One paragraph of these sentences; none if there are none."""
    text = " ".join(filter(None, sentences))
    return (text,) if text else ()

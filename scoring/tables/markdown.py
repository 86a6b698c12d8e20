"""Markdown: each table beneath its title, its notes beneath it."""

from collections.abc import Iterable, Sequence

from scoring.tables.layout import laid_out
from scoring.tables.table import Table


def as_markdown(tables: Sequence[Table]) -> str:
    return "\n\n".join(part for table in tables for part in _parts(table)) + "\n"


def escaped(value: object) -> str:
    """Text that stays literal and within its cell."""
    text = str(value)
    for sign in "\\|*_`<[":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


def _parts(table: Table) -> Iterable[str]:
    layout = laid_out(table)
    yield f"## {escaped(layout.title)}"
    if layout.note:
        yield escaped(layout.note)
    head = [escaped(" ".join(filter(None, [c.group, c.heading]))) for c in layout.columns]
    lines = [[escaped(cell.in_one_line) for cell in line.cells] for line in layout.lines]
    yield "\n".join(map(_line, [head, ["---"] * len(head), *lines]))
    yield from map(escaped, layout.notes)


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"

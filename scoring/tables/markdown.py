"""Markdown: each table beneath its title, its notes beneath it."""

import re
from collections.abc import Iterable, Sequence

from scoring.tables.layout import laid_out
from scoring.tables.table import Table
from scoring.tables.text import in_one_line

# An ampersand means something where a name or a number and a semicolon follow.
SIGNS = re.compile(r"[\\|*_`<\[#~]|&(?=#?\w+;)")
# Quotations, lists, the line beneath a heading; a number makes a list by the sign behind it.
BEGINNINGS = re.compile(r"^(\d*)([-+=>.)])")


def as_markdown(tables: Sequence[Table]) -> str:
    return "\n\n".join(part for table in tables for part in _parts(table)) + "\n"


def escaped(value: object) -> str:
    """Text that stays literal and within its cell."""
    return SIGNS.sub(r"\\\g<0>", in_one_line(value))


def beginning(value: object) -> str:
    """The same where a line begins, at which more signs mean something."""
    return BEGINNINGS.sub(r"\1\\\2", escaped(value))


def _parts(table: Table) -> Iterable[str]:
    layout = laid_out(table)
    yield f"## {escaped(layout.title)}"
    if layout.note:
        yield beginning(layout.note)
    head = [escaped(" ".join(filter(None, [c.group, c.heading]))) for c in layout.columns]
    lines = [[escaped(cell.in_one_line) for cell in line.cells] for line in layout.lines]
    yield "\n".join(map(_line, [head, ["---"] * len(head), *lines]))
    yield from map(beginning, layout.notes)


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"

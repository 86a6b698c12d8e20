"""Plain text, in columns, with a rule between lines of different kinds."""

import re
from collections.abc import Iterable
from itertools import groupby
from textwrap import fill

from scoring.tables.layout import LaidColumn, laid_out
from scoring.tables.table import Table

# What is no sign: control characters, and those that turn the direction of what follows.
UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def in_one_line(value: object) -> str:
    """A text as it may stand in a document beside others."""
    return UNSEEN.sub("", " ".join(str(value).split()))


def as_text(table: Table, *, width: int = 88) -> str:
    layout = laid_out(table)
    heads = [column.heading for column in layout.columns]
    # A line stays a line.
    lines = [
        (line.kind, [in_one_line(cell.in_one_line) for cell in line.cells]) for line in layout.lines
    ]
    widths = [max(map(len, texts)) for texts in zip(heads, *(t for _, t in lines), strict=True)]
    rule = "  ".join("-" * width for width in widths)
    parts = [fill(layout.caption, width), "", _line(layout.columns, heads, widths)]
    for _, same in groupby(lines, key=lambda line: line[0]):
        parts += [rule, *(_line(layout.columns, texts, widths) for _, texts in same)]
    return "\n".join(parts)


def _line(columns: Iterable[LaidColumn], texts: Iterable[str], widths: Iterable[int]) -> str:
    return "  ".join(
        text.rjust(width) if column.is_number else text.ljust(width)
        for column, text, width in zip(columns, texts, widths, strict=True)
    ).rstrip()

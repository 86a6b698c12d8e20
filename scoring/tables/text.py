"""Plain text, in columns."""

from textwrap import fill

from scoring.tables.table import ReadCell, Table


def as_text(table: Table, *, width: int = 88) -> str:
    heads = [column.full_heading for column in table.spread_columns]
    lines = [heads, *(texts for _, texts in table.spread_lines(_text))]
    widths = [max(map(len, texts)) for texts in zip(*lines, strict=True)]
    rule = "  ".join("-" * width for width in widths)
    head, *others = (_line(table, line, widths) for line in lines)
    return "\n".join([fill(table.caption, width), "", head, rule, *others])


def _text(part: ReadCell) -> str:
    text = " ".join(filter(None, [part.figure, part.interval])) + part.cell.marks
    # A line stays a line.
    return " ".join(text.split())


def _line(table: Table, texts: list[str], widths: list[int]) -> str:
    placed = zip(table.spread_columns, texts, widths, strict=True)
    return "  ".join(
        text.rjust(width) if column.is_number else text.ljust(width)
        for column, text, width in placed
    ).rstrip()

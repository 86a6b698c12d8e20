"""Markdown: each table beneath its title, its notes beneath it."""

from collections.abc import Iterable, Sequence

from scoring.tables.table import Column, ReadCell, Table


def as_markdown(tables: Sequence[Table]) -> str:
    return "\n\n".join(part for table in tables for part in _parts(table)) + "\n"


def escaped(value: object) -> str:
    """Text that stays literal and within its cell."""
    text = str(value)
    for sign in "\\|*_`<[":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


def _parts(table: Table) -> Iterable[str]:
    yield f"## {escaped(table.title)}"
    if table.note:
        yield escaped(table.note)
    head = [_heading(table, column) for column in table.spread_columns]
    lines = [texts for _, texts in table.spread_lines(_text)]
    yield "\n".join(map(_line, [head, ["---"] * len(head), *lines]))
    for mark, note in table.notes.items():
        yield f"{mark} {note}"


def _heading(table: Table, column: Column) -> str:
    group = table.group_name(column.group) if column.group else ""
    return escaped(" ".join(filter(None, [group, column.full_heading])))


def _text(part: ReadCell) -> str:
    figure = part.figure if part.column.is_number else part.noted
    return escaped(" ".join(filter(None, [figure, part.interval])) + part.cell.marks)


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"

"""How a document sets a table: texts alone, with what is beside a value in a column of its own."""

from dataclasses import dataclass

from scoring.tables.table import Column, Group, ReadCell, Table


@dataclass(frozen=True)
class LaidCell:
    figure: str
    interval: str = ""
    marks: str = ""
    size: str = ""

    @property
    def in_one_line(self) -> str:
        figure = " ".join(part for part in (self.figure, self.interval) if part) + self.marks
        return "; ".join(filter(None, [figure, self.size]))


@dataclass(frozen=True)
class LaidColumn:
    heading: str
    group: str
    is_number: bool


@dataclass(frozen=True)
class Head:
    """A heading over several columns; "" over one that has none."""

    text: str
    span: int


@dataclass(frozen=True)
class LaidLine:
    kind: str
    cells: tuple[LaidCell, ...]


@dataclass(frozen=True)
class Layout:
    title: str
    note: str
    caption: str
    columns: tuple[LaidColumn, ...]
    # Empty where no column is in a group, or where the groups are all the headings there are.
    heads: tuple[Head, ...]
    lines: tuple[LaidLine, ...]
    # A mark and what it means.
    notes: tuple[str, ...]
    has_groups: bool
    is_short: bool


def laid_out(table: Table) -> Layout:
    split = _split_keys(table)
    return Layout(
        title=str(table.title),
        note=str(table.note),
        caption=table.caption,
        columns=tuple(laid for column in table.columns for laid in _columns(table, column, split)),
        heads=tuple(_heads(table, split)) if table.has_two_heads else (),
        lines=tuple(
            LaidLine(line.kind, tuple(laid for cell in line.cells for laid in _cells(cell, split)))
            for line in table.read
        ),
        notes=tuple(f"{mark} {note}" for mark, note in table.notes.items()),
        has_groups=table.has_groups,
        is_short=table.is_short,
    )


def _split_keys(table: Table) -> set[str]:
    """The columns with something beside a value."""
    return {
        column.key
        for column in table.columns
        if any(line.cell(column).aside for line in table.lines)
    }


def _columns(table: Table, column: Column, split: set[str]) -> list[LaidColumn]:
    group = _name(table, column.group)
    laid = LaidColumn(column.full_heading, group, column.is_number)
    return [laid, LaidColumn("", group, is_number=False)] if column.key in split else [laid]


def _heads(table: Table, split: set[str]) -> list[Head]:
    heads = []
    for group, columns in table.heads:
        span = len(columns) + sum(column.key in split for column in columns)
        heads += [Head(_name(table, group), span)] if group else [Head("", 1)] * span
    return heads


def _name(table: Table, group: Group | None) -> str:
    return table.group_name(group) if group else ""


def _cells(part: ReadCell, split: set[str]) -> list[LaidCell]:
    figure = part.figure if part.column.is_number else part.noted
    laid = LaidCell(figure, part.interval, part.cell.marks, part.cell.size)
    return [laid, LaidCell(part.cell.aside)] if part.column.key in split else [laid]

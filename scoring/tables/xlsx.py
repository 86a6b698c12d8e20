"""A workbook: a sheet for each table, with numbers as numbers, and the meaning of its columns;
before them sheets for reading, each figure in its format, with what stands beside it in columns of
its own.

Bytes are deterministic: the same tables give the same file.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from typing import Any

from xlsxwriter import Workbook

from scoring.tables.table import Cell, Column, Line, Table, Value, lines_of

# In place of the time of saving.
SAVED = datetime(2000, 1, 1, tzinfo=UTC)
# All times are UTC, and said to be.
OPTIONS = {
    "in_memory": True,
    "remove_timezone": True,
    "default_date_format": "yyyy-mm-dd hh:mm:ss",
}
# What XML has no sign for, and how many characters a cell holds.
UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
LONGEST = 32_767
LEAST_WIDTH = 8
# In characters; longer texts are wrapped.
MOST_WIDTH = 110
NAME_WIDTH, FIGURE_WIDTH, TEXT_WIDTH = 30, 10, 22
# Rows and columns count from 0.
TITLE, NOTE, GROUPS, HEADINGS, FIRST = 0, 1, 3, 4, 5
BOLD: dict[str, Any] = {"bold": True}
SOFT: dict[str, Any] = {"italic": True, "font_color": "#55616B"}
PEOPLE: dict[str, Any] = {"bg_color": "#E3EEF1"}
WRAPPED: dict[str, Any] = {"text_wrap": True, "valign": "top"}


class Sheet:
    """A sheet of a workbook, whose cells are written with their looks."""

    def __init__(self, book: Workbook, name: str) -> None:
        self.written = book.add_worksheet(name)
        self._look = cache(lambda looks: book.add_format(dict(looks)))

    def put(self, row: int, column: int, value: Value, **looks: Any) -> None:
        look = self._look(tuple(looks.items())) if looks else None
        if isinstance(value, str):
            # A text that begins like a formula, an address or a number stays a text.
            self.written.write_string(row, column, _as_written(value), look)
        else:
            self.written.write(row, column, value, look)


def _as_written(text: str) -> str:
    text = UNWRITABLE.sub("�", text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def as_xlsx(tables: Sequence[Table], *, to_read: Sequence[Table] = ()) -> bytes:
    """The tables to read come first, headed and formatted."""
    out = BytesIO()
    with Workbook(out, OPTIONS) as book:
        book.set_properties({"created": SAVED})
        names = Counter(table.name for table in to_read)
        numbers: Counter[str] = Counter()
        for table in to_read:
            numbers[table.name] += 1
            number = f" {numbers[table.name]}" if names[table.name] > 1 else ""
            _fill_to_read(Sheet(book, f"{table.name.capitalize()}{number}"), table)
        for table in tables:
            _fill(Sheet(book, _free(table.name, book)), table)
    return out.getvalue()


def _free(name: str, book: Workbook) -> str:
    """Sheets may not differ by case alone."""
    taken = {sheet.get_name().lower() for sheet in book.worksheets()}
    return f"{name} (all)" if name.lower() in taken else name


def meanings(tables: Sequence[Table]) -> Table:
    described: list[tuple[str, str]] = []
    for table in tables:
        described.append((table.name, table.caption))
        described += [
            (f"{table.name}: {one.key}", one.meaning or one.full_heading) for one in table.columns
        ]
    columns = (Column("table or column", ""), Column("meaning", ""))
    lines = lines_of({"table or column": key, "meaning": text} for key, text in described)
    return Table("meanings", "", "", columns, lines)


def _fill(sheet: Sheet, table: Table) -> None:
    lines: list[Sequence[Value]] = [table.keys]
    lines += [[*record.values()] for record in table.records]
    for row, line in enumerate(lines):
        for column, value in enumerate(line):
            is_long = isinstance(value, str) and len(value) > MOST_WIDTH
            sheet.put(row, column, value, **(BOLD if row == 0 else WRAPPED if is_long else {}))
    sheet.written.freeze_panes(1, 0)
    for column, values in enumerate(zip(*lines, strict=True)):
        longest = max(len(value) for value in values if isinstance(value, str))
        width = min(max(longest + 2, LEAST_WIDTH), MOST_WIDTH)
        sheet.written.set_column(column, column, width)


# What one column of the sheet takes from the cells of a column: "figure", or a name of BESIDE.
SheetPart = tuple[Column, str]
BESIDE = {
    "aside": "",
    "sd": "SD",
    "low": "95 % low",
    "high": "95 % high",
    "size": "rests on",
    "sign": "verdict",
    "marks": "marks",
}


def _fill_to_read(sheet: Sheet, table: Table) -> None:
    # They run over the columns beside them.
    sheet.put(TITLE, 0, str(table.title), bold=True, font_size=14)
    sheet.put(NOTE, 0, str(table.note), **SOFT)
    parts = [part for column in table.columns for part in _sheet_parts(table, column)]
    for number, part in enumerate(parts):
        _head(sheet, number, part)
    for row, line in enumerate(table.lines, start=FIRST):
        of_people = PEOPLE if line.kind == "people" else {}
        for number, part in enumerate(parts):
            digits = part[0].digits
            digital = {} if digits is None else {"num_format": f"{0:.{digits}f}"}
            sheet.put(row, number, _value(part, line), **of_people, **digital)
    for row, (mark, note) in enumerate(table.notes.items(), start=FIRST + len(table.lines) + 1):
        sheet.put(row, 0, f"{mark} {note}", **SOFT)
    sheet.written.freeze_panes(FIRST, 1)
    sheet.written.set_landscape()
    sheet.written.fit_to_pages(1, 0)


def _sheet_parts(table: Table, column: Column) -> Iterator[SheetPart]:
    cells = [line.cell(column) for line in table.lines]
    yield column, "figure"
    for name in BESIDE:
        if any(_beside(cell, name) is not None for cell in cells):
            yield column, name


def _value(part: SheetPart, line: Line) -> Value:
    column, name = part
    cell = line.cell(column)
    if name != "figure":
        return _beside(cell, name)
    value = column.named(cell.value)
    return f"{value} [{cell.note}]" if cell.note else value


def _beside(cell: Cell, name: str) -> Value:
    """None for a text that is empty, not for a figure of 0."""
    value: Value = getattr(cell, name)
    return None if value == "" else value


def _head(sheet: Sheet, number: int, part: SheetPart) -> None:
    column, name = part
    is_first = name == "figure"
    if column.group and is_first:
        aside = f" ({column.group.aside})" if column.group.aside else ""
        sheet.put(GROUPS, number, f"{column.group.heading}{aside}", **BOLD)
    heading = column.full_heading or "mean" if is_first else BESIDE[name]
    sheet.put(HEADINGS, number, heading or None, **BOLD, bottom=1)
    is_figure = column.is_number and name not in ("size", "aside")
    wide = NAME_WIDTH if column.is_name and is_first else TEXT_WIDTH
    sheet.written.set_column(number, number, FIGURE_WIDTH if is_figure else wide)

"""A sheet for reading: title, note, headings, and every figure as a number in its format, with what
stands beside it in columns of their own."""

from collections.abc import Iterator
from dataclasses import dataclass

from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE, MergedCell
from openpyxl.cell.cell import Cell as SheetCell
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.worksheet import Worksheet

from scoring.tables.table import Cell, Column, Table, Value

# In characters; longer texts are wrapped.
MOST_WIDTH = 110
NAME_WIDTH, FIGURE_WIDTH, TEXT_WIDTH = 30, 10, 22
GROUPS, HEADINGS, FIRST = 4, 5, 6
BOLD, SOFT = Font(bold=True), Font(italic=True, color="55616B")
PEOPLE = PatternFill("solid", fgColor="E3EEF1")
RULE = Border(bottom=Side(style="thin"))


@dataclass(frozen=True)
class Part:
    """What one column of the sheet takes from a cell."""

    column: Column
    name: str
    heading: str = ""

    def value(self, cell: Cell) -> Value:
        if self.name != "figure":
            return _beside(cell, self.name)
        value = self.column.named(cell.value)
        return f"{value} [{cell.note}]" if cell.note else value

    @property
    def format(self) -> str:
        digits = self.column.digits
        return "General" if digits is None else "0." + "0" * digits if digits else "0"


BESIDE = {
    "aside": "",
    "sd": "SD",
    "low": "95 % low",
    "high": "95 % high",
    "size": "rests on",
    "sign": "verdict",
    "distance": "apart",
    "marks": "marks",
}


def fill_to_read(sheet: Worksheet, table: Table) -> None:
    _say(sheet.cell(1, 1), str(table.title), Font(bold=True, size=14))
    _say(sheet.cell(2, 1), str(table.note), SOFT)
    parts = [part for column in table.columns for part in _parts(table, column)]
    for number, part in enumerate(parts, start=1):
        _head(sheet, number, part)
    for place, line in enumerate(table.lines, start=FIRST):
        for number, part in enumerate(parts, start=1):
            cell = sheet.cell(place, number)
            put(cell, part.value(line.cell(part.column)))
            cell.number_format = part.format
            if line.kind == "people":
                cell.fill = PEOPLE
    _legend(sheet, table, FIRST + len(table.lines) + 1)
    sheet.freeze_panes = f"B{FIRST}"
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, 0
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)


def put(cell: SheetCell | MergedCell, value: Value) -> None:
    if not isinstance(value, str):
        cell.value = value
        return
    cell.value = ILLEGAL_CHARACTERS_RE.sub("�", value)
    # A text that begins like a formula stays a text.
    cell.data_type = "s"
    if len(value) > MOST_WIDTH:
        cell.alignment = Alignment(wrap_text=True, vertical="top")


def _parts(table: Table, column: Column) -> Iterator[Part]:
    cells = [line.cell(column) for line in table.lines]
    yield Part(column, "figure", column.full_heading)
    for name, heading in BESIDE.items():
        if any(_beside(cell, name) is not None for cell in cells):
            yield Part(column, name, heading)


def _beside(cell: Cell, name: str) -> Value:
    """None for a text that is empty, not for a figure of 0."""
    value: Value = getattr(cell, name)
    return None if value == "" else value


def _head(sheet: Worksheet, number: int, part: Part) -> None:
    column = part.column
    group, heading = sheet.cell(GROUPS, number), sheet.cell(HEADINGS, number)
    if column.group and part.name == "figure":
        aside = f" ({column.group.aside})" if column.group.aside else ""
        put(group, f"{column.group.heading}{aside}")
    put(heading, part.heading or ("mean" if part.name == "figure" else None))
    group.font = heading.font = BOLD
    heading.border = RULE
    is_figure = column.is_number and part.name not in ("size", "aside")
    wide = NAME_WIDTH if column.is_name and part.name == "figure" else TEXT_WIDTH
    width = FIGURE_WIDTH if is_figure else wide
    sheet.column_dimensions[get_column_letter(number)].width = width


def _legend(sheet: Worksheet, table: Table, place: int) -> None:
    for number, (mark, note) in enumerate(table.notes.items()):
        _say(sheet.cell(place + number, 1), f"{mark} {note}", SOFT)


def _say(cell: SheetCell | MergedCell, text: str, font: Font) -> None:
    """Over the columns beside it."""
    put(cell, text)
    cell.font, cell.alignment = font, Alignment(wrap_text=False)

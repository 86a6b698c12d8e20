"""A workbook: a sheet for each table, with numbers as numbers, and the meaning of its columns;
before them sheets for reading, each figure in its format, with what stands beside it in columns of
its own.

Bytes are deterministic: the same tables give the same file.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE, MergedCell
from openpyxl.cell.cell import Cell as SheetCell
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.worksheet import Worksheet

from scoring.tables.table import Cell, Column, Line, Table, Value, lines_of

PROPERTIES = "docProps/core.xml"
TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
LEAST_WIDTH = 8
# In characters; longer texts are wrapped.
MOST_WIDTH = 110
NAME_WIDTH, FIGURE_WIDTH, TEXT_WIDTH = 30, 10, 22
GROUPS, HEADINGS, FIRST = 4, 5, 6
BOLD, SOFT = Font(bold=True), Font(italic=True, color="55616B")
PEOPLE = PatternFill("solid", fgColor="E3EEF1")
RULE = Border(bottom=Side(style="thin"))


def as_xlsx(tables: Sequence[Table], *, to_read: Sequence[Table] = ()) -> bytes:
    """The tables to read come first, headed and formatted."""
    book = Workbook()
    for sheet in book.worksheets:
        book.remove(sheet)
    names = Counter(table.name for table in to_read)
    numbers: Counter[str] = Counter()
    for table in to_read:
        numbers[table.name] += 1
        number = f" {numbers[table.name]}" if names[table.name] > 1 else ""
        fill_to_read(book.create_sheet(f"{table.name.capitalize()}{number}"), table)
    for table in tables:
        _fill(book.create_sheet(_free(table.name, book)), table)
    out = BytesIO()
    book.save(out)
    return _without_clock(out)


def _free(name: str, book: Workbook) -> str:
    """Sheets may not differ by case alone."""
    taken = {sheet.title.lower() for sheet in book.worksheets}
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


def _without_clock(saved: BytesIO) -> bytes:
    """The same archive without the time of saving in any part."""
    out = BytesIO()
    with ZipFile(saved) as dated, ZipFile(out, "w", ZIP_DEFLATED) as undated:
        for name in dated.namelist():
            content = dated.read(name)
            if name == PROPERTIES:
                content = TIME.sub(b"2000-01-01T00:00:00Z", content)
            # Without a date it is dated 1980, the earliest that an archive can say.
            undated.writestr(ZipInfo(name), content, ZIP_DEFLATED)
    return out.getvalue()


def _fill(sheet: Worksheet, table: Table) -> None:
    lines: list[Sequence[Value]] = [table.keys]
    lines += [[*record.values()] for record in table.records]
    for number, line in enumerate(lines, start=1):
        for column, value in enumerate(line, start=1):
            put(sheet.cell(number, column), value)
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    sheet.freeze_panes = "A2"
    for column, values in enumerate(zip(*lines, strict=True), start=1):
        longest = max(len(value) for value in values if isinstance(value, str))
        width = min(max(longest + 2, LEAST_WIDTH), MOST_WIDTH)
        sheet.column_dimensions[get_column_letter(column)].width = width


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


def fill_to_read(sheet: Worksheet, table: Table) -> None:
    _say(sheet.cell(1, 1), str(table.title), Font(bold=True, size=14))
    _say(sheet.cell(2, 1), str(table.note), SOFT)
    parts = [part for column in table.columns for part in _sheet_parts(table, column)]
    for number, part in enumerate(parts, start=1):
        _head(sheet, number, part)
    for place, line in enumerate(table.lines, start=FIRST):
        for number, part in enumerate(parts, start=1):
            cell = sheet.cell(place, number)
            put(cell, _value(part, line))
            digits = part[0].digits
            cell.number_format = "General" if digits is None else f"{0:.{digits}f}"
            if line.kind == "people":
                cell.fill = PEOPLE
    for number, (mark, note) in enumerate(table.notes.items(), start=FIRST + len(table.lines) + 1):
        _say(sheet.cell(number, 1), f"{mark} {note}", SOFT)
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


def _head(sheet: Worksheet, number: int, part: SheetPart) -> None:
    column, name = part
    is_first = name == "figure"
    group, heading = sheet.cell(GROUPS, number), sheet.cell(HEADINGS, number)
    if column.group and is_first:
        aside = f" ({column.group.aside})" if column.group.aside else ""
        put(group, f"{column.group.heading}{aside}")
    put(heading, column.full_heading or "mean" if is_first else BESIDE[name] or None)
    group.font = heading.font = BOLD
    heading.border = RULE
    is_figure = column.is_number and name not in ("size", "aside")
    wide = NAME_WIDTH if column.is_name and is_first else TEXT_WIDTH
    sheet.column_dimensions[get_column_letter(number)].width = FIGURE_WIDTH if is_figure else wide


def _say(cell: SheetCell | MergedCell, text: str, font: Font) -> None:
    """Over the columns beside it."""
    put(cell, text)
    cell.font, cell.alignment = font, Alignment(wrap_text=False)

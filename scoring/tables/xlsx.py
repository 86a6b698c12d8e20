"""A workbook: the rows with numbers as numbers, and a sheet that explains the columns.

Bytes are deterministic: the same rows give the same file.
"""

import re
from collections.abc import Sequence
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE, Cell
from openpyxl.styles import Alignment, Font
from openpyxl.worksheet.worksheet import Worksheet

from scoring.comparison.comparing import ComparisonTable
from scoring.comparison.rows import COLUMNS, Row
from scoring.comparison.sheets import Sheet
from scoring.tables.columns import COLUMN_MEANINGS

PROPERTIES = "docProps/core.xml"
TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def as_xlsx(table: ComparisonTable) -> bytes:
    book = Workbook()
    rows = book.active
    rows.title = "comparison"
    _fill(rows, _with_head(table.rows))
    if table.consensus:
        _fill(book.create_sheet("consensus"), _with_head(table.consensus))
    meanings = [("column", "meaning"), *COLUMN_MEANINGS.items()]
    _explain(book, "columns", [*meanings, ("(all figures)", table.provenance)])
    return _saved(book)


def _with_head(rows: Sequence[Row]) -> list[Sequence[object]]:
    return [COLUMNS, *([getattr(row, name) for name in COLUMNS] for row in rows)]


def sheets_as_xlsx(sheets: Sequence[Sheet]) -> bytes:
    """Each table on a sheet of its own, then what the tables and their columns are."""
    book = Workbook()
    book.remove(book.active)
    meanings = [("table or column", "meaning")]
    for sheet in sheets:
        keys = [column.key for column in sheet.columns]
        lines = [[row.get(key) for key in keys] for row in sheet.rows]
        _fill(book.create_sheet(sheet.name), [keys, *lines])
        meanings.append((sheet.name, f"{sheet.title}. {sheet.note}"))
        meanings += [(f"{sheet.name}: {each.key}", str(each.heading)) for each in sheet.columns]
    _explain(book, "meanings", meanings)
    return _saved(book)


def _explain(book: Workbook, title: str, meanings: list) -> None:
    sheet = book.create_sheet(title)
    _fill(sheet, meanings)
    sheet.column_dimensions["A"].width = 28
    sheet.column_dimensions["B"].width = 110
    for row in sheet.iter_rows():
        row[1].alignment = Alignment(wrap_text=True, vertical="top")


def _saved(book: Workbook) -> bytes:
    out = BytesIO()
    book.save(out)
    return _without_clock(out)


def _without_clock(saved: BytesIO) -> bytes:
    """The same archive with the time of saving in none of its parts."""
    out = BytesIO()
    with ZipFile(saved) as dated, ZipFile(out, "w", ZIP_DEFLATED) as undated:
        for name in dated.namelist():
            content = dated.read(name)
            if name == PROPERTIES:
                content = TIME.sub(b"2000-01-01T00:00:00Z", content)
            undated.writestr(_part(name), content)
    return out.getvalue()


def _part(name: str) -> ZipInfo:
    # Without a date it is dated 1980, the earliest that an archive can say.
    part = ZipInfo(name)
    part.compress_type = ZIP_DEFLATED
    return part


def _fill(sheet: Worksheet, lines: list) -> None:
    for number, line in enumerate(lines, start=1):
        for place, value in enumerate(line, start=1):
            _put(sheet.cell(number, place), value)
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    sheet.freeze_panes = "A2"
    sheet.column_dimensions["A"].width = 14
    sheet.column_dimensions["C"].width = 24


def _put(cell: Cell, value: object) -> None:
    if isinstance(value, str):
        cell.value = ILLEGAL_CHARACTERS_RE.sub("�", value)
        # A text that begins like a formula stays a text.
        cell.data_type = "s"
    else:
        cell.value = value

"""A workbook: a sheet for each table, with numbers as numbers, and the meaning of its columns.

Bytes are deterministic: the same tables give the same file.
"""

import re
from collections.abc import Sequence
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE, Cell, MergedCell
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from scoring.tables.table import Column, Table, Value, lines_of

PROPERTIES = "docProps/core.xml"
TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
# In characters; longer texts are wrapped.
LEAST_WIDTH, MOST_WIDTH = 8, 110


def as_xlsx(tables: Sequence[Table]) -> bytes:
    book = Workbook()
    for sheet in book.worksheets:
        book.remove(sheet)
    for table in tables:
        _fill(book.create_sheet(table.name), table)
    out = BytesIO()
    book.save(out)
    return _without_clock(out)


def meanings(tables: Sequence[Table]) -> Table:
    """What tables and their columns are, as a table."""
    told: list[tuple[str, str]] = []
    for table in tables:
        told.append((table.name, table.caption))
        told += [(f"{table.name}: {column.key}", meaning(column)) for column in table.columns]
    columns = (Column("table or column", ""), Column("meaning", ""))
    lines = lines_of({"table or column": key, "meaning": text} for key, text in told)
    return Table("meanings", "", "", columns, lines)


def meaning(column: Column) -> str:
    return str(column.meaning) or column.full_heading


def _without_clock(saved: BytesIO) -> bytes:
    """The same archive without the time of saving in any part."""
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


def _fill(sheet: Worksheet, table: Table) -> None:
    lines: list[Sequence[Value]] = [table.keys]
    lines += [[*record.values()] for record in table.records]
    for number, line in enumerate(lines, start=1):
        for place, value in enumerate(line, start=1):
            _put(sheet.cell(number, place), value)
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    sheet.freeze_panes = "A2"
    for place, values in enumerate(zip(*lines, strict=True), start=1):
        longest = max(len(value) for value in values if isinstance(value, str))
        width = min(max(longest + 2, LEAST_WIDTH), MOST_WIDTH)
        sheet.column_dimensions[get_column_letter(place)].width = width


def _put(cell: Cell | MergedCell, value: Value) -> None:
    if not isinstance(value, str):
        cell.value = value
        return
    cell.value = ILLEGAL_CHARACTERS_RE.sub("�", value)
    # A text that begins like a formula stays a text.
    cell.data_type = "s"
    if len(value) > MOST_WIDTH:
        cell.alignment = Alignment(wrap_text=True, vertical="top")

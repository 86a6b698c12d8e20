"""A workbook: a sheet for each table, with numbers as numbers, and the meaning of its columns.

Bytes are deterministic: the same tables give the same file.
"""

import re
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from openpyxl import Workbook
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from scoring.tables.reading_sheets import MOST_WIDTH, fill_to_read, put
from scoring.tables.table import Column, Table, Value, lines_of

PROPERTIES = "docProps/core.xml"
TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
# In characters.
LEAST_WIDTH = 8


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
        for column, value in enumerate(line, start=1):
            put(sheet.cell(number, column), value)
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    sheet.freeze_panes = "A2"
    for column, values in enumerate(zip(*lines, strict=True), start=1):
        longest = max(len(value) for value in values if isinstance(value, str))
        width = min(max(longest + 2, LEAST_WIDTH), MOST_WIDTH)
        sheet.column_dimensions[get_column_letter(column)].width = width

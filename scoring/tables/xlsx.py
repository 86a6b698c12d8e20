"""A workbook: the rows with numbers as numbers, and a sheet that explains the columns."""

from io import BytesIO

from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE, Cell
from openpyxl.styles import Alignment, Font
from openpyxl.worksheet.worksheet import Worksheet

from scoring.acts.comparing import ComparisonTable
from scoring.rows import COLUMNS
from scoring.tables.columns import COLUMN_MEANINGS


def as_xlsx(table: ComparisonTable) -> bytes:
    book = Workbook()
    rows = book.active
    rows.title = "comparison"
    _fill(rows, [COLUMNS, *([getattr(row, name) for name in COLUMNS] for row in table.rows)])
    columns = book.create_sheet("columns")
    _fill(columns, [("column", "meaning"), *COLUMN_MEANINGS.items()])
    columns.column_dimensions["B"].width = 110
    for row in columns.iter_rows():
        row[1].alignment = Alignment(wrap_text=True, vertical="top")
    out = BytesIO()
    book.save(out)
    return out.getvalue()


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

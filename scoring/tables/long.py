"""One line a row, with every column: CSV and JSON."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

from scoring.comparison.comparing import ComparisonTable
from scoring.comparison.rows import COLUMNS, as_plain
from scoring.comparison.sheets import Sheet


def as_json(table: ComparisonTable) -> str:
    return json.dumps(table.as_plain(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def as_csv(table: ComparisonTable) -> str:
    return _csv(COLUMNS, map(as_plain, table.rows))


def sheets_as_json(sheets: Sequence[Sheet]) -> str:
    tables = {sheet.name: [_exported(sheet, row) for row in sheet.rows] for sheet in sheets}
    return json.dumps(tables, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def sheet_as_csv(sheets: Sequence[Sheet]) -> str:
    """Of one sheet: a CSV file holds one table."""
    [sheet] = sheets
    keys = [column.key for column in sheet.columns]
    return _csv(keys, (_exported(sheet, row) for row in sheet.rows))


def _exported(sheet: Sheet, row: Mapping[str, object]) -> dict[str, object]:
    return {column.key: row.get(column.key) for column in sheet.columns}


def _csv(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    out = StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()

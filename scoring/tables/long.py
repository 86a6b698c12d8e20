"""One line a row, with every column: CSV and JSON."""

import csv
import json
from io import StringIO

from scoring.acts.comparing import ComparisonTable
from scoring.rows import COLUMNS, as_plain


def as_json(table: ComparisonTable) -> str:
    return json.dumps(table.as_plain(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def as_csv(table: ComparisonTable) -> str:
    out = StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(as_plain(row) for row in table.rows)
    return out.getvalue()

"""Every value as it is, one record per line: CSV (but for formulas) and JSON."""

import csv
import json
from collections.abc import Mapping, Sequence
from io import StringIO

from scoring.tables.table import Table, Value

FORMULA_SIGNS = ("=", "@", "+", "-", "\t", "\r", "'")


def as_csv(table: Table) -> str:
    out = StringIO()
    writer = csv.DictWriter(out, table.keys, lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: _cell(value) for name, value in record.items()} for record in table.records
    )
    return out.getvalue()


def as_json(tables: Sequence[Table], facts: Mapping[str, Value] | None = None) -> str:
    """The tables by name, after facts about all of them."""
    document = {**(facts or {}), **{table.name: table.records for table in tables}}
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _cell(value: Value) -> Value:
    """As annotation.models.texts has it for exports of answers: an apostrophe before what a
    spreadsheet would compute."""
    is_formula = isinstance(value, str) and value.startswith(FORMULA_SIGNS)
    return f"'{value}" if is_formula else value

"""The people's page as a file: pseudonyms alone, as on the page."""

import csv
import io
from collections.abc import Iterable, Iterator

from annotation.models.texts import as_cell
from annotation.people.rows import Row

COLUMNS = (
    *("annotator", "batch", "state", "items_done", "items", "last_sign_of_life", "paid_minutes"),
    *("time_against_median", "pay", "practice_score", "excluded", "flags"),
)


def csv_lines(people: Iterable[Row], *, with_pay: bool) -> Iterator[str]:
    columns = [name for name in COLUMNS if with_pay or name != "pay"]
    yield _csv_line(columns)
    for row in people:
        cells = _cells(row)
        yield _csv_line(as_cell(cells[name]) for name in columns)


def _cells(row: Row) -> dict[str, object]:
    assignment = row.assignment
    return {
        "annotator": assignment.annotator.pseudonym,
        "batch": str(assignment.batch),
        "state": row.state,
        "items_done": row.done,
        "items": row.items,
        "last_sign_of_life": row.seen_at.isoformat(),
        "paid_minutes": f"{row.minutes:.2f}",
        "time_against_median": "" if row.pace is None else f"{row.pace:.2f}",
        "pay": row.pay,
        "practice_score": row.training_score,
        "excluded": "true" if hasattr(assignment, "exclusion") else "false",
        "flags": " ".join(flag.name for flag in row.flags),
    }


def _csv_line(fields: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(fields)
    return line.getvalue()

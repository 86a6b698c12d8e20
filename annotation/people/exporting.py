"""The people's page as a file: pseudonyms alone, as on the page."""

from collections.abc import Iterable, Iterator

from annotation.people.rows import Row
from scoring.tables.documents import csv_line

COLUMNS = (
    *("annotator", "batch", "state", "items_done", "items", "last_sign_of_life", "paid_minutes"),
    *("time_against_median", "pay", "practice_score", "excluded", "flags"),
)


def csv_lines(people: Iterable[Row], *, with_pay: bool) -> Iterator[str]:
    columns = [name for name in COLUMNS if with_pay or name != "pay"]
    yield csv_line(columns)
    for row in people:
        cells = _cells(row)
        yield csv_line(cells[name] for name in columns)


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

"""A table as its reader arranges it: sorted by one column, with the columns of their choice."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import accumulate, groupby
from numbers import Real

from scoring.tables.table import Column, Line, Part, ReadCell, Table

# More lines than these are shown in parts.
MOST_LINES = 12


def arranged(
    table: Table, *, sort: str = "", columns: Collection[str] = (), usual: Collection[str] = ()
) -> Table:
    """sort: as `Column.order` says it; what names another table, or no column, changes nothing.
    The chosen columns stand in sight, else the usual ones, else all; the others are a click away.
    """
    all_columns = (*table.columns, *table.further)
    usual = usual or {column.key for column in all_columns if column.is_usual}
    name, _, asked = sort.partition(":")
    key = asked.removeprefix("-") if name == table.name else ""
    descending = asked.startswith("-")
    known = {column.key for column in all_columns}
    in_sight = (set(columns) & known) or (set(usual) & known) or known
    marked = [_marked(table.name, column, key=key, descending=descending) for column in all_columns]
    return replace(
        table,
        columns=tuple(c for c in marked if c.key in in_sight or c.is_name),
        further=tuple(c for c in marked if c.key not in in_sight and not c.is_name),
        lines=tuple(_sorted(table, key, descending=descending)) if key in known else table.lines,
    )


def in_parts(table: Table, by: str, *, told: str = "") -> Table:
    """Part a table by the values of one column, which then need not stand in the lines, with how
    often each value of the column `told` occurs. A short table, a sorted one, or one with a single
    value of that column stays in one piece."""
    column = next((column for column in table.columns if column.key == by), None)
    if column is None or table.is_sorted or len(table.lines) <= MOST_LINES:
        return table
    lines: dict[str, list[Line]] = {}
    for line in table.lines:
        lines.setdefault(column.read(line.cell(column).value), []).append(line)
    if len(lines) < 2:
        return table
    words = next((column for column in table.columns if column.key == told), None)
    parts = (_part(table, name, part, by, words) for name, part in lines.items())
    return replace(table, parts=tuple(parts))


def _part(table: Table, name: str, lines: Sequence[Line], by: str, words: Column | None) -> Part:
    # Sorting is for the whole table, which then is in one piece.
    columns = tuple(replace(c, order="") for c in table.columns if c.key != by)
    part = replace(table, columns=columns, lines=tuple(lines), parts=())
    counts = Counter(ReadCell(words, line.cell(words)).text for line in lines) if words else {}
    return Part(name, ", ".join(f"{word} {count}" for word, count in counts.items() if word), part)


def _marked(table: str, column: Column, *, key: str, descending: bool) -> Column:
    """Give it the order that a click gives: first the highest numbers, or the names from A."""
    is_sorted = column.key == key
    first = "-" if column.is_number else ""
    turned = "" if descending else "-"
    order = f"{table}:{turned if is_sorted else first}{column.key}"
    now = ("descending" if descending else "ascending") if is_sorted else ""
    return replace(column, order=order, sort=now or (column.sort if not key else ""))


def _sorted(table: Table, key: str, *, descending: bool) -> Sequence[Line]:
    """Within the parts that a heading line starts, and within kinds that stay together."""
    parts = accumulate(int(line.is_section) for line in table.lines)

    def block(placed: tuple[int, Line]) -> tuple[int, bool, str]:
        part, line = placed
        return part, line.is_section, line.kind if table.keeps_kinds else ""

    column = next(column for column in (*table.columns, *table.further) if column.key == key)
    column = replace(column, key=column.ordered_by or key)
    return [
        line
        for _, together in groupby(zip(parts, table.lines, strict=True), key=block)
        for line in _by_value([line for _, line in together], column, descending=descending)
    ]


def _by_value(lines: Sequence[Line], column: Column, *, descending: bool) -> list[Line]:
    """Sort; what has no value comes last, in either direction."""
    filled = [line for line in lines if line.cell(column).value is not None]
    empty = [line for line in lines if line.cell(column).value is None]

    def place(line: Line) -> tuple[bool, float, str]:
        value = column.named(line.cell(column).value)
        if isinstance(value, Real | Decimal):
            return False, float(value), ""
        return True, 0.0, str(value).casefold()

    return [*sorted(filled, key=place, reverse=descending), *empty]

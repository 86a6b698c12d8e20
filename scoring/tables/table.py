"""One table, whatever it is about: columns that say what they mean, lines of values, notes.

Numbers stay numbers: their column says how to show them, and exports have them unrounded.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, partial
from itertools import groupby
from math import isnan
from pathlib import Path
from typing import Any, TypeAlias

from scoring.tables.words import with_stop

Value: TypeAlias = str | int | float | bool | None

MISSING = "–"
# What is no sign: control characters, and those that turn the direction of what follows.
UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# From so many columns on, readers choose which ones are in sight.
WIDE = 8
# A line that heads those that follow it.
SECTION = "section"
# What of a column a reader is shown who may not see the gold. One that says nothing is hidden.
HIDDEN, ROUNDED, OPEN = "hidden", "rounded", "open"


@dataclass(frozen=True)
class Group:
    """A head over several columns. Documents add its aside if two have the same heading."""

    heading: str
    aside: str = ""
    href: str = ""


@dataclass(frozen=True)
class Column:
    """A column, exported under its key and shown with this many digits (None: as it is)."""

    key: str
    heading: str = ""
    meaning: str = ""
    unit: str = ""
    digits: int | None = None
    # Values nearer to zero are shown as below this one.
    least: float | None = None
    is_number: bool = True
    # Whether its values name the lines.
    is_name: bool = False
    is_strong: bool = False
    # As aria-sort says it.
    sort: str = ""
    # What a click on the heading makes the address say, to sort by it.
    order: str = ""
    group: Group | None = None
    # Of values that readers know by another name; exports have the values.
    names: Mapping[str, str] = field(default_factory=dict, hash=False)
    # The attribute that holds a line's value, with dots between names; by default that of the key.
    source: str = ""
    without_gold: str = ""
    # In sight where nobody chose; one without a heading stands in files alone.
    is_usual: bool = False
    # The right that a reader needs, beside that to the table.
    right: str = ""
    # Whose values order the lines, where its own don't.
    ordered_by: str = ""

    def under(self, key: str, heading: str | None = None, *, source: str = "") -> "Column":
        """The same figure at another place."""
        heading = self.heading if heading is None else heading
        return replace(self, key=key, heading=heading, source=source or self.source)

    def value_of(self, thing: object) -> Value:
        """The value of a thing that has what the column shows; None where a part is missing."""
        value: Any = thing
        for name in (self.source or self.key).split("."):
            is_mapping = isinstance(value, Mapping)
            value = value.get(name) if is_mapping else getattr(value, name, None)
        if isinstance(value, tuple):
            return ", ".join(map(str, value))
        return None if isinstance(value, float) and isnan(value) else value

    @property
    def full_heading(self) -> str:
        return f"{self.heading}, {self.unit}" if self.unit else self.heading

    @property
    def label(self) -> str:
        """What the column is called where its headings are out of sight."""
        task = self.group.heading if self.group else ""
        return " ".join(part for part in (task, self.full_heading) if part)

    def named(self, value: Value) -> Value:
        return self.names.get(value, value) if isinstance(value, str) else value

    def read(self, value: Value) -> str:
        value = self.named(value)
        if value is None:
            return MISSING if self.is_number else ""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, datetime):
            return f"{value:%Y-%m-%d %H:%M}"
        if isinstance(value, str | int) or self.digits is None:
            return str(value)
        if self.least is not None and value < self.least:
            return f"< {self.least:.{self.digits}f}"
        return f"{value:.{self.digits}f}"


@dataclass(frozen=True)
class Cell:
    """A value with what is shown beside it."""

    value: Value = None
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    # Each character is one mark, which the table's notes explain.
    marks: str = ""
    # What a test says of the value, and that in words; the table's notes explain it too.
    sign: str = ""
    in_words: str = ""
    # What it opens into on a page: labels with texts.
    opens: tuple[tuple[str, str], ...] = ()
    # What stands beside a name; documents give it a column of its own.
    aside: str = ""
    # Beneath the value; in brackets in documents.
    note: str = ""
    # What the value rests on, in documents; pages have it beneath.
    size: str = ""
    # The rest is for pages alone. Small lines beneath the value.
    beneath: tuple[str, ...] = ()
    rank: int | None = None
    href: str = ""
    # The value of a box to tick, of the form that has the table's name.
    tick: str = ""


@dataclass(frozen=True)
class Line:
    """Cells by the keys of their columns. A rule separates lines of different kinds."""

    cells: Mapping[str, Value | Cell]
    kind: str = ""

    @property
    def is_section(self) -> bool:
        return self.kind == SECTION

    def cell(self, column: Column) -> Cell:
        cell = self.cells.get(column.key, "" if self.is_section else None)
        return cell if isinstance(cell, Cell) else Cell(cell)


@dataclass(frozen=True)
class ReadCell:
    """A cell as texts."""

    column: Column
    cell: Cell

    @property
    def text(self) -> str:
        return self.column.read(self.cell.value)

    @property
    def is_missing(self) -> bool:
        return self.text == MISSING and self.cell == Cell()

    @property
    def sd(self) -> str:
        return "" if self.cell.sd is None else self.column.read(self.cell.sd)

    @property
    def interval(self) -> str:
        return limits(self.cell.low, self.cell.high, digits=self.column.digits or 0)

    @property
    def figure(self) -> str:
        """The text for documents, which have no room beneath a name for its note."""
        note = "" if self.column.is_number else self.cell.note
        return f"{self.text} [{note}]" if note else self.text

    @property
    def stacked(self) -> list[str]:
        """Write a cell as in a paper: score and SD, behind the sign, which leaves them aligned;
        beneath them the interval and what it rests on. Of a name what stands aside, and its
        source."""
        if not self.column.is_number:
            aside = "; ".join(filter(None, [self.cell.aside, self.cell.note]))
            return [self.text + self.cell.marks, aside, self.cell.size]
        sd = f"± {self.sd}" if self.sd else ""
        score = " ".join(filter(None, [self.cell.sign, self.text, sd]))
        return [score + self.cell.marks, self.interval, self.cell.size]

    @property
    def in_one_line(self) -> str:
        aside, sign = ("", self.cell.sign) if self.column.is_number else (self.cell.aside, "")
        sd = f"± {self.sd}" if self.sd else ""
        parts = " ".join(filter(None, [self.figure, sd, sign, self.interval]))
        return "; ".join(filter(None, [parts + self.cell.marks, self.cell.size or aside]))


@dataclass(frozen=True)
class ReadLine:
    kind: str
    cells: tuple[ReadCell, ...]
    # In the table's further columns, as far as it has any there.
    further: tuple[ReadCell, ...] = ()

    @property
    def is_section(self) -> bool:
        return self.kind == SECTION


@dataclass(frozen=True)
class Table:
    """A table. Its name is its key in exports."""

    name: str
    title: str
    note: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...] = ()
    # What the marks mean; only those in use are explained.
    marks: Mapping[str, str] = field(default_factory=dict)
    # What its figures come to, beneath them.
    remark: str = ""
    # Whether a paper sets it in one piece.
    is_short: bool = False
    # Lines of one kind stay together, however they are sorted.
    keeps_kinds: bool = False
    # The columns that a page shows behind a click on a line.
    further: tuple[Column, ...] = ()
    # What a page shows in place of one long run of lines, each behind a click.
    parts: tuple["Part", ...] = ()

    @property
    def caption(self) -> str:
        return " ".join(with_stop(part) for part in (self.title, self.note) if part)

    @property
    def keys(self) -> list[str]:
        return [column.key for column in self.columns]

    @property
    def records(self) -> list[dict[str, Value]]:
        """The bare values, as they are."""
        return [{one.key: line.cell(one).value for one in self.columns} for line in self.lines]

    @property
    def read(self) -> list[ReadLine]:
        return [
            ReadLine(
                line.kind,
                tuple(ReadCell(column, line.cell(column)) for column in self.columns),
                tuple(
                    ReadCell(column, line.cell(column))
                    for column in self.further
                    if line.cell(column).value not in (None, "")
                ),
            )
            for line in self.lines
        ]

    @property
    def notes(self) -> dict[str, str]:
        cells = (line.cell(column) for line in self.lines for column in self.columns)
        used = {mark for cell in cells for mark in (*cell.marks, *cell.sign, cell.sign)}
        return {mark: note for mark, note in self.marks.items() if mark in used}

    @property
    def remarks(self) -> list[str]:
        """What stands beneath the table in a document."""
        notes = (f"{mark} {note}" for mark, note in self.notes.items())
        return [*filter(None, [self.remark]), *notes]

    @property
    def heads(self) -> list[tuple[Group | None, list[Column]]]:
        """The columns beneath each spanning head; those without one singly."""
        heads: list[tuple[Group | None, list[Column]]] = []
        for group, beneath in groupby(self.columns, key=lambda column: column.group):
            columns = list(beneath)
            heads += [(group, columns)] if group else [(None, [column]) for column in columns]
        return heads

    @property
    def is_sorted(self) -> bool:
        return any(column.sort for column in (*self.columns, *self.further))

    @property
    def explained(self) -> list[Column]:
        return [column for column in (*self.columns, *self.further) if column.meaning]

    @property
    def choosable(self) -> list[Column]:
        return [column for column in (*self.columns, *self.further) if not column.is_name]

    @property
    def is_wide(self) -> bool:
        """Whether it is too wide to show all that a reader may choose from."""
        arranged = any(column.order for column in self.columns)
        return arranged and len(self.choosable) >= WIDE

    @property
    def has_groups(self) -> bool:
        return any(column.group for column in self.columns)

    @property
    def has_two_heads(self) -> bool:
        return any(column.group and column.heading for column in self.columns)

    @property
    def has_names(self) -> bool:
        return any(column.is_name for column in self.columns)

    @property
    def group_starts(self) -> set[str]:
        return {columns[0].key for group, columns in self.heads if group}

    def group_of(self, column: Column) -> str:
        """The heading over a column, told from others that read alike; empty where none is."""
        if (group := column.group) is None:
            return ""
        same = {other for other, _ in self.heads if other and other.heading == group.heading}
        return f"{group.heading} ({group.aside})" if len(same) > 1 else group.heading

    def without(self, keys: Collection[str]) -> "Table":
        return replace(self, columns=tuple(one for one in self.columns if one.key not in keys))

    def with_names(self, key: str, names: Mapping[str, str]) -> "Table":
        """Name the values of one column as readers call them."""
        columns, further = (
            tuple(replace(each, names=names) if each.key == key else each for each in group)
            for group in (self.columns, self.further)
        )
        return replace(self, columns=columns, further=further)

    def without_empty_texts(self) -> "Table":
        texts = (column for column in self.columns if not column.is_number)
        return self.without(
            {each.key for each in texts if not any(line.cell(each).value for line in self.lines)}
        )

    def with_asides(self) -> "Table":
        """Give what stands beside a value a column of its own."""
        asides = {
            column: Column(f"{column.key} aside", "", is_number=False, group=column.group)
            for column in self.columns
            if any(line.cell(column).aside for line in self.lines)
        }
        lines = []
        for line in self.lines:
            cells = dict(line.cells)
            for column, aside in asides.items():
                cell = line.cell(column)
                cells |= {column.key: replace(cell, aside=""), aside.key: cell.aside}
            lines.append(replace(line, cells=cells))
        columns = [each for column in self.columns for each in (column, asides.get(column)) if each]
        return replace(self, columns=tuple(columns), lines=tuple(lines))


@dataclass(frozen=True)
class Part:
    """Some lines of a long table under a heading of their own, and what they come to."""

    heading: str
    told: str
    table: Table

    @property
    def summary(self) -> str:
        return self.told or str(len(self.table.lines))


def lines_of(records: Iterable[Mapping[str, Value]]) -> tuple[Line, ...]:
    return tuple(map(Line, records))


def values_of(columns: Iterable[Column], thing: object) -> dict[str, Value]:
    return {column.key: column.value_of(thing) for column in columns}


def records_of(columns: Sequence[Column], things: Iterable[object]) -> tuple[dict[str, Value], ...]:
    """A record for each thing, with the values of the columns."""
    return tuple(values_of(columns, thing) for thing in things)


def columns_in(module: str, table: str) -> dict[str, Column]:
    """Reads the columns by key, as the file beside a module describes them: those of `rows.py` in
    `rows.toml`."""
    return {key: Column(key, **about) for key, about in _described(module)[table].items()}


def table_in(module: str, name: str, columns: Iterable[Column]) -> Table:
    """Reads a table without lines; its title and note as that file has them, under `about`."""
    return Table(name, **_described(module)["about"][name], columns=tuple(columns))


@cache
def _described(module: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))


points = partial(Column, digits=1)
words = partial(Column, is_number=False)


def picked(columns: Mapping[str, Column], names: str) -> tuple[Column, ...]:
    return tuple(columns[name] for name in names.split())


def p_column(key: str, heading: str, meaning: str = "") -> Column:
    return Column(key, heading, meaning, digits=3, least=0.001)


def rounded(value: float | None, digits: int = 1) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def signed(value: float) -> str:
    """Write a number with its sign, a true minus."""
    return f"{value:+.1f}".replace("-", "−")


def limits(low: float | None, high: float | None, *, digits: int = 1) -> str:
    if low is None or high is None:
        return ""
    return f"[{rounded(low, digits)}, {rounded(high, digits)}]"

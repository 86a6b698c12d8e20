"""One table of a task, and what its columns hold."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from annotation.benchmarks.formats.cells import holds_text, text_of
from annotation.benchmarks.formats.content import Ambiguous, Fields, Record
from annotation.benchmarks.formats.known_sets import KnownSet, as_list, is_aside, key, value_at
from annotation.models.errors import BadInput
from scoring.core.normalisation import read_number

# What ends so is no name of a column.
SENTENCE = re.compile(r"\w\s?[.?!。？！]\s*$")
# Of the name of a column, and of all of them in a sentence.
LONGEST_NAME, LONGEST_NAMED = 60, 200
NOTHING: tuple[Any, ...] = (None, "", [], {})


class Unlabelled(BadInput):
    """A file whose rows have no gold, with the names of its columns, its first row, and by columns
    that may be labels after all what they hold."""

    def __init__(
        self,
        sentence: str,
        names: Sequence[str] = (),
        row: Mapping[str, Any] | None = None,
        labels: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        super().__init__(sentence)
        self.names, self.row, self.labels = names, row, labels or {}


@dataclass(frozen=True)
class Table:
    """One file of a task."""

    file: str
    names: Sequence[str]
    rows: Sequence[Record]
    known: KnownSet
    # What its task's file says of it.
    said: Mapping[str, Any]
    # By the field of a task; filled by find_columns.
    columns: Fields = field(default_factory=dict)

    def cells(self, row: Record, name: str) -> list[Any]:
        """The cells of the columns of one field."""
        return [value_at(row.fields, path) for path in as_list(self.columns.get(name))]

    def shown(self, row: Record) -> Fields:
        """The row for whoever is asked about it: its cells, and which is taken for the answer."""
        gold = {path.partition(".")[0] for path in as_list(self.columns.get("answer"))}
        return {f"{n} (the answer)" if n in gold else n: v for n, v in row.fields.items()}

    def ask(self, what: str, *readings: tuple[str, Any, str]) -> NoReturn:
        """Ask about the table with its first row."""
        raise Ambiguous(self.file, what, *readings, row=self.shown(self.rows[0]))

    @property
    def asks_nothing(self) -> bool:
        """Whether rows are options alone, of which the task's description asks."""
        named = {**self.known.columns, **(self.said.get("columns") or {})}
        return named.get("question") == "" and not {"context", "question"} & self.columns.keys()


def labels_in_columns(table: Table) -> dict[str, set[str]]:
    """What columns hold that nothing is made of, where that repeats or is numbers."""
    taken = {n for f, of in table.columns.items() if f != "groups" for n in as_list(of)}
    labels = {}
    for name in table.names:
        cells = [text_of(row.fields.get(name)) for row in table.rows]
        # A grade is left out by its name elsewhere.
        is_left = name in taken or (is_aside(name) and key(name) != "score")
        if not is_left and all(isinstance(cell, str) for cell in cells):
            values = {cell.removesuffix(".0") for cell in cells}
            if repeats(name, table) or all(read_number(value) is not None for value in values):
                labels[name] = values
    return labels


def is_row(names: Sequence[str]) -> bool:
    """Whether the first line of a file may be no line of names."""
    return any(
        len(name) > LONGEST_NAME or read_number(name) is not None or SENTENCE.search(name)
        for name in names
    )


def listing(names: Sequence[str]) -> str:
    if is_row(names):
        return "the first line looks like a row: write the columns' names above it"
    listed = ", ".join(names)
    if len(listed) > LONGEST_NAMED:
        listed = f"{listed[:LONGEST_NAMED].rpartition(', ')[0]} and others"
    return f"there are {listed}"


def repeats(path: str, table: Table) -> bool:
    return len({str(value_at(row.fields, path)) for row in table.rows}) * 2 <= len(table.rows)


def shortened(path: Any, rows: Sequence[Record]) -> list[Record]:
    """Rows of which a path keeps one place of lists whose lengths differ, and so may lose more."""
    above, _, place = str(path).rpartition(".")
    cells = [value_at(row.fields, above) if place.isdecimal() else None for row in rows]
    lists = [[item for item in as_list(cell) if isinstance(item, list)] for cell in cells]
    lengths = [[len(item) for item in inner if item] for inner in lists]
    is_even = len({length for inner in lengths for length in inner}) < 2
    return [
        r for r, of in zip(rows, lengths, strict=True) if not is_even and max(of, default=0) > 1
    ]


def text_paths(name: str, rows: Sequence[Record]) -> list[str]:
    """Find where the column's texts stand: in objects, or the objects of a list, each that holds
    one in most rows."""
    cells = [row.fields.get(name) for row in rows]
    firsts = [cell[0] if isinstance(cell, list) and cell else cell for cell in cells]
    objects = [first for first in firsts if isinstance(first, dict)]
    often = Counter(of for entry in objects for of, text in entry.items() if holds_text(text))
    inside = [of for of, count in often.items() if count * 2 >= len(objects)]
    inside = ["text"] if "text" in inside else inside
    return [f"{name}.{of}" for of in inside] if objects else [name]


def is_text_column(name: str, rows: Sequence[Record]) -> bool:
    texts = sum(holds_text(row.fields.get(name)) for row in rows)
    return texts * 2 >= len(rows) > 0

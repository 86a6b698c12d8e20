"""Questions and answers in two files: line by line, or under the same ids."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, combinations
from typing import Any

from annotation.benchmarks.formats.content import Ambiguous, Record
from annotation.benchmarks.formats.files import decoded
from annotation.benchmarks.formats.known_sets import HALVES, is_aside
from annotation.benchmarks.formats.layouts import ORDER, TEXTS, SetFiles, TaskFiles, slug_of
from annotation.benchmarks.formats.one_table import listing
from annotation.models import Role
from annotation.models.errors import BadInput

# Only so many tasks are looked through for an id that they share.
LINE, MOST = "line", 4
# A file with an answer a line, for the table whose name begins its own.
LINES = re.compile(r"(?P<of>.+?)[-_.](?:labels?|answers?|gold)\.(?:lst|txt)", re.I)
Read = Callable[[str], Sequence[Record]]


def lines_beside(file: str, names: Sequence[str]) -> str:
    lines_of = {match["of"]: name for name in names if (match := LINES.fullmatch(name))}
    return lines_of.get(re.sub(rf"({'|'.join(TEXTS)}|\.\w+)$", "", file, flags=re.I), "")


def with_lines(rows: list[Record], beside: str, data: bytes, by: str | None) -> list[Record]:
    """The rows, each with its line as its label. Raises Ambiguous where nothing says so."""
    if by is None:
        answers = ("join", LINE, "each of its lines is the answer to the row in its place")
        other = ("join", "", "it belongs to something else")
        raise Ambiguous("", f"{beside} lies beside {rows[0].file}.", answers, other)
    if by != LINE:
        return rows
    text = decoded(data, beside, "utf-8-sig").rstrip("\n")
    lines = [line.strip() for line in text.split("\n")]
    if len(lines) != len(rows):
        raise BadInput(
            f"{beside} has {len(lines)} lines for the {len(rows)} rows of {rows[0].file}: give "
            "each row its line."
        )
    return [
        replace(row, fields={**row.fields, "label": line})
        for row, line in zip(rows, lines, strict=True)
    ]


def joined(tasks: Sequence[TaskFiles], title: str) -> list[TaskFiles]:
    """A task of all; or one of each that are named alike but for what they hold, where there are
    several such."""
    groups = _alike(tasks)
    if sum(len(group) > 1 for group in groups.values()) < 2:
        return [_as_one(tasks, title)]
    return [_as_one(group, name) if group[1:] else group[0] for name, group in groups.items()]


def _alike(tasks: Sequence[TaskFiles]) -> dict[str, list[TaskFiles]]:
    """Group tasks by what their names have in common."""
    groups: dict[str, list[TaskFiles]] = {}
    for task in tasks:
        words = re.split(r"[-_. ]+", task.name)
        name = "-".join(word for word in words if word.lower() not in HALVES)
        groups.setdefault(name, []).append(task)
    return groups


def _as_one(tasks: Sequence[TaskFiles], title: str) -> TaskFiles:
    """The task whose parts stand in the files of several: of one folder, where it has several."""
    parts = [one for task in tasks for one in task.sets]
    sets = list[SetFiles]()
    for part in sorted({one.part for one in parts}, key=ORDER.index):
        folders: dict[str, list[str]] = {}
        for file in (file for one in parts if one.part == part for file in one.files):
            folders.setdefault(file.rpartition("/")[0], []).append(file)
        groups = [*folders.values()]
        if not any(group[1:] for group in groups):
            groups = [[file for group in groups for file in group]]
        beside = {first: rest for first, *rest in groups}
        none = [""] * len(beside)
        sets.append(SetFiles([*beside], Role.TEST, part=part, versions=none, beside=beside))
    return replace(tasks[0], name=title, slug=slug_of(title), sets=sets)


def with_others(rows: list[Record], others: Sequence[Record], by: str) -> list[Record]:
    """The rows, each with the cells of the others that have the same in this column."""
    for first in (rows[0], *others[:1]):
        if by not in first.fields:
            there_are = listing([*first.fields])
            raise BadInput(f"{first.file}: there is no column “{by}” to join rows by; {there_are}.")
    cells = {str(other.fields.get(by)): other.fields for other in others}
    alone = [row for row in rows if str(row.fields.get(by)) not in cells]
    if alone or len(cells) < len(others) or len(others) > len(rows):
        where = (alone[0] if alone else others[-1]).where
        both = " and ".join(row.file for row in (rows[0], *others[:1]))
        raise BadInput(f"{where}: its “{by}” must stand once in {both}.")
    return [replace(row, fields={**cells[str(row.fields.get(by))], **row.fields}) for row in rows]


def ask_to_join(tasks: Sequence[TaskFiles], read: Read) -> None:
    """Raise Ambiguous where the first tables of two tasks have the same ids, and other columns."""
    tables = list[Sequence[Record]]()
    groups = sorted(_alike(tasks).values(), key=len, reverse=True)
    for task in [*chain.from_iterable(groups)][:MOST] if len(tasks) > 1 else ():
        with suppress(BadInput):
            tables.append(read(task.sets[0].files[0]))
    for one, other in combinations(filter(None, tables), 2):
        shared = [name for name in one[0].fields if name in other[0].fields]
        ids = [name for name in shared if is_aside(name) or name.lower() == "id"]
        if shared != ids or len(ids) != 1 or _cells(one, ids[0]) != _cells(other, ids[0]):
            continue
        raise Ambiguous(
            "",
            f"{one[0].file} and {other[0].file} have the same “{ids[0]}”, and other columns.",
            ("join", ids[0], "rows of the same id are one"),
            ("join", "", "they are tasks of their own"),
            row={**other[0].fields, **one[0].fields},
        )


def _cells(rows: Sequence[Record], name: str) -> Mapping[str, Any]:
    return {str(row.fields.get(name)): None for row in rows}

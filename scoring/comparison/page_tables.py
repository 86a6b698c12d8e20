"""The tables of an analysis as its page shows them: what most readers look for in sight, the rest
behind a click on a line."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.utils.translation import gettext_lazy as _

from scoring.comparison.overview import FALLS, NOTE_OF_FALLS, SIGNS
from scoring.comparison.verdict_tables import WORDS
from scoring.core.verdicts import AHEAD, BEHIND
from scoring.tables.table import Cell, Line, Table, Text, Value

WHERE = ("study", "simulated", "task", "shots")
# By table, beside where a line belongs.
USUAL: dict[str, tuple[str, ...]] = {
    "tests": ("system", "method", "difference", "outcome", "p_holm"),
    "systems": ("first", "first_method", "system", "method", "difference", "outcome", "p_holm"),
    "average-tests": ("system", "method", "difference", "outcome", "p"),
    "gains": ("annotators", "total", "low", "high"),
    "changes": ("other_shots", "difference", "p_holm"),
    "uncertainty": ("mean", "sd", "n", "m", "new_items_low", "new_items_high"),
    "agreement": ("consensus", "n", "masi", "pairwise_s1"),
    "curves": ("first", "last", "mean", "adjusted", "se"),
    "annotator-curves": ("annotator", "first", "last", "mean"),
    "aggregates": ("system", "method", "mean", "sd"),
    "excluded": ("without_mean", "without_n", "with_mean", "with_n"),
    "pooled-annotators": ("annotator", "mean", "pooled", "low", "high", "is_weak"),
    "pooled-items": ("item", "chance", "high", "right", "answers", "most", "most_count"),
}
# The tables whose first side is people.
OF_PEOPLE = ("tests", "average-tests")
OF_SYSTEMS: dict[str, Text] = {**WORDS, AHEAD: _("first ahead"), BEHIND: _("first behind")}


def usual_columns(table: Table) -> tuple[str, ...]:
    """Without what all lines have in common of where they belong."""
    if table.name not in USUAL:
        return ()
    told = [key for key in WHERE if len({_value(line, key) for line in table.lines}) > 1]
    return (*told, *USUAL[table.name])


def for_page(table: Table, tasks: Sequence[str]) -> Table:
    """With a difference and its limits in one cell, the outcome in words and with its sign, in the
    order of the tasks."""
    table = _in_order(table, tasks)
    if "difference" in table.keys:
        table = _with_limits(table)
    return _in_words(table) if "outcome" in table.keys else table


def _in_order(table: Table, tasks: Sequence[str]) -> Table:
    if "task" not in table.keys:
        return table
    places = {task: place for place, task in enumerate(tasks)}

    def place(line: Line) -> int:
        return places.get(str(_value(line, "task")), len(places))

    return replace(table, lines=tuple(sorted(table.lines, key=place)))


def _with_limits(table: Table) -> Table:
    lines = tuple(
        replace(line, cells={**line.cells, "difference": _difference(line)}) for line in table.lines
    )
    return replace(table, lines=lines).without({"low", "high"})


def _difference(line: Line) -> Cell:
    low, high = (_number(line, end) for end in ("low", "high"))
    return Cell(_value(line, "difference"), low=low, high=high)


def _in_words(table: Table) -> Table:
    words = WORDS if table.name in OF_PEOPLE else OF_SYSTEMS
    marks = {FALLS: NOTE_OF_FALLS}
    return replace(table, marks=marks, lines=tuple(_worded(line, words) for line in table.lines))


def _worded(line: Line, words: Mapping[str, Text]) -> Line:
    outcome = str(_value(line, "outcome") or "")
    if not outcome:
        return line
    falls = FALLS if _value(line, "falls") else ""
    cell = Cell(str(words[outcome]), sign=SIGNS.get(outcome, ""), marks=falls)
    return replace(line, cells={**line.cells, "outcome": cell})


def _value(line: Line, key: str) -> Value:
    cell = line.cells.get(key)
    return cell.value if isinstance(cell, Cell) else cell


def _number(line: Line, key: str) -> float | None:
    value = _value(line, key)
    return float(value) if isinstance(value, int | float) else None

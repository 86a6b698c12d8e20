"""All tables of an analysis: what each says, and its columns; and how its page shows them: what
most readers look for in sight, the rest behind a click on a line."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scoring.analysis.curves import ANNOTATORS, OF_POINT
from scoring.analysis.uncertainty import AGREEMENT, UNCERTAINTY, Record
from scoring.cells.rows import BY_KEY, Row, RowKind
from scoring.comparison.documents import FRAGILE, NOTE_OF_FRAGILE, SIGNS
from scoring.comparison.row_tables import WORDS
from scoring.core.verdicts import AHEAD, BEHIND
from scoring.models import method_label
from scoring.tables.arranging import in_parts
from scoring.tables.table import (
    Cell,
    Column,
    Line,
    Table,
    Value,
    picked,
    points,
    values_of,
    words,
)
from scoring.tests.differences import COLUMNS as OF_TESTS
from scoring.tests.differences import MIRRORED
from scoring.tests.verdicts import OF_AVERAGES

# What every score names.
TERMS = ("references", "normalisation", "gold_version")
SCORED_UNDER = tuple(BY_KEY[key] for key in TERMS)
WHERE = picked(OF_TESTS, "study simulated task shots")
SYSTEM = picked(OF_TESTS, "system method parameters")
DIFFERENCE = picked(
    OF_TESTS,
    "difference low high se df p p_holm n r m left_out people_left_out runs_left_out notes",
)
VERDICT = picked(OF_TESTS, "outcome direction p_direction family margin")

TESTS = Table(
    "tests",
    "People against systems, on the same items",
    "Percent points, people less system, for other people, other runs and other items like "
    "these: Satterthwaite's t on the items that the system and somebody answered. Holm's p "
    "covers the tests of one study with five annotators or more. Non-overlapping SD bars are "
    "not a test.",
    (
        *WHERE,
        *SYSTEM,
        *picked(OF_TESTS, "mean other_mean"),
        *DIFFERENCE,
        *VERDICT,
        *picked(OF_TESTS, "above detectable fragile"),
        *SCORED_UNDER,
    ),
)
SYSTEMS = Table(
    "systems",
    "Systems against systems, on the same items",
    "Percent points, first less second, on the same items and, where both have two or more "
    "of the same, on the same splits. The p values are adjusted over this table, which is "
    "a family of its own.",
    (
        BY_KEY["task"],
        BY_KEY["shots"],
        *picked(OF_TESTS, "first first_method first_parameters"),
        words("system", "Second", "The second system's name."),
        words("method", "Method", "How the second system was adapted."),
        words("parameters", "Parameters", "The second system's size."),
        points("mean", "First's mean", "In percent, on the compared items."),
        points("other_mean", "Second's mean", "In percent, on the compared items."),
        *DIFFERENCE,
        *VERDICT,
        *SCORED_UNDER,
    ),
)
CHANGES = Table(
    "changes",
    "Change between shots",
    "Percent points, more shots less fewer, on the same items and with other people: "
    "Satterthwaite's t for other people and other items like these. The p values are "
    "adjusted over this table.",
    (
        *WHERE,
        *picked(OF_TESTS, "other_shots"),
        points("mean", "More", "With more shots, in percent, on the compared items."),
        points("other_mean", "Fewer", "With fewer shots, in percent, on the compared items."),
        *DIFFERENCE,
        *SCORED_UNDER,
    ),
)
CELLS = Table(
    "uncertainty",
    "The uncertainty of each cell",
    "New items: how other people would do on other items like these; these items: on "
    "exactly this test set. The guard band is given beside the interval for n below 5. "
    "Components are variances of scores in [0, 1]; they feed the planner.",
    (*WHERE, *UNCERTAINTY, *SCORED_UNDER),
)
TOGETHER = Table(
    "agreement",
    "Consensus and agreement",
    "Consensus holds what more than half of the annotators chose; it is a figure of its"
    " own, not the mean annotator's. α is Krippendorff's; intervals by bootstrap over "
    "contexts.",
    (*WHERE, *AGREEMENT, *SCORED_UNDER),
)
CURVES = Table(
    "curves",
    "Learning over the training items",
    "S1 in percent by position in the shot set, over everybody who finished the training, "
    "screened out or not. Adjusted: corrected for which items happened to be there, since "
    "orders differ, and kept within 0 and 100.",
    (*WHERE, ANNOTATORS, *OF_POINT, *SCORED_UNDER),
)
AVERAGES = Table(
    "aggregates",
    "Over all tasks",
    "The mean of the task means, only for those who have all of them. SD is that of this "
    "mean, √(Σ sd²)/T; the CLUES leaderboard prints √(Σ sd²) instead.",
    tuple(OF_AVERAGES.values()),
)
AVERAGE_TESTS = Table(
    "average-tests",
    "People against systems, over all tasks",
    "The mean of the tasks' differences, people less system, in percent points. Those of "
    "one study's people are a family of their own. Where tasks share people there is no "
    "interval.",
    (
        *picked(OF_TESTS, "study simulated shots"),
        *SYSTEM,
        points("difference", "Difference", "The mean of the tasks' differences."),
        points("low", "95 % low", "Lower limit of its 95 % interval."),
        points("high", "95 % high", "Upper limit of its 95 % interval."),
        *picked(OF_TESTS, "outcome direction family margin"),
        OF_TESTS["p_direction"].under("p", source="p_direction"),
        *picked(OF_TESTS, "p_holm detectable tasks"),
        BY_KEY["notes"],
    ),
)
# Of either side.
_SIDE = {
    "mean": "Mean",
    "sd": "SD",
    "n": "n",
    "m": "m",
    "ci_low": "95 % low",
    "ci_high": "95 % high",
    "ci_method": "Method",
}


_SIDES = {
    f"{side}_{key}": BY_KEY[key].under(f"{side}_{key}", f"{heading} {side}")
    for side in ("without", "with")
    for key, heading in _SIDE.items()
}
SIDES = Table(
    "excluded",
    "Without and with excluded annotators",
    "Cells that hold excluded annotators, side by side.",
    (
        *WHERE,
        *(column for key, column in _SIDES.items() if not key.endswith("method")),
        *(column for key, column in _SIDES.items() if key.endswith("method")),
        BY_KEY["estimand"],
        *SCORED_UNDER,
    ),
)


def excluded_record(without: Row | None, including: Row) -> Record:
    """Of a cell with and without its excluded annotators; without, nobody may be left."""
    return {
        **values_of((*WHERE, BY_KEY["estimand"], *SCORED_UNDER), including),
        "simulated": including.kind == RowKind.SIMULATED,
        **{f"without_{key}": getattr(without, key, None) for key in _SIDE},
        **{f"with_{key}": getattr(including, key) for key in _SIDE},
    }


ALL = (TESTS, SYSTEMS, CHANGES, CELLS, TOGETHER, CURVES, AVERAGES, AVERAGE_TESTS, SIDES)
TABLES = {table.name: table for table in ALL}
PROVENANCE = Table(
    "provenance",
    "What these figures rest on",
    "Stale: answers, runs, gold or figures have changed since this was computed, so it no "
    "longer matches the data.",
    (
        words(
            "inputs",
            "Fingerprint of the inputs",
            "The first 12 digits of a checksum of all answers, runs, gold and choices.",
        ),
        words("computed_at", "Computed at", "Date and time, with the time zone."),
        words("stale", "Stale", "Whether the inputs have changed since."),
        Column("seed", "Seed", "Where all random draws start."),
        Column("scorer_version", "Scorer version", "The version of the scoring rules."),
        BY_KEY["references"],
        BY_KEY["estimand"],
        words(
            "interim", "Interim", "The studies that are not closed, whose figures may still change."
        ),
    ),
)


def with_task_names(table: Table, names: Mapping[str, str]) -> Table:
    """As it is read; the bare values stay slugs."""
    lists = {str(record["tasks"]) for record in table.records if record.get("tasks")}
    of_lists = {
        tasks: ", ".join(names.get(task, task) for task in tasks.split(", ")) for tasks in lists
    }
    return table.with_names("task", names).with_names("tasks", of_lists)


PLACE = ("study", "simulated", "task", "shots")
# By table, beside where a line belongs; in this order.
USUAL: dict[str, tuple[str, ...]] = {
    "tests": ("system", "difference", "outcome", "p_holm"),
    "systems": ("first", "system", "difference", "outcome", "p_holm"),
    "average-tests": ("system", "difference", "outcome", "p_holm"),
    "changes": ("other_shots", "difference", "p_holm"),
    "uncertainty": ("mean", "sd", "n", "m", "new_items_low", "new_items_high"),
    "agreement": ("consensus", "n", "masi", "pairwise_s1"),
    "curves": ("first", "last", "mean", "adjusted", "se"),
    "aggregates": ("system", "mean", "sd"),
    "excluded": ("without_mean", "without_n", "with_mean", "with_n"),
}
# The tables whose first side is people; their lines are about the system, as in the overview.
OF_PEOPLE = ("tests", "average-tests")
OF_SYSTEM: dict[str, str] = {**WORDS, AHEAD: "behind people", BEHIND: "ahead of people"}
OF_SYSTEMS: dict[str, str] = {**WORDS, AHEAD: "first ahead", BEHIND: "first behind"}
# With its method and size a system's name is one cell.
NAMES = {
    "system": ("method", "parameters"),
    "first": ("first_method", "first_parameters"),
}
# What the outcome says already; documents have it.
IMPLIED = ("direction", "fragile")


def usual_columns(table: Table) -> tuple[str, ...]:
    """Without what all lines have in common of where they belong."""
    if table.name not in USUAL:
        return ()
    told = [key for key in PLACE if len({_value(line, key) for line in table.lines}) > 1]
    return (*told, *USUAL[table.name])


def for_page(table: Table, tasks: Sequence[str]) -> Table:
    """With a difference and its limits in one cell, a system's name in one, the outcome in words
    and with its sign, in the order of the tasks."""
    table = _named(_in_order(table, tasks))
    if "difference" in table.keys:
        table = _with_limits(table)
    if "outcome" in table.keys:
        table = _in_words(table).without(IMPLIED)
    return _in_sight_first(table)


def by_task(table: Table) -> Table:
    """A long one in parts, each with its outcomes counted."""
    return in_parts(table, "task", told="outcome")


def common_terms(tables: Sequence[Table]) -> dict[str, Value]:
    """Policy, normalisation and gold version, where all figures are under the same: then the page
    says them once. Empty where they differ."""
    found = {
        tuple(_value(line, key) for key in TERMS)
        for table in tables
        if set(TERMS) <= set(table.keys)
        for line in table.lines
    }
    return dict(zip(TERMS, found.pop(), strict=True)) if len(found) == 1 else {}


def _in_sight_first(table: Table) -> Table:
    """A choice of further columns stands behind the usual ones."""
    keys = (*PLACE, *USUAL.get(table.name, ()))

    def place(column: Column) -> tuple[bool, int]:
        return not column.is_name, keys.index(column.key) if column.key in keys else len(keys)

    return replace(table, columns=tuple(sorted(table.columns, key=place)))


def _named(table: Table) -> Table:
    first = next((key for key in ("first", "system") if key in table.keys), "")
    if not first:
        return table
    lines = tuple(
        replace(line, cells={**line.cells, **{key: _name(line, key) for key in NAMES}})
        for line in table.lines
    )
    columns = tuple(replace(column, is_name=column.key == first) for column in table.columns)
    about = {key for keys in NAMES.values() for key in keys}
    return replace(table, lines=lines, columns=columns).without(about)


def _name(line: Line, key: str) -> Cell:
    method, size = (_value(line, about) for about in NAMES[key])
    about = [method_label(str(method or "")), f"({size})" if size else ""]
    return Cell(_value(line, key), aside=" ".join(filter(None, about)))


def _in_order(table: Table, tasks: Sequence[str]) -> Table:
    if "task" not in table.keys:
        return table
    places = {task: place for place, task in enumerate(tasks)}

    def place(line: Line) -> int:
        return places.get(str(_value(line, "task")), len(places))

    return replace(table, lines=tuple(sorted(table.lines, key=place)))


def _with_limits(table: Table) -> Table:
    heading = "People less system" if table.name in OF_PEOPLE else None
    columns = tuple(
        replace(column, heading=heading) if heading and column.key == "difference" else column
        for column in table.columns
    )
    lines = tuple(
        replace(line, cells={**line.cells, "difference": _difference(line)}) for line in table.lines
    )
    return replace(table, columns=columns, lines=lines).without({"low", "high"})


def _difference(line: Line) -> Cell:
    low, high = (_number(line, end) for end in ("low", "high"))
    return Cell(_value(line, "difference"), low=low, high=high)


def _in_words(table: Table) -> Table:
    of_people = table.name in OF_PEOPLE
    words = OF_SYSTEM if of_people else OF_SYSTEMS
    marks = {FRAGILE: NOTE_OF_FRAGILE}
    lines = tuple(_worded(line, words, of_people=of_people) for line in table.lines)
    return replace(table, marks=marks, lines=lines)


def _worded(line: Line, words: Mapping[str, str], *, of_people: bool) -> Line:
    outcome = str(_value(line, "outcome") or "")
    if not outcome:
        return line
    # Signs say how the second side stands to people; of two systems the first is meant.
    sign = SIGNS.get(outcome if of_people else MIRRORED.get(outcome, outcome), "")
    marks = FRAGILE if _value(line, "fragile") else ""
    cell = Cell(words[outcome], sign=sign, marks=marks)
    return replace(line, cells={**line.cells, "outcome": cell})


def _value(line: Line, key: str) -> Value:
    cell = line.cells.get(key)
    return cell.value if isinstance(cell, Cell) else cell


def _number(line: Line, key: str) -> float | None:
    value = _value(line, key)
    return float(value) if isinstance(value, int | float) else None

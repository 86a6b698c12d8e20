"""The table that answers the question: people first, every system beside them at one number of
shots, with what the tests say; all else is a click away."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from scoring.cells.rows import BESIDE_SCORES, Row, is_alike, no_skill
from scoring.comparison.comparing import Comparison, first_of
from scoring.comparison.paper_tables import (
    NOTES,
    WHO,
    FigureLine,
    ScoreColumn,
    lines_of_figures,
    marks_of,
    name_of,
    score_columns,
    scores_of_persons,
    shots_text,
    size_of,
    task_group,
    task_order,
)
from scoring.core.verdicts import AHEAD, BEHIND, EXPLORATORY, SAME, UNDECIDED
from scoring.models import FULLY_SUPERVISED, method_label, shots_order
from scoring.tables.table import Cell, Column, Line, Table, limits, rounded, signed
from scoring.tests.differences import Difference

AVERAGE = "average"
# What people's outcome says of the system.
SIGNS = {AHEAD: "▼", BEHIND: "▲", SAME: "≈", UNDECIDED: "?", EXPLORATORY: "( )"}
FRAGILE = "‡"
NOTE_OF_FRAGILE = "Without one of the people it would say something else."
Opened = tuple[str, str]


def shots_of_people(rows: Iterable[Row]) -> str:
    """The number of shots that a reader meets first: that for which most tasks have people, the
    highest of several. Without measured people it goes by published ones, then by systems."""
    known = [row for row in rows if not row.single and row.mean is not None]
    measured = [row for row in known if row.is_cell_of_people]
    counted = measured or [row for row in known if row.is_of_people] or known
    tasks: dict[str, set[str]] = defaultdict(set)
    for row in counted:
        tasks[str(row.shots)].add(row.task)
    return max(tasks, key=lambda shots: (len(tasks[shots]), shots_order(shots)), default="")


def overview(table: Comparison, shots: str, links: Mapping[str, str] | None = None) -> Table:
    rows = [row for row in table.figures if str(row.shots) == shots and not row.is_consensus]
    tasks = task_order(rows)
    columns = score_columns(rows, tasks)
    lines = [_line(line, table) for line in lines_of_figures(rows)]
    average = (Column(AVERAGE, "average", digits=1, is_strong=True),) if len(tasks) > 1 else ()
    return Table(
        "overview",
        _title(shots),
        "",
        (WHO, *average, *_columns(columns, links or {}, table.task_names)),
        (*lines, *_no_skill(table, columns)),
        marks={**NOTES, FRAGILE: NOTE_OF_FRAGILE, **_legend(table)},
        keeps_kinds=True,
    )


def apart(test: Difference) -> str:
    """People less the system, with the interval of that difference."""
    if test.difference is None:
        return ""
    between = limits(test.low, test.high).replace("-", "−")
    return " ".join(filter(None, [signed(test.difference), between]))


def _title(shots: str) -> str:
    at = ", fully supervised" if shots == FULLY_SUPERVISED else f" at {shots_text(shots)}"
    return f"People and systems{at}"


def _columns(
    columns: Iterable[ScoreColumn], links: Mapping[str, str], names: Mapping[str, str]
) -> Iterable[Column]:
    for column in columns:
        yield Column(column.key, "", digits=1, group=task_group(column, links, names))


def _legend(table: Comparison) -> dict[str, str]:
    margins = {test.margin or 0.0 for test in table.tests if not test.is_reported}
    margin = rounded(max(margins, default=0.0), 1).removesuffix(".0")
    return {
        SIGNS[BEHIND]: "ahead of people",
        SIGNS[AHEAD]: "behind people",
        SIGNS[SAME]: f"as good as people, within {margin} points",
        SIGNS[UNDECIDED]: "not decided",
        SIGNS[EXPLORATORY]: "exploratory: fewer than five people, so nothing is claimed",
    }


def _line(line: FigureLine, table: Comparison) -> Line:
    first = next(iter(line.figures.values()))
    return Line(
        {
            "who": _who(line, table),
            AVERAGE: _average(first, table),
            **{key: _cell(row, table) for key, row in line.figures.items()},
        },
        kind="people" if line.is_people else "system",
    )


def _who(line: FigureLine, table: Comparison) -> Cell:
    rows = list(line.figures.values())
    first = rows[0]
    sources = dict.fromkeys(row.source for row in rows if row.source)
    if first.is_cell_of_people:
        # On the page of a study, its name is said already.
        name = name_of(replace(first, study=None)) if table.study else line.name
        return Cell(name, aside=_sizes(rows))
    about = [method_label(first.method), f"({first.parameters})" if first.parameters else ""]
    # A published figure of people is named by its source.
    note = "" if line.is_people else "; ".join(sources)
    return Cell(line.name, aside=" ".join(filter(None, about)), note=note)


def _sizes(rows: Iterable[Row]) -> str:
    sizes = sorted({row.n for row in rows if row.n})
    return f"n = {'–'.join(map(str, dict.fromkeys([sizes[0], sizes[-1]])))}" if sizes else ""


def _cell(row: Row, table: Comparison) -> Cell:
    tests = table.tests_of(row)
    first = first_of(tests)
    # A published figure has nothing to be tested on.
    distance = first.difference if first and first.is_reported else None
    return Cell(
        row.mean,
        marks="".join(marks_of(row)) + (FRAGILE if first and first.fragile else ""),
        sign=SIGNS.get(first.outcome, "") if first else "",
        distance=None if distance is None else -distance,
        opens=tuple(_opened(row, tests, table)),
    )


def _opened(row: Row, tests: Iterable[Difference], table: Comparison) -> Iterable[Opened]:
    if interval := limits(row.ci_low, row.ci_high):
        yield "95 % interval", interval
    if guard := limits(row.guard_low, row.guard_high):
        yield "guard band", guard
    if row.sd is not None:
        yield "SD", rounded(row.sd)
    if size := size_of(row):
        yield "", size
    for column in BESIDE_SCORES:
        if (value := getattr(row, column.key)) is not None:
            yield column.heading, f"{column.read(value)} {column.unit}"
    for test in tests:
        yield from _of_test(test)
    yield from ((name, rounded(mean)) for name, mean in scores_of_persons(row, table.rows))


def _of_test(test: Difference) -> Iterable[Opened]:
    yield "people less system", apart(test)
    if test.p_holm is not None:
        yield "p, Holm", _p(test.p_holm)
    if test.detectable is not None:
        yield "would be found from", rounded(test.detectable)
    if test.above is not None:
        yield "people above it", f"{test.above} / {test.n}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _average(row: Row, table: Comparison) -> Cell:
    """Over all tasks, of whoever has all of them."""
    found = next((average for average in table.averages if is_alike(average, row)), None)
    if found is None:
        return Cell()
    place = str(row.shots), *row.whose
    tests = [
        test
        for test in table.average_tests
        if row.is_run and (str(test.shots), test.system, test.method, test.parameters) == place
    ]
    opens = [("95 % interval", limits(found.low, found.high)), ("SD", rounded(found.sd))]
    return Cell(
        found.mean,
        sign=SIGNS.get(tests[0].outcome, "") if tests else "",
        opens=(
            *((label, text) for label, text in opens if text),
            *(part for test in tests for part in _of_test(test)),
        ),
    )


def _no_skill(table: Comparison, columns: Sequence[ScoreColumn]) -> Iterable[Line]:
    """What answers earn that ignore the question, in the columns of its policy."""
    floors = no_skill(list(table.bounds))
    under = {bound.task: bound.references for bound in table.bounds}
    cells = {
        column.key: floors[column.task]
        for column in columns
        if column.task in floors and column.policy in ("", under[column.task])
    }
    if cells:
        tasks = {column.task for column in columns}
        whole = tasks <= set(floors)
        mean = sum(floors[task] for task in tasks) / len(tasks) if whole else None
        yield Line({"who": Cell("no skill"), AVERAGE: mean, **cells}, kind="bound")

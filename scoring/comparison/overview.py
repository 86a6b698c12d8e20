"""The table that answers the question: people first, every system beside them at one number of
shots, with what the tests say; all else is a click away."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from scoring.cells.rows import Row, RowKind, is_alike, no_skill
from scoring.comparison.comparing import Comparison, first_of
from scoring.comparison.paper_tables import (
    NOTES,
    WHO,
    FigureLine,
    Links,
    ScoreColumn,
    beside_score,
    figures_by_column,
    marks_of,
    name_of,
    scores_of_persons,
    shots_text,
    size_of,
)
from scoring.core.verdicts import AHEAD, BEHIND, EXPLORATORY, SAME, UNDECIDED
from scoring.models import FULLY_SUPERVISED, shots_order
from scoring.tables.table import Cell, Column, Line, Table, limits, rounded, signed
from scoring.tests.averages import Average
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


def overview(table: Comparison, shots: str, links: Links = None) -> Table:
    """links: by task, of a page; without any it is for a document, in which nothing opens."""
    rows = [
        row for row in table.figures if str(row.shots) == shots and row.kind != RowKind.CONSENSUS
    ]
    columns, found = figures_by_column(rows, by_shots=True)
    several = len({column.task for column in columns}) > 1
    average = (Column(AVERAGE, "average", digits=1, is_strong=True),) if several else ()
    at = ", fully supervised" if shots == FULLY_SUPERVISED else f" at {shots_text(shots)}"
    return Table(
        "overview",
        f"People and systems{at}",
        "",
        (WHO, *average, *(column.shown("", links, table.task_names) for column in columns)),
        (*(_line(line, table, links) for line in found), *_no_skill(table, columns)),
        marks={**NOTES, FRAGILE: NOTE_OF_FRAGILE, **_legend(table)},
        keeps_kinds=True,
    )


def apart(test: Difference) -> str:
    """People less the system, with the interval of that difference."""
    if test.difference is None:
        return ""
    between = limits(test.low, test.high).replace("-", "−")
    return " ".join(filter(None, [signed(test.difference), between]))


def _legend(table: Comparison) -> dict[str, str]:
    margins = {test.margin or 0.0 for test in table.tests if not test.is_reported}
    margin = f"{max(margins, default=0.0):.1f}".removesuffix(".0")
    return {
        SIGNS[BEHIND]: "ahead of people",
        SIGNS[AHEAD]: "behind people",
        SIGNS[SAME]: f"as good as people, within {margin} points",
        SIGNS[UNDECIDED]: "not decided",
        SIGNS[EXPLORATORY]: "exploratory: fewer than five people, so nothing is claimed",
    }


def _line(line: FigureLine, table: Comparison, links: Links) -> Line:
    cells = {column.key: _cell(row, table, links) for column, row in line.figures.items()}
    who, average = _who(line, table), _average(line.first, table, links)
    return Line({"who": who, AVERAGE: average, **cells}, kind=line.kind)


def _who(line: FigureLine, table: Comparison) -> Cell:
    first = line.first
    if first.is_cell_of_people:
        # On the page of a study, its name is said already.
        name = name_of(replace(first, study=None)) if table.study else line.name
        return Cell(name, aside=_sizes(line.figures.values()))
    about = [line.about, f"({first.parameters})" if first.parameters else ""]
    return Cell(line.name, aside=" ".join(filter(None, about)), note=line.sources)


def _sizes(rows: Iterable[Row]) -> str:
    sizes = sorted({row.n for row in rows if row.n})
    return f"n = {'–'.join(map(str, dict.fromkeys([sizes[0], sizes[-1]])))}" if sizes else ""


def _cell(row: Row, table: Comparison, links: Links) -> Cell:
    tests = table.tests_of(row)
    first = first_of(tests)
    # A published figure has nothing to be tested on.
    distance = first.difference if first and first.is_reported else None
    return Cell(
        row.mean,
        marks=marks_of(row) + (FRAGILE if first and first.fragile else ""),
        sign=SIGNS.get(first.outcome, "") if first else "",
        distance=None if distance is None else -distance,
        opens=() if links is None else tuple(_opened(row, tests, table)),
    )


def _opened(row: Row, tests: Iterable[Difference], table: Comparison) -> Iterable[Opened]:
    told = {
        "95 % interval": limits(row.ci_low, row.ci_high),
        "guard band": limits(row.guard_low, row.guard_high),
        "SD": rounded(row.sd),
        "": size_of(row),
    }
    yield from ((label, text) for label, text in told.items() if text)
    for column, text in beside_score(row):
        yield column.heading, f"{text} {column.unit}"
    for test in tests:
        yield from _of_test(test)
    yield from ((name, rounded(mean)) for name, mean in scores_of_persons(row, table.rows))


def _of_test(test: Difference) -> Iterable[Opened]:
    yield "people less system", apart(test)
    if test.p_holm is not None:
        yield "p, Holm", "< 0.001" if test.p_holm < 0.001 else f"{test.p_holm:.3f}"
    if test.detectable is not None:
        yield "would be found from", rounded(test.detectable)
    if test.above is not None:
        yield "people above it", f"{test.above} / {test.n}"


def _average(row: Row, table: Comparison, links: Links) -> Cell:
    """Over all tasks, of whoever has all of them."""
    found = next((average for average in table.averages if is_alike(average, row)), None)
    if found is None:
        return Cell()
    where = str(row.shots), row.system, row.method, row.parameters
    tests = [
        test
        for test in table.average_tests
        if row.kind == RowKind.RUN
        and (str(test.shots), test.system, test.method, test.parameters) == where
    ]
    return Cell(
        found.mean,
        sign=SIGNS.get(tests[0].outcome, "") if tests else "",
        opens=() if links is None else tuple(_opened_average(found, tests)),
    )


def _opened_average(average: Average, tests: Iterable[Difference]) -> Iterable[Opened]:
    if interval := limits(average.low, average.high):
        yield "95 % interval", interval
    if average.sd is not None:
        yield "SD", rounded(average.sd)
    for test in tests:
        yield from _of_test(test)


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

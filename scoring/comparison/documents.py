"""A comparison as a document: all rows for computing, tables for reading. First of these the one
that answers the question, which its page shows too: people first, every system beside them at one
number of shots, with what the tests say; all else is a click away."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from scoring.cells.rows import Row, RowKind, no_skill
from scoring.comparison.comparing import Comparison, first_of
from scoring.comparison.paper_tables import (
    NOTES,
    WHO,
    FigureLine,
    Links,
    ScoreColumn,
    annotators_by_shots,
    beside_score,
    figures_by_column,
    marks_of,
    name_cell,
    name_of,
    scores_of_persons,
    shots_text,
    size_of,
    supervision_table,
    system_tables,
    time_table,
)
from scoring.comparison.row_tables import (
    annotator_table,
    columns_table,
    finding_table,
    interval_table,
    judged_row_table,
    row_table,
    verdict_table,
)
from scoring.core.intervals import GUARD
from scoring.core.verdicts import AHEAD, BEHIND, EXPLORATORY, SAME, UNDECIDED
from scoring.models import FULLY_SUPERVISED, shots_order
from scoring.tables.documents import (
    Format,
    as_csv,
    as_json,
    as_latex,
    as_markdown,
    escaped_markdown,
)
from scoring.tables.table import Cell, Column, Line, Table, limits, rounded, signed
from scoring.tables.xlsx import as_xlsx
from scoring.tests.differences import Difference
from scoring.tests.verdicts import Average

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
        (*(_overview_line(line, table, links) for line in found), *_no_skill(table, columns)),
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


def _overview_line(line: FigureLine, table: Comparison, links: Links) -> Line:
    cells = {column.key: _overview_cell(row, table, links) for column, row in line.figures.items()}
    who, average = _who(line, table), _average(line.first, table, links)
    return Line({"who": who, AVERAGE: average, **cells}, kind=line.kind)


def _who(line: FigureLine, table: Comparison) -> Cell:
    first = line.first
    if first.is_cell_of_people:
        # On the page of a study, its name is said already.
        name = name_of(replace(first, study=None)) if table.study else line.name
        return Cell(name, aside=_sizes(line.figures.values()))
    return name_cell(line, line.name, f"({first.parameters})" if first.parameters else "")


def _sizes(rows: Iterable[Row]) -> str:
    sizes = sorted({row.n for row in rows if row.n})
    return f"n = {'–'.join(map(str, dict.fromkeys([sizes[0], sizes[-1]])))}" if sizes else ""


def _overview_cell(row: Row, table: Comparison, links: Links) -> Cell:
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
    found = table.average_of(row)
    if found is None:
        return Cell()
    where = str(row.shots), row.system, row.method, row.parameters
    tests = [
        test
        for test in table.average_tests
        if row.kind == RowKind.RUN
        and (str(test.shots), test.system, test.method, test.parameters) == where
    ]
    first = first_of(tests)
    return Cell(
        found.mean,
        sign=SIGNS.get(first.outcome, "") if first else "",
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


def paper_tables(table: Comparison) -> list[Table]:
    """As in a paper: the answer, people with every annotator, systems, full supervision, how long
    people took; without empty ones."""
    shots, basis = shots_of_people(table.rows), table.basis
    papers = [
        replace(overview(table, shots), is_short=True),
        *annotators_by_shots(table),
        *system_tables(table),
        *supervision_table(table, shots),
    ]
    times = time_table(table.rows).with_names("task", table.task_names)
    scores = [
        replace(paper, note=f"{_shown(paper, table)}; {basis}") for paper in papers if paper.lines
    ]
    return [*scores, times] if times.lines else scores


def further_tables(table: Comparison) -> list[Table]:
    """What a reader computes with rather than prints."""
    further = [interval_table(table.rows), annotator_table(table.rows)]
    return [part.with_names("task", table.task_names) for part in further if part.lines]


def _shown(paper: Table, table: Comparison) -> str:
    """What stands in its cells."""
    cells = [cell for line in paper.lines for cell in line.cells.values() if isinstance(cell, Cell)]
    sd = " (SD)" * any(cell.sd is not None for cell in cells)
    has_interval = any(cell.low is not None and cell.high is not None for cell in cells)
    interval = f" [{_interval(table)}]" * has_interval
    sizes = ", n people or r runs on m clusters of items" * any(cell.size for cell in cells)
    distance = ", beside a published figure its distance from people"
    return f"S1 in percent, mean{sd}{interval}{sizes}" + distance * any(
        cell.distance is not None for cell in cells
    )


def _interval(table: Comparison) -> str:
    """What the intervals of its cells are."""
    two = "; of two people the guard band" * any(row.ci_method == GUARD for row in table.rows)
    consensus = "; of a consensus for these people" * bool(table.consensus)
    return f"95 % interval for {table.choices.estimand.replace('_', ' ')}{two}{consensus}"


def _csv(table: Comparison) -> str:
    return as_csv(judged_row_table(table))


def _json(table: Comparison) -> str:
    facts = {
        "benchmark": table.benchmark,
        "references": table.references,
        "interim": ", ".join(table.interim) or None,
    }
    return as_json(
        [row_table("rows", table.rows), finding_table([*table.average_tests, *table.tests])], facts
    )


def _latex(table: Comparison) -> str:
    return as_latex(paper_tables(table), comment=table.provenance)


def _markdown(table: Comparison) -> str:
    parts: Iterable[str] = (
        f"# Comparison: {escaped_markdown(table.study or table.benchmark)}",
        f"Benchmark: {escaped_markdown(table.benchmark)}. {table.provenance}",
        as_markdown([*paper_tables(table), *further_tables(table)]),
    )
    return "\n\n".join(parts)


def _xlsx(table: Comparison) -> bytes:
    """Sheets to read, one for each question; behind them every row as it is."""
    raw = [row_table("comparison", table.rows), row_table("consensus", table.consensus)]
    filled = [part for part in raw if part.lines or part.name == "comparison"]
    to_read = [*paper_tables(table), verdict_table(table), annotator_table(table.rows)]
    return as_xlsx(
        [*filled, columns_table(table.provenance)],
        to_read=[part.with_names("task", table.task_names) for part in to_read if part.lines],
    )


FORMATS = {
    "csv": Format("csv", _csv),
    "json": Format("json", _json),
    "latex": Format("latex", _latex),
    "markdown": Format("markdown", _markdown),
    "xlsx": Format("xlsx", _xlsx),
}

"""A comparison in the shape of a paper's tables: people by shots and task, then systems,
people first, two tasks a table.

Figures under different reference policies never stand in one column: a published figure under
another policy than the scored ones gets a column of its own. One whose policy nobody knows stands
among the scored ones, with a mark.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from scoring.cells.rows import (
    BESIDE_SCORES,
    BY_KEY,
    EPISODE_BOOTSTRAP,
    SIMULATED_CONSENSUS,
    Bound,
    Row,
    RowKind,
    first_policies,
    policy_of,
)
from scoring.models import FULLY_SUPERVISED, Method, References, method_label, shots_order
from scoring.tables.table import Cell, Column, Group, Line, Table, limits, values_of

# Measured people, what most of them said, published people, simulated ones; systems follow.
RANKS = (RowKind.HUMAN, RowKind.CONSENSUS, RowKind.REPORTED, RowKind.SIMULATED, SIMULATED_CONSENSUS)
UNKNOWN, PARTIAL, FEW, ONE = "†", "§", "¶", "‖"
# Of one table: more do not go on a page.
MOST_TASKS, MOST_COLUMNS, MOST_LINES = 2, 8, 40
NOTES = {
    UNKNOWN: "Published without its reference policy: not tested against any other figure.",
    PARTIAL: "Not every item has an answer; the mean is over those that have.",
    FEW: (
        "Fewer than five annotators, or splits where several annotators share one: exploratory, "
        "no claim of better or worse."
    ),
    ONE: "One annotator or run: no SD and no interval.",
}


# Addresses, and what readers call them, by task.
Links = Mapping[str, str]
Names = Mapping[str, str]
WHO = Column("who", "Who", is_number=False, is_name=True)


class ScoreColumn(NamedTuple):
    # What its cells are found by.
    key: str
    task: str
    # "" where the lines say it.
    shots: str
    policy: str


@dataclass
class FigureLine:
    """The figures of one system or of one group of people, by the keys of their columns."""

    name: str
    is_people: bool
    # As texts have it; "" where the columns say it.
    shots: str = ""
    figures: dict[str, Row] = field(default_factory=dict)


def score_columns(rows: Sequence[Row], tasks: Sequence[str]) -> list[ScoreColumn]:
    """For each task and policy, the shots that have figures."""
    first = first_policies(rows)
    filled = {(row.task, policy_of(row, first), shots_order(row.shots)) for row in rows}
    return [
        _column(task, shots, policy)
        for task in tasks
        for policy in policies_of(rows, task, first)
        for _, _, (_, shots) in sorted(those for those in filled if those[:2] == (task, policy))
    ]


def lines_of_figures(rows: Sequence[Row]) -> list[FigureLine]:
    """The figures beneath those columns; one system's from several tables of a paper make one line,
    a second figure for the same column makes a second."""
    first = first_policies(rows)
    lines: dict[tuple[object, ...], list[FigureLine]] = {}
    for row in sorted(rows, key=rank_of):
        name = name_of(row)
        key = _column(row.task, str(row.shots), policy_of(row, first)).key
        same = lines.setdefault((rank_of(row), name, row.method, row.parameters, row.kind), [])
        free = next((line for line in same if key not in line.figures), None)
        if free is None:
            same.append(free := FigureLine(name, row.is_of_people))
        free.figures[key] = row
    return [line for same in lines.values() for line in same]


def columns_of_people(people: Sequence[Row]) -> list[ScoreColumn]:
    """For each task and policy, one for all shots."""
    first = first_policies(people)
    return [
        _column(task, "", policy)
        for task in task_order(people)
        for policy in policies_of(people, task, first)
    ]


def lines_of_people(people: Sequence[Row]) -> list[FigureLine]:
    """The figures beneath those columns: a line for each study (or source) and number of shots."""
    first = first_policies(people)
    lines: dict[tuple[tuple[int, int], str, tuple[float, str]], FigureLine] = {}
    for row in people:
        name, order = name_of(row), shots_order(row.shots)
        empty = FigureLine(name, is_people=True, shots=shots_text(order[1]))
        line = lines.setdefault((rank_of(row), name, order), empty)
        line.figures[_column(row.task, "", policy_of(row, first)).key] = row
    return [line for _, line in sorted(lines.items(), key=lambda item: item[0])]


def _column(task: str, shots: str, policy: str) -> ScoreColumn:
    return ScoreColumn(" ".join((task, shots, policy)), task, shots, policy)


def task_order(rows: Iterable[Row]) -> list[str]:
    """As the published figures go, then the others by name."""
    published: list[str] = []
    others: list[str] = []
    for row in rows:
        (published if row.is_reported else others).append(row.task)
    return list(dict.fromkeys([*published, *sorted(others)]))


def shots_text(shots: str) -> str:
    return "all" if shots == FULLY_SUPERVISED else f"{shots} shots"


def rank_of(row: Row) -> tuple[int, int]:
    """Measured people, what most of them said, published people, simulated ones and what most of
    those said; then systems by method, the stored runs before the published figures."""
    if row.is_of_people:
        own = SIMULATED_CONSENSUS if row.system == SIMULATED_CONSENSUS else row.kind
        return RANKS.index(own), 0
    method = Method.values.index(row.method) if row.method in Method.values else len(Method.values)
    return len(RANKS) + method, int(row.is_reported)


def name_of(row: Row) -> str:
    if row.is_reported and row.method is None:
        return f"{row.system}, {row.source}"
    return f"{row.system}, {row.study}" if row.study else str(row.system)


def policies_of(rows: Iterable[Row], task: str, first: Mapping[str, str]) -> list[str]:
    """The policies of a task's columns, in order."""
    policies = {policy_of(row, first) for row in rows if row.task == task}
    return sorted(policies, key=lambda policy: (policy != first[task], policy))


def people_table(
    rows: Iterable[Row], links: Links | None = None, names: Names | None = None
) -> Table:
    """Shots down, tasks across: one line for each study (or source) and number of shots."""
    people = [row for row in rows if row.is_of_people and not row.single]
    lines = [_people_line(line) for line in lines_of_people(people)]
    return _people_table(people, lines, links, names)


def annotators_by_shots(rows: Sequence[Row], names: Names | None = None) -> list[Table]:
    """The table of people with every annotator beneath their cell, the best first. Each cell has
    people of its own: those of one line have nothing in common. A table for each number of shots
    where together they are too long for a page."""
    people = [row for row in rows if row.is_of_people and not row.single]
    persons = [row for row in rows if row.single]
    blocks = [
        (_people_line(line), *_annotator_lines(line, persons)) for line in lines_of_people(people)
    ]
    lines = [line for block in blocks for line in block]
    pages = [lines] if len(lines) <= MOST_LINES else blocks
    return [_people_table(people, page, None, names) for page in pages]


def supervision_table(rows: Sequence[Row], shots: str, names: Names | None = None) -> list[Table]:
    """Full supervision beside few shots: people, and the systems that have both."""
    supervised = {
        row.whose for row in rows if row.shots == FULLY_SUPERVISED and not row.is_of_people
    }
    beside = [
        row
        for row in rows
        if str(row.shots) in (shots, FULLY_SUPERVISED)
        and (row.is_of_people or row.whose in supervised)
    ]
    if not supervised or shots == FULLY_SUPERVISED:
        return []
    return [
        replace(table, name="supervision", title=f"Few shots and full supervision: {table.title}")
        for table in system_tables(beside, names=names, most_tasks=MOST_COLUMNS // 2)
    ]


def time_table(rows: Iterable[Row]) -> Table:
    """What the people of each cell have beside their scores."""
    keys = [column.key for column in BESIDE_SCORES]
    timed = [
        row for row in rows if not row.single and any(getattr(row, key) is not None for key in keys)
    ]
    columns = (WHO, BY_KEY["task"], BY_KEY["shots"], *BESIDE_SCORES)
    lines = tuple(Line({**values_of(columns, row), "who": name_of(row)}) for row in timed)
    return Table("times", "Time of people", "", columns, lines, is_short=True)


def _people_line(line: FigureLine) -> Line:
    cells = {key: _cell(row, in_full=True) for key, row in line.figures.items()}
    return Line({"who": Cell(line.name, aside=line.shots), **cells}, kind="people")


def _people_table(
    people: Sequence[Row], lines: Iterable[Line], links: Links | None, names: Names | None
) -> Table:
    return _table("people", "People", columns_of_people(people), lines, links, names)


def _annotator_lines(line: FigureLine, persons: Sequence[Row]) -> Iterable[Line]:
    """The nth of every cell in one line."""
    scores = {key: scores_of_persons(row, persons) for key, row in line.figures.items()}
    for place in range(max(map(len, scores.values()), default=0)):
        cells = {key: those[place][1] for key, those in scores.items() if place < len(those)}
        yield Line({"who": Cell("", aside=f"annotator {place + 1}"), **cells}, kind="people")


def scores_of_persons(cell: Row, rows: Iterable[Row]) -> list[tuple[str, float | None]]:
    """The annotators of a cell by pseudonym, the best first."""
    if not cell.is_cell_of_people:
        return []
    where = (cell.is_simulated, cell.study, cell.task, cell.shots)
    persons = [
        row
        for row in rows
        if row.single and (row.is_simulated, row.study, row.task, row.shots) == where
    ]
    ordered = sorted(persons, key=lambda row: -(row.mean or 0.0))
    return [(str(row.system), row.mean) for row in ordered]


def system_tables(
    rows: Sequence[Row],
    bounds: Sequence[Bound] = (),
    links: Links | None = None,
    names: Names | None = None,
    *,
    most_tasks: int = MOST_TASKS,
) -> list[Table]:
    """People first, then systems by method, then what no skill earns and the form allows;
    columns are task × shots, those of two tasks in a table where they go on a page."""
    figures = [row for row in rows if not row.single]
    widths = {task: len(score_columns(figures, [task])) for task in task_order(figures)}
    groups: list[list[str]] = []
    for task, width in widths.items():
        has_room = groups and len(groups[-1]) < most_tasks
        if has_room and sum(widths[other] for other in groups[-1]) + width <= MOST_COLUMNS:
            groups[-1].append(task)
        else:
            groups.append([task])
    return [
        _system_table([row for row in figures if row.task in group], group, bounds, links, names)
        for group in groups
    ]


def _system_table(
    rows: Sequence[Row],
    tasks: Sequence[str],
    bounds: Iterable[Bound],
    links: Links | None,
    names: Names | None,
) -> Table:
    columns = score_columns(rows, tasks)
    of_tasks = [bound for bound in bounds if bound.task in tasks]
    lines = [_system_line(line) for line in lines_of_figures(rows)]
    title = ", ".join((names or {}).get(task, task) for task in tasks)
    return _table(
        "systems", title, columns, [*lines, *_bound_lines(of_tasks, columns)], links, names
    )


def _table(
    name: str,
    title: str,
    shown: Iterable[ScoreColumn],
    lines: Iterable[Line],
    links: Links | None,
    names: Names | None,
) -> Table:
    columns = (
        Column(
            column.key,
            shots_text(column.shots) if column.shots else "",
            digits=1,
            is_strong=True,
            group=task_group(column, links or {}, names or {}),
        )
        for column in shown
    )
    return Table(name, title, "", (WHO, *columns), tuple(lines), marks=NOTES, is_short=True)


def task_group(column: ScoreColumn, links: Links, names: Names) -> Group:
    name = names.get(column.task, column.task)
    return Group(name, aside=column.policy, href=links.get(column.task, ""))


def _bound_lines(bounds: Iterable[Bound], columns: Sequence[ScoreColumn]) -> list[Line]:
    """Each floor or ceiling of a task, in the columns of its policy."""
    by_label: dict[str, dict[str, Cell]] = {}
    for bound in sorted(bounds, key=lambda bound: bound.place):
        by_label.setdefault(bound.label, {}).update(
            {
                column.key: Cell(bound.score)
                for column in columns
                if column.task == bound.task and column.policy in ("", bound.references)
            }
        )
    return [Line({"who": label, **cells}, kind="bound") for label, cells in by_label.items()]


def _system_line(line: FigureLine) -> Line:
    first = next(iter(line.figures.values()))
    name = line.name + (f" ({first.parameters})" if first.parameters else "")
    sources = dict.fromkeys(row.source for row in line.figures.values() if row.source)
    who = Cell(
        name, aside=method_label(first.method), note="" if line.is_people else "; ".join(sources)
    )
    return Line(
        {"who": who, **{key: _cell(row) for key, row in line.figures.items()}},
        kind="people" if line.is_people else "system",
    )


def _cell(row: Row, *, in_full: bool = False) -> Cell:
    return Cell(
        row.mean,
        sd=row.sd,
        low=row.ci_low,
        high=row.ci_high,
        marks="".join(marks_of(row)),
        size=size_of(row),
        beneath=tuple(_beneath(row, in_full=in_full)),
    )


def _beneath(row: Row, *, in_full: bool) -> Iterable[str]:
    guard = limits(row.guard_low, row.guard_high)
    if guard and in_full:
        yield f"guard {guard}"
    if size := size_of(row):
        yield size
    for column in BESIDE_SCORES if in_full else ():
        if (value := getattr(row, column.key)) is not None:
            yield f"{column.read(value)} {column.unit}"


def size_of(row: Row) -> str:
    """What the figure rests on: people or runs, and clusters of items."""
    if row.n is None or not (row.is_run or row.kind in (RowKind.HUMAN, RowKind.SIMULATED)):
        return ""
    letter = "r" if row.is_run else "n"
    if row.ci_method == EPISODE_BOOTSTRAP:
        return f"{letter} = {row.n}, {row.m} episodes"
    return f"{letter} = {row.n}" + (f", m = {row.m}" if row.m else "")


def marks_of(row: Row) -> Iterable[str]:
    if row.references == References.UNKNOWN:
        yield UNKNOWN
    if row.coverage is not None and row.coverage < 1:
        yield PARTIAL
    if row.kind in (RowKind.HUMAN, RowKind.SIMULATED):
        if row.n == 1:
            yield ONE
        elif row.is_exploratory:
            yield FEW
    elif row.is_run and row.n == 1:
        yield ONE

"""A comparison in the shape of a paper's tables: people by shots and task, then systems, people
first, two tasks a table. A published figure under another reference policy than the scored ones
gets a column of its own; one whose policy nobody knows stands among them, with a mark."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import NamedTuple

from scoring.cells.rows import (
    BESIDE_SCORES,
    BLOCKS,
    BY_KEY,
    CEILING,
    EPISODE_BOOTSTRAP,
    GROUPED,
    MEASURED,
    PEOPLE,
    SIMULATED_CONSENSUS,
    Bound,
    Row,
    RowKind,
    first_policies,
    policy_of,
    system_of,
)
from scoring.comparison.comparison import Comparison
from scoring.models import (
    FULLY_SUPERVISED,
    Method,
    References,
    method_label,
    shots_order,
    shots_text,
)
from scoring.tables.table import SECTION, Cell, Column, Group, Line, Table, rounded, values_of

# Measured people, what most of them said, published people, simulated ones; systems follow.
RANKS = (
    *(RowKind.HUMAN, RowKind.CONSENSUS, RowKind.ELSEWHERE, RowKind.REPORTED),
    *(RowKind.SIMULATED, SIMULATED_CONSENSUS),
)
ANNOTATOR = "annotator"
UNKNOWN, PARTIAL, NO_SKILL, REASONED = "†", "§", "¶", "‡"
# Of one table: more do not go on a page.
MOST_TASKS, MOST_COLUMNS, MOST_LINES = 2, 8, 40
NOTES = {
    UNKNOWN: "Published without its reference policy: not tested against any other figure.",
    PARTIAL: "Not every item has an answer; the mean is over those that have.",
    NO_SKILL: "At least nine in ten of a run's answers are the same, or half of them could not be "
    "read: its figure shows no skill.",
    REASONED: "Told to think step by step before it answered; people were not.",
}
WHO = Column("who", "Who", is_number=False, is_name=True)

# By task. Without any, a table is for a document, which shows no small lines beneath a figure.
Links = Mapping[str, str] | None
Names = Mapping[str, str]


class ScoreColumn(NamedTuple):
    task: str
    # "" where the lines say it.
    shots: str
    policy: str
    # What its cells are found by.
    key: str
    # Whether the task has columns under several policies.
    is_of_several: bool = False

    def shown(self, heading: str, links: Links, table: Comparison, about: str = "") -> Column:
        """about: what its figures have in common; its policy is said where the task has another
        column under another one. Documents have it in one heading."""
        name = table.task_names.get(self.task, self.task)
        href = (links or {}).get(self.task, "")
        under = self.policy if self.is_of_several else ""
        aside = ", ".join(filter(None, [under, about]))
        if links is None and aside:
            name, aside = f"{name} ({aside})", ""
        group = Group(name, aside=aside, href=href)
        return Column(self.key, heading, digits=1, group=group)


@dataclass
class FigureLine:
    """The figures of one system or of one group of people, by their columns."""

    name: str
    kind: str
    # The first of its figures.
    first: Row
    # As texts have it; "" where the columns say it.
    shots: str
    figures: dict[ScoreColumn, Row] = field(default_factory=dict)


def figures_by_column(
    rows: Sequence[Row], *, by_shots: bool, titles: Names
) -> tuple[list[ScoreColumn], list[FigureLine]]:
    """A column for each task and policy, and with `by_shots` for each number of shots, which have
    lines of their own otherwise; a line for each system or group of people, from whatever table of
    a paper. A second figure for the same column makes a second line."""
    first, tasks = first_policies(rows), task_order(rows)
    policies = {(row.task, policy_of(row, first)) for row in rows}
    several = {task for task, _ in policies if sum(task == other for other, _ in policies) > 1}
    columns: dict[ScoreColumn, tuple[object, ...]] = {}
    lines: dict[tuple[object, ...], list[FigureLine]] = {}
    for row in sorted(rows, key=rank_of):
        order, name, policy = shots_order(row.shots), name_of(row, titles), policy_of(row, first)
        shots = "" if by_shots else shots_text(order[1])
        at = order[1] if by_shots else ""
        key = " ".join((row.task, at, policy))
        column = ScoreColumn(row.task, at, policy, key, row.task in several)
        columns[column] = tasks.index(row.task), policy != first[row.task], policy, order
        whose = row.method, row.parameters, row.kind, row.block
        same = lines.setdefault((rank_of(row), name, *(whose if by_shots else (order,))), [])
        free = next((line for line in same if column not in line.figures), None)
        if free is None:
            kind = "people" if row.is_of_people else "system"
            same.append(free := FigureLine(name, kind, row, shots))
        free.figures[column] = row
    return sorted(columns, key=columns.__getitem__), [
        line for key in (lines if by_shots else sorted(lines)) for line in lines[key]
    ]


def task_order(rows: Iterable[Row]) -> list[str]:
    """The tasks as the published figures go, then the others by name."""
    published: list[str] = []
    others: list[str] = []
    for row in rows:
        (published if row.kind == RowKind.REPORTED else others).append(row.task)
    return list(dict.fromkeys([*published, *sorted(others)]))


def rank_of(row: Row) -> tuple[int, int]:
    """Measured people, what most of them said, published people, simulated ones and what most of
    those said; then systems by method, the stored runs before the published figures."""
    if row.is_of_people:
        kind = SIMULATED_CONSENSUS if row.system == SIMULATED_CONSENSUS else row.kind
        return RANKS.index(kind), 0
    method = Method.values.index(row.method) if row.method in Method.values else len(Method.values)
    return len(RANKS) + method, int(row.kind == RowKind.REPORTED)


def name_of(row: Row, titles: Names) -> str:
    """People of a study are told apart by its title where there are several."""
    if row.kind == RowKind.REPORTED and row.method is None:
        return f"{row.system}, {row.source}"
    name = "People" if row.system == PEOPLE else str(row.system)
    if row.pool:
        name = f"{name}, {row.pool}"
    if row.block == GROUPED:
        name = f"{name}, {(row.group or '').replace('=', ': ', 1)}"
    is_one = len(titles) < 2 or row.study is None
    return name if is_one else f"{name}, {titles.get(row.study or '', row.study)}"


def in_blocks(lines: Iterable[tuple[str, Line]], bounds: Iterable[Line] = ()) -> tuple[Line, ...]:
    """Each with its block: first what a study is about, with the bounds that it is read against;
    then each other block under its heading."""
    by_block: dict[str, list[Line]] = {"": []}
    for block, line in lines:
        by_block.setdefault(block, []).append(line)
    shown = [*by_block[""], *bounds]
    for block, heading in BLOCKS.items():
        if block and block in by_block:
            shown.append(Line({"who": heading}, kind=SECTION))
            shown += [replace(line, kind=block) for line in by_block[block]]
    return tuple(shown)


def people_table(table: Comparison, links: Links = None) -> Table:
    """Shots down, tasks across: one line for each study (or source) and number of shots."""
    columns, figure_lines = figures_by_column(_groups(table), by_shots=False, titles=table.titles)
    lines = in_blocks((line.first.block, _people_line(line, links)) for line in figure_lines)
    return _table("people", "People", columns, lines, links, table)


def annotators_by_shots(table: Comparison) -> list[Table]:
    """The table of people with every annotator beneath their cell, the best first; those of a line
    are of different cells. One for each number of shots where it is too long for a page."""
    columns, figure_lines = figures_by_column(_groups(table), by_shots=False, titles=table.titles)
    persons = [row for row in table.rows if row.single]
    lines: list[Line] = []
    by_shots: dict[str, list[Line]] = defaultdict(list)
    for line in figure_lines:
        if line.first.block:
            continue
        of_cell = [_people_line(line, None), *_annotator_lines(line, persons)]
        lines += of_cell
        by_shots[line.shots] += of_cell
    pages = [lines] if len(lines) <= MOST_LINES else by_shots.values()
    return [_table("people", "People", columns, page, None, table) for page in pages]


def supervision_table(table: Comparison, shots: str) -> list[Table]:
    """Full supervision beside few shots: people, and the systems that have both."""
    supervised = {
        system_of(row)
        for row in table.figures
        if row.shots == FULLY_SUPERVISED and not row.is_of_people
    }
    beside = [
        row
        for row in table.figures
        if str(row.shots) in (shots, FULLY_SUPERVISED)
        and (row.is_of_people or system_of(row) in supervised)
    ]
    if not supervised or shots == FULLY_SUPERVISED:
        return []
    tables = system_tables(
        replace(table, rows=tuple(beside), consensus=(), bounds=()), most_tasks=MOST_COLUMNS // 2
    )
    title = "Few shots and full supervision"
    return [replace(shown, name="supervision", title=f"{title}: {shown.title}") for shown in tables]


def time_table(table: Comparison) -> Table:
    """What the people of each cell have beside their scores."""
    keys = [column.key for column in BESIDE_SCORES]
    timed = [
        row
        for row in table.rows
        if not row.single and any(getattr(row, key) is not None for key in keys)
    ]
    columns = (WHO, BY_KEY["task"], BY_KEY["shots"], *BESIDE_SCORES)
    lines = tuple(
        Line({"who": name_of(row, table.titles), **values_of(columns[1:], row)}) for row in timed
    )
    return Table("times", "Time of people", "", columns, lines, is_short=True)


def _groups(table: Comparison) -> list[Row]:
    return [row for row in table.figures if row.is_of_people]


def _people_line(line: FigureLine, links: Links) -> Line:
    cells = {column.key: _cell(row, links, in_full=True) for column, row in line.figures.items()}
    return Line({"who": Cell(line.name, aside=line.shots), **cells}, kind="people")


def _annotator_lines(line: FigureLine, persons: Sequence[Row]) -> Iterable[Line]:
    """The nth of every cell in one line."""
    scores = {column.key: scores_of_persons(row, persons) for column, row in line.figures.items()}
    for number, row_scores in enumerate(zip_longest(*scores.values()), start=1):
        rows = zip(scores, row_scores, strict=True)
        cells = {key: Cell(row.mean, sd=row.sd) for key, row in rows if row is not None}
        yield Line({"who": Cell("", aside=f"{ANNOTATOR} {number}"), **cells}, kind="people")


def with_sd(row: Row) -> str:
    return f"{rounded(row.mean)} ± {rounded(row.sd)}" if row.sd is not None else rounded(row.mean)


def scores_of_persons(cell: Row, rows: Iterable[Row]) -> list[Row]:
    """The annotators of a cell, the best first."""
    if cell.kind not in MEASURED:
        return []

    def where(row: Row) -> tuple[object, ...]:
        return row.kind == RowKind.SIMULATED, row.study, row.pool, row.task, row.shots

    persons = [row for row in rows if row.single and where(row) == where(cell)]
    return sorted(persons, key=lambda row: -(row.mean or 0.0))


def system_tables(
    table: Comparison, links: Links = None, *, most_tasks: int = MOST_TASKS
) -> list[Table]:
    """People first, then systems by method, then what no skill earns and the form allows;
    columns are task × shots, those of two tasks in a table where they go on a page."""
    columns, _ = figures_by_column(table.figures, by_shots=True, titles=table.titles)
    groups: list[list[str]] = []
    widths = {
        task: sum(column.task == task for column in columns) for task in task_order(table.figures)
    }
    for task, width in widths.items():
        has_room = groups and len(groups[-1]) < most_tasks
        if has_room and sum(widths[other] for other in groups[-1]) + width <= MOST_COLUMNS:
            groups[-1].append(task)
        else:
            groups.append([task])
    return [_system_table(table, group, links) for group in groups]


def _system_table(table: Comparison, tasks: Sequence[str], links: Links) -> Table:
    rows = [row for row in table.figures if row.task in tasks]
    columns, figure_lines = figures_by_column(rows, by_shots=True, titles=table.titles)
    bounds = [bound for bound in table.bounds if bound.task in tasks]
    shown = ((line.first.block, _system_line(line, links)) for line in figure_lines)
    lines = in_blocks(shown, _bound_lines(bounds, columns))
    title = ", ".join(table.task_names.get(task, task) for task in tasks)
    return _table("systems", title, columns, lines, links, table)


def _table(
    name: str,
    title: str,
    shown: Iterable[ScoreColumn],
    lines: Iterable[Line],
    links: Links,
    table: Comparison,
) -> Table:
    columns = (
        column.shown(shots_text(column.shots) if column.shots else "", links, table)
        for column in shown
    )
    strong = (replace(column, is_strong=True) for column in columns)
    return Table(name, title, "", (WHO, *strong), tuple(lines), marks=NOTES, is_short=True)


def _bound_lines(bounds: Iterable[Bound], columns: Sequence[ScoreColumn]) -> list[Line]:
    """Each floor of a task in the columns of its policy, then the ceilings."""
    by_label: dict[str, dict[str, Cell]] = {}
    for bound in sorted(bounds, key=lambda bound: bound.rule == CEILING):
        by_label.setdefault(bound.label, {}).update(
            {
                column.key: Cell(bound.score)
                for column in columns
                if column.task == bound.task and column.policy in ("", bound.references)
            }
        )
    return [Line({"who": label, **cells}, kind="bound") for label, cells in by_label.items()]


def _system_line(line: FigureLine, links: Links) -> Line:
    size = line.first.parameters
    who = name_cell(line, line.name + (f" ({size})" if size else ""))
    cells = {column.key: _cell(row, links) for column, row in line.figures.items()}
    return Line({"who": who, **cells}, kind=line.kind)


def name_cell(line: FigureLine, name: str, size: str = "") -> Cell:
    """Name a system with how it was adapted, and where it was published; people are named by
    that."""
    sources = dict.fromkeys(row.source for row in line.figures.values() if row.source)
    about = " ".join(filter(None, [method_label(line.first.method), size]))
    return Cell(name, aside=about, note="; ".join(sources) if line.kind == "system" else "")


def _cell(row: Row, links: Links, *, in_full: bool = False) -> Cell:
    size = size_of(row)
    beside = [f"{text} {column.unit}" for column, text in beside_score(row) if in_full]
    return Cell(
        row.mean,
        sd=row.sd,
        low=row.ci_low,
        high=row.ci_high,
        marks=marks_of(row),
        size=size,
        beneath=() if links is None else tuple(filter(None, [size, *beside])),
    )


def beside_score(row: Row) -> Iterable[tuple[Column, str]]:
    for column in BESIDE_SCORES:
        if (value := getattr(row, column.key)) is not None:
            yield column, column.read(value)


def size_of(row: Row) -> str:
    """What the figure rests on: people or runs, and clusters of items."""
    if row.n is None or row.kind not in (RowKind.RUN, *MEASURED):
        return ""
    letter = "r" if row.kind == RowKind.RUN else "n"
    if row.ci_method == EPISODE_BOOTSTRAP:
        return f"{letter} = {row.n}, {row.m} episodes"
    return f"{letter} = {row.n}" + (f", m = {row.m}" if row.m else "")


def marks_of(row: Row) -> str:
    marks = {
        UNKNOWN: row.references == References.UNKNOWN,
        PARTIAL: row.coverage is not None and row.mean is not None and row.coverage < 1,
        NO_SKILL: row.shows_no_skill,
        REASONED: row.was_to_reason,
    }
    return "".join(mark for mark, applies in marks.items() if applies)

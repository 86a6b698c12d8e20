"""A comparison in the shape of a paper's tables: people by shots and task, then systems,
people first, two tasks a table.

Figures under different reference policies never stand in one column: a published figure under
another policy than the scored ones gets a column of its own. One whose policy nobody knows stands
among the scored ones, with a mark.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.utils.translation import gettext_lazy as _

from scoring.comparison.floors import RULES, Bound
from scoring.comparison.policies import first_policies, policies_of, policy_of
from scoring.comparison.rows import (
    CONSENSUS,
    EPISODE_BOOTSTRAP,
    PEOPLE,
    SIMULATED,
    SIMULATED_CONSENSUS,
    Row,
)
from scoring.models import Method, References, shots_order

UNKNOWN, PARTIAL, FEW, ONE = "†", "§", "¶", "‖"
# Of one table: more do not go on a page.
MOST_TASKS, MOST_COLUMNS = 2, 8
NAMES = {
    PEOPLE: _("Human"),
    SIMULATED: _("Simulated annotators"),
    CONSENSUS: _("Consensus"),
    SIMULATED_CONSENSUS: _("Consensus, simulated"),
}
KINDS_OF_PEOPLE = ("human", "consensus", "reported", "simulated", "simulated consensus")
NOTES = {
    UNKNOWN: _("Published without its reference policy: not tested against any other figure."),
    PARTIAL: _("Not every item has an answer; the mean is over those that have."),
    FEW: _(
        "Fewer than five annotators, or splits where several annotators share one: exploratory, "
        "no claim of better or worse."
    ),
    ONE: _("One annotator or run: no SD and no interval."),
}


# Task, shots and policy of a column.
Place = tuple[str, str, str]


@dataclass(frozen=True)
class GridCell:
    """A figure as it is read: rounded texts, and the marks that a footnote explains."""

    row: Row
    mean: str
    sd: str
    interval: str
    guard: str
    marks: str

    @property
    def size(self) -> str:
        """What the figure rests on: people or runs, and clusters of items."""
        letter = {"human": "n", "simulated": "n", "run": "r"}.get(self.row.kind)
        if letter is None or self.row.n is None:
            return ""
        if self.row.ci_method == EPISODE_BOOTSTRAP:
            size = {"letter": letter, "n": self.row.n, "m": self.row.m}
            return str(_("%(letter)s = %(n)s, %(m)s episodes") % size)
        return f"{letter} = {self.row.n}" + (f", m = {self.row.m}" if self.row.m else "")

    @property
    def text(self) -> str:
        parts = [self.mean, f"({self.sd})" if self.sd else "", self.interval]
        return " ".join(filter(None, parts)) + self.marks


@dataclass(frozen=True)
class Column:
    task: str
    shots: str
    # The policy that this column's figures stand under.
    references: str
    starts_task: bool = True


@dataclass(frozen=True)
class Line:
    name: str
    method: str
    note: str
    kind: str
    cells: tuple[GridCell | None, ...]


@dataclass(frozen=True)
class Grid:
    title: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]

    @property
    def tasks(self) -> list[tuple[str, str, int]]:
        """Each task with its policy and the number of its columns."""
        runs = groupby(self.columns, key=lambda column: (column.task, column.references))
        return [(task, policy, len(list(columns))) for (task, policy), columns in runs]

    def policy_of(self, column: Column) -> str:
        """What a column must say of its policy: nothing where its task has one alone."""
        policies = {each.references for each in self.columns if each.task == column.task}
        return column.references if len(policies) > 1 else ""

    @property
    def has_shots(self) -> bool:
        return any(column.shots for column in self.columns)

    @property
    def has_intervals(self) -> bool:
        return any(cell and cell.interval for line in self.lines for cell in line.cells)

    @property
    def task_starts(self) -> set[int]:
        return {number for number, column in enumerate(self.columns) if column.starts_task}

    @property
    def notes(self) -> dict[str, str]:
        """The footnotes of the marks that stand in this grid."""
        used = {mark for line in self.lines for cell in line.cells if cell for mark in cell.marks}
        return {mark: note for mark, note in NOTES.items() if mark in used}


def people_grid(rows: Iterable[Row]) -> Grid:
    """Shots down, tasks across: one line for each study (or source) and number of shots."""
    people = [row for row in rows if is_people(row) and not row.single]
    first = first_policies(people)
    lines = sorted({(_rank(row), _name(row), shots_order(row.shots)) for row in people})
    columns = [
        Column(task, "", policy, starts_task=number == 0)
        for task in task_order(people)
        for number, policy in enumerate(policies_of(people, task, first))
    ]
    by_place = {
        (_name(row), shots_order(row.shots), row.task, policy_of(row, first)): row for row in people
    }
    return Grid(
        title=str(_("People")),
        columns=tuple(columns),
        lines=tuple(
            Line(
                name=name,
                method=str(_("%(shots)s shots") % {"shots": shots[1]}),
                note="",
                kind="people",
                cells=tuple(
                    _cell(by_place.get((name, shots, column.task, column.references)))
                    for column in columns
                ),
            )
            for rank, name, shots in lines
        ),
    )


def system_grids(rows: Sequence[Row], bounds: Sequence[Bound] = ()) -> list[Grid]:
    """People first, then systems by method, then what no skill earns and the form allows;
    columns are task × shots, those of two tasks in a table where they go on a page."""
    figures = [row for row in rows if not row.single]
    widths = {task: len(_system_columns(figures, [task])) for task in task_order(figures)}
    groups: list[list[str]] = []
    for task, width in widths.items():
        has_room = groups and len(groups[-1]) < MOST_TASKS
        if has_room and widths[groups[-1][-1]] + width <= MOST_COLUMNS:
            groups[-1].append(task)
        else:
            groups.append([task])
    return [
        _system_grid([row for row in figures if row.task in group], group, bounds)
        for group in groups
    ]


def task_order(rows: Iterable[Row]) -> list[str]:
    """As the published figures go, then the others by name."""
    published: list[str] = []
    others: list[str] = []
    for row in rows:
        (published if row.kind == "reported" else others).append(row.task)
    return list(dict.fromkeys([*published, *sorted(others)]))


def _system_grid(rows: Sequence[Row], tasks: Sequence[str], bounds: Iterable[Bound]) -> Grid:
    first = first_policies(rows)
    columns = _system_columns(rows, tasks)
    return Grid(
        title=", ".join(tasks),
        columns=tuple(columns),
        lines=(
            *(_system_line(rows, columns) for rows in _system_lines(rows, first)),
            *_bound_lines([bound for bound in bounds if bound.task in tasks], columns),
        ),
    )


def _system_columns(rows: Sequence[Row], tasks: Sequence[str]) -> list[Column]:
    first = first_policies(rows)
    places = {(row.task, policy_of(row, first), shots_order(row.shots)) for row in rows}
    return [
        Column(task, shots, policy, starts_task=policy == first[task] and number == 0)
        for task in tasks
        for policy in policies_of(rows, task, first)
        for number, (_, _, (_, shots)) in enumerate(
            sorted(place for place in places if place[:2] == (task, policy))
        )
    ]


def _bound_lines(bounds: Iterable[Bound], columns: Sequence[Column]) -> list[Line]:
    by_label: dict[str, dict[str, Row]] = {}
    for bound in sorted(bounds, key=lambda bound: RULES.index(bound.rule)):
        row = Row(
            "bound",
            task=bound.task,
            mean=bound.score,
            references=bound.references,
            normalisation=bound.normalisation,
        )
        by_label.setdefault(bound.label, {})[bound.task] = row
    return [
        Line(
            name=label,
            method="",
            note="",
            kind="bound",
            cells=tuple(_cell(_under(rows.get(column.task), column)) for column in columns),
        )
        for label, rows in by_label.items()
    ]


def _under(row: Row | None, column: Column) -> Row | None:
    """A floor or ceiling, in the columns of its policy."""
    return row if row and column.references in ("", row.references) else None


def _system_lines(rows: Iterable[Row], first: Mapping[str, str]) -> list[dict[Place, Row]]:
    """The rows of each line by their place; one system's figures from several tables of a
    paper make one line, a second figure for the same place makes a second."""
    lines: dict[tuple, list[dict[Place, Row]]] = {}
    for row in sorted(rows, key=_rank):
        same = lines.setdefault(
            (_rank(row), _name(row), row.method, row.parameters, row.kind), [{}]
        )
        place = (row.task, str(row.shots), policy_of(row, first))
        free = next((line for line in same if place not in line), None)
        if free is None:
            same.append(free := {})
        free[place] = row
    return [line for same in lines.values() for line in same]


def _system_line(rows: dict[Place, Row], columns: Sequence[Column]) -> Line:
    first = next(iter(rows.values()))
    people = is_people(first)
    sources = dict.fromkeys(row.source for row in rows.values() if row.source)
    return Line(
        name=_name(first) + (f" ({first.parameters})" if first.parameters else ""),
        method=first.method or "",
        note="" if people else "; ".join(sources),
        kind="people" if people else "system",
        cells=tuple(
            _cell(rows.get((column.task, column.shots, column.references))) for column in columns
        ),
    )


def _cell(row: Row | None) -> GridCell | None:
    if row is None:
        return None
    return GridCell(
        row=row,
        mean=rounded(row.mean) or "–",
        sd=rounded(row.sd),
        interval=limits(row.ci_low, row.ci_high),
        guard=limits(row.guard_low, row.guard_high),
        marks="".join(_marks(row)),
    )


def _marks(row: Row) -> Iterable[str]:
    if row.references == References.UNKNOWN:
        yield UNKNOWN
    if row.coverage is not None and row.coverage < 1:
        yield PARTIAL
    if row.kind in ("human", "simulated"):
        if row.n == 1:
            yield ONE
        elif row.is_exploratory:
            yield FEW
    elif row.kind == "run" and row.n == 1:
        yield ONE


def limits(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{low:.1f}, {high:.1f}]"


def rounded(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def is_people(row: Row) -> bool:
    return row.kind in KINDS_OF_PEOPLE and not (row.kind == "reported" and row.method)


def _rank(row: Row) -> tuple[int, int]:
    """Measured people, what most of them said, published people, simulated ones and what most of
    those said; then systems by method, the stored runs before the published figures."""
    if is_people(row):
        simulated = row.kind == "consensus" and row.system == SIMULATED_CONSENSUS
        return KINDS_OF_PEOPLE.index("simulated consensus" if simulated else row.kind), 0
    method = Method.values.index(row.method) if row.method in Method.values else len(Method.values)
    return len(KINDS_OF_PEOPLE) + method, int(row.kind == "reported")


def _name(row: Row) -> str:
    if row.kind == "reported" and row.method is None:
        return f"{row.system}, {row.source}"
    name = str(NAMES.get(str(row.system), row.system) if is_people(row) else row.system)
    return f"{name}, {row.study}" if row.study else name

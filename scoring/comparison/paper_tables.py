"""A comparison in the shape of a paper's tables: people by shots and task, then systems,
people first, two tasks a table.

Figures under different reference policies never stand in one column: a published figure under
another policy than the scored ones gets a column of its own. One whose policy nobody knows stands
among the scored ones, with a mark.
"""

from collections.abc import Iterable, Mapping, Sequence

from django.utils.translation import gettext_lazy as _

from scoring.comparison.floors import RULES, Bound
from scoring.comparison.policies import first_policies, policies_of, policy_of
from scoring.comparison.rows import (
    COLUMNS,
    CONSENSUS,
    EPISODE_BOOTSTRAP,
    PEOPLE,
    SIMULATED,
    SIMULATED_CONSENSUS,
    Row,
)
from scoring.models import FULLY_SUPERVISED, Method, References, shots_order
from scoring.tables.table import Cell, Column, Group, Line, Table, Text, limits

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
# Addresses by task.
Links = Mapping[str, str]
WHO = Column("who", _("Who"), is_number=False, is_name=True)
# What has a unit of its own stands beneath the score of people.
BENEATH = tuple(column for column in COLUMNS if column.unit)


def people_table(rows: Iterable[Row], links: Links | None = None) -> Table:
    """Shots down, tasks across: one line for each study (or source) and number of shots."""
    people = [row for row in rows if is_people(row) and not row.single]
    first = first_policies(people)
    by_line: dict[tuple[tuple[int, int], str, tuple[float, str]], dict[str, Row]] = {}
    for row in people:
        line = (_rank(row), _name(row), shots_order(row.shots))
        by_line.setdefault(line, {})[_key((row.task, "", policy_of(row, first)))] = row
    return _table(
        "people",
        _("People"),
        [
            (task, "", policy)
            for task in task_order(people)
            for policy in policies_of(people, task, first)
        ],
        [
            Line(
                {
                    "who": Cell(name, aside=_shots(shots[1])),
                    **{key: _cell(row, in_full=True) for key, row in figures.items()},
                },
                kind="people",
            )
            for (rank, name, shots), figures in sorted(by_line.items(), key=lambda line: line[0])
        ],
        links,
    )


def system_tables(
    rows: Sequence[Row], bounds: Sequence[Bound] = (), links: Links | None = None
) -> list[Table]:
    """People first, then systems by method, then what no skill earns and the form allows;
    columns are task × shots, those of two tasks in a table where they go on a page."""
    figures = [row for row in rows if not row.single]
    widths = {task: len(_system_places(figures, [task])) for task in task_order(figures)}
    groups: list[list[str]] = []
    for task, width in widths.items():
        has_room = groups and len(groups[-1]) < MOST_TASKS
        if has_room and widths[groups[-1][-1]] + width <= MOST_COLUMNS:
            groups[-1].append(task)
        else:
            groups.append([task])
    return [
        _system_table([row for row in figures if row.task in group], group, bounds, links)
        for group in groups
    ]


def task_order(rows: Iterable[Row]) -> list[str]:
    """As the published figures go, then the others by name."""
    published: list[str] = []
    others: list[str] = []
    for row in rows:
        (published if row.kind == "reported" else others).append(row.task)
    return list(dict.fromkeys([*published, *sorted(others)]))


def _system_table(
    rows: Sequence[Row], tasks: Sequence[str], bounds: Iterable[Bound], links: Links | None
) -> Table:
    places = _system_places(rows, tasks)
    of_tasks = [bound for bound in bounds if bound.task in tasks]
    lines = [_system_line(figures) for figures in _system_lines(rows, first_policies(rows))]
    return _table(
        "systems", ", ".join(tasks), places, [*lines, *_bound_lines(of_tasks, places)], links
    )


def _system_places(rows: Sequence[Row], tasks: Sequence[str]) -> list[Place]:
    first = first_policies(rows)
    places = {(row.task, policy_of(row, first), shots_order(row.shots)) for row in rows}
    return [
        (task, shots, policy)
        for task in tasks
        for policy in policies_of(rows, task, first)
        for _, _, (_, shots) in sorted(place for place in places if place[:2] == (task, policy))
    ]


def _table(
    name: str, title: Text, places: Iterable[Place], lines: Iterable[Line], links: Links | None
) -> Table:
    columns = (
        Column(
            _key((task, shots, policy)),
            _shots(shots) if shots else "",
            digits=1,
            is_strong=True,
            group=Group(task, aside=policy, href=(links or {}).get(task, "")),
        )
        for task, shots, policy in places
    )
    return Table(name, title, "", (WHO, *columns), tuple(lines), marks=NOTES, is_short=True)


def _key(place: Place) -> str:
    return " ".join(place)


def _shots(shots: str) -> str:
    if shots == FULLY_SUPERVISED:
        return str(_("all"))
    return str(_("%(shots)s shots") % {"shots": shots})


def _bound_lines(bounds: Iterable[Bound], places: Sequence[Place]) -> list[Line]:
    """Each floor or ceiling of a task, in the columns of its policy."""
    by_label: dict[str, dict[str, Cell]] = {}
    for bound in sorted(bounds, key=lambda bound: RULES.index(bound.rule)):
        by_label.setdefault(bound.label, {}).update(
            {
                _key((task, shots, policy)): Cell(bound.score)
                for task, shots, policy in places
                if task == bound.task and policy in ("", bound.references)
            }
        )
    return [Line({"who": label, **cells}, kind="bound") for label, cells in by_label.items()]


def _system_lines(rows: Iterable[Row], first: Mapping[str, str]) -> list[dict[Place, Row]]:
    """The rows of each line by their place; one system's figures from several tables of a
    paper make one line, a second figure for the same place makes a second."""
    lines: dict[tuple[object, ...], list[dict[Place, Row]]] = {}
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


def _system_line(rows: dict[Place, Row]) -> Line:
    first = next(iter(rows.values()))
    people = is_people(first)
    name = _name(first) + (f" ({first.parameters})" if first.parameters else "")
    sources = dict.fromkeys(row.source for row in rows.values() if row.source)
    who = Cell(name, aside=first.method or "", note="" if people else "; ".join(sources))
    return Line(
        {"who": who, **{_key(place): _cell(row) for place, row in rows.items()}},
        kind="people" if people else "system",
    )


def _cell(row: Row, *, in_full: bool = False) -> Cell:
    return Cell(
        row.mean,
        sd=row.sd,
        low=row.ci_low,
        high=row.ci_high,
        marks="".join(_marks(row)),
        beneath=tuple(_beneath(row, in_full=in_full)),
    )


def _beneath(row: Row, *, in_full: bool) -> Iterable[str]:
    guard = limits(row.guard_low, row.guard_high)
    if guard and in_full:
        yield " ".join([str(_("guard")), guard])
    if size := _size(row):
        yield size
    for column in BENEATH if in_full else ():
        value = getattr(row, column.key)
        if value is not None:
            yield f"{column.read(value)} {column.unit}"


def _size(row: Row) -> str:
    """What the figure rests on: people or runs, and clusters of items."""
    letter = {"human": "n", "simulated": "n", "run": "r"}.get(row.kind)
    if letter is None or row.n is None:
        return ""
    if row.ci_method == EPISODE_BOOTSTRAP:
        size = {"letter": letter, "n": row.n, "m": row.m}
        return str(_("%(letter)s = %(n)s, %(m)s episodes") % size)
    return f"{letter} = {row.n}" + (f", m = {row.m}" if row.m else "")


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

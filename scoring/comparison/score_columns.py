"""Where a figure goes in a table: its line by whose it is, its column by task, shots and policy.

Figures under different reference policies never stand in one column: a published figure under
another policy than the scored ones gets a column of its own. One whose policy nobody knows stands
among the scored ones, with a mark.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from scoring.cells.rows import SIMULATED_CONSENSUS, Row, RowKind
from scoring.models import FULLY_SUPERVISED, Method, shots_order
from scoring.tests.averages import first_policies, policy_of

# Measured people, what most of them said, published people, simulated ones; systems follow.
RANKS = (RowKind.HUMAN, RowKind.CONSENSUS, RowKind.REPORTED, RowKind.SIMULATED, SIMULATED_CONSENSUS)


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

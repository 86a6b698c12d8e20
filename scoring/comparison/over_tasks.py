"""One figure over all tasks, for whoever has all of them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

from scoring.comparison.cells import Cell
from scoring.comparison.rows import (
    CONSENSUS,
    PEOPLE,
    SIMULATED,
    SIMULATED_CONSENSUS,
    Row,
    percent,
)
from scoring.comparison.score_columns import first_policies, policy_of
from scoring.comparison.to_json import known
from scoring.core.averages import AverageInterval, average_interval, over_tasks
from scoring.core.intervals import CellInterval

SHARED_PEOPLE = "Tasks share people: there is no interval for the average."
# A study, the name of a row and a number of shots.
Sharing = tuple[str | None, str | None, int | str | None]


@dataclass(frozen=True)
class Aggregate:
    """In percent. sd is of the mean, √(Σ sd²)/T; clues_sd is √(Σ sd²), which the CLUES
    leaderboard prints. Both are None where a task's SD is not known."""

    kind: str
    study: str | None
    system: str | None
    method: str | None
    parameters: str
    shots: int | str | None
    source: str
    mean: float
    sd: float | None
    clues_sd: float | None
    tasks: tuple[str, ...]
    # The policies that its tasks were scored under, each once.
    references: tuple[str, ...]
    normalisations: tuple[str, ...]
    # Where every task has an interval for new items, and people of its own.
    low: float | None = None
    high: float | None = None
    df: float | None = None
    # A task has fewer than five annotators.
    exploratory: bool = False
    notes: str | None = None


def aggregate_of_plain(kept: Mapping[str, Any]) -> Aggregate:
    """As a kept comparison holds it (to_json.py)."""
    lists = ("tasks", "references", "normalisations")
    return Aggregate(**{**kept, **{name: tuple(kept[name]) for name in lists}})


def aggregates(
    rows: Collection[Row], tasks: Sequence[str], shared: Collection[Sharing] = ()
) -> list[Aggregate]:
    """The mean of the task means of everybody who has a figure for each of the tasks. Figures under
    another policy than their task's scored ones are left out. shared: whose tasks share people, so
    that there is no interval."""
    first = first_policies(rows)
    groups: dict[tuple[object, ...], dict[str, Row]] = {}
    for row in rows:
        if policy_of(row, first) != first[row.task]:
            continue
        if not row.single and row.mean is not None and not _partial(row):
            key = (row.kind, row.study, row.system, row.method, row.parameters, row.shots)
            groups.setdefault(key, {}).setdefault(row.task, row)
    return [
        _aggregate([by_task[task] for task in tasks], shared)
        for by_task in groups.values()
        if tasks and all(task in by_task for task in tasks)
    ]


def share_people(cells: Iterable[Cell]) -> bool:
    """Whether somebody is in two of these cells: their errors are then not independent."""
    seen: set[int] = set()
    for cell in cells:
        those = {member.annotator_id for member in cell.annotators}
        if seen & those:
            return True
        seen |= those
    return False


def sharing(people: Iterable[Cell]) -> set[Sharing]:
    """Of a study's cells by shots: whose tasks share people."""
    groups: dict[Sharing, list[Cell]] = {}
    for cell in people:
        names = (SIMULATED, SIMULATED_CONSENSUS) if cell.simulated else (PEOPLE, CONSENSUS)
        for name in names:
            slug = cell.study.slug if cell.study else None
            groups.setdefault((slug, name, cell.shots), []).append(cell)
    return {whose for whose, cells in groups.items() if share_people(cells)}


def _aggregate(rows: Sequence[Row], shared: Collection[Sharing]) -> Aggregate:
    average = over_tasks([_or_nan(row.mean) for row in rows], [_or_nan(row.sd) for row in rows])
    first = rows[0]
    has_sd = average.sd == average.sd
    has_shared = (first.study, first.system, first.shots) in shared
    low, high, df = (None, None, None) if has_shared else _limits(rows)
    return Aggregate(
        kind=first.kind,
        study=first.study,
        system=first.system,
        method=first.method,
        parameters=first.parameters,
        shots=first.shots,
        source="; ".join(dict.fromkeys(row.source for row in rows if row.source)),
        mean=average.mean,
        sd=average.sd if has_sd else None,
        clues_sd=average.root_sum_sd if has_sd else None,
        tasks=tuple(row.task for row in rows),
        references=tuple(dict.fromkeys(row.references or "" for row in rows)),
        normalisations=tuple(dict.fromkeys(row.normalisation or "unknown" for row in rows)),
        low=low,
        high=high,
        df=df,
        exploratory=any(row.is_exploratory or row.n == 1 for row in rows if row.kind != "run"),
        notes=SHARED_PEOPLE if has_shared else None,
    )


def _limits(rows: Sequence[Row]) -> tuple[float | None, float | None, float | None]:
    """Low, high and degrees of freedom. One task is no average: its own limits stand, which with
    two people are the guard band's."""
    if len(rows) == 1 and rows[0].estimand == "new_items":
        return rows[0].ci_low, rows[0].ci_high, rows[0].df
    interval = _interval(rows)
    if interval is None:
        return None, None, None
    return percent(interval.low), percent(interval.high), known(interval.df)


def _interval(rows: Sequence[Row]) -> AverageInterval | None:
    """Of cells whose intervals are for new items; none where a task has none."""
    cells = [_cell_interval(row) for row in rows]
    if not all(cell is not None for cell in cells):
        return None
    return average_interval([cell for cell in cells if cell is not None])


def _cell_interval(row: Row) -> CellInterval | None:
    if None in (row.mean, row.units, row.m, row.se, row.df) or row.estimand != "new_items":
        return None
    return CellInterval(
        mean=min(1.0, (row.mean or 0.0) / 100),
        sd=_or_nan(row.sd) / 100,
        n=row.units or 0,
        m=row.m or 0,
        low=_or_nan(row.ci_low) / 100,
        high=_or_nan(row.ci_high) / 100,
        df=_or_nan(row.df),
        se=_or_nan(row.se) / 100,
        method=row.ci_method or "",
        estimand="new_items",
        level=0.95,
    )


def _or_nan(figure: float | None) -> float:
    return nan if figure is None else figure


def _partial(row: Row) -> bool:
    return row.coverage is not None and row.coverage < 1

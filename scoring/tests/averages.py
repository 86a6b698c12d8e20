"""One figure over all tasks, for whoever has all of them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from scoring.cells.cells import Cell
from scoring.cells.consensus import ConsensusScores, consensus_limits
from scoring.cells.rows import (
    BY_KEY,
    CONSENSUS,
    PEOPLE,
    SIMULATED,
    SIMULATED_CONSENSUS,
    Row,
    RowKind,
    first_policies,
    is_alike,
    known,
    percent,
    policy_of,
    released,
)
from scoring.core.intervals import CellInterval
from scoring.core.verdicts import average_interval, over_tasks
from scoring.tables.table import REQUIRED, as_in, columns_of, described
from scoring.tests.differences import COLUMNS as OF_TESTS

SHARED_PEOPLE = "Tasks share people: there is no interval for the average."
# A study, the name of a row and a number of shots.
Sharing = tuple[str | None, str | None, int | str | None]
Limits = tuple[float | None, float | None, float | None]


@dataclass(frozen=True)
class Average:
    """The mean of task means, in percent. df is None where there is no interval."""

    kind: RowKind = as_in(BY_KEY["kind"])  # noqa: RUF009 as below
    study: str | None = as_in(BY_KEY["study"])
    system: str | None = as_in(OF_TESTS["system"])
    method: str | None = as_in(BY_KEY["method"])
    parameters: str = as_in(OF_TESTS["parameters"])
    shots: int | str | None = as_in(BY_KEY["shots"])
    mean: float = described(
        "Mean", "Mean of the task means, in percent.", digits=1, default=REQUIRED
    )
    # Where every task has an interval for new items, and people of its own.
    low: float | None = described(
        "95 % low", "Lower limit of its 95 % interval, in percent.", digits=1
    )
    high: float | None = described(
        "95 % high", "Upper limit of its 95 % interval, in percent.", digits=1
    )
    sd: float | None = described(
        "SD of the mean",
        "√(Σ sd²)/T over the T tasks, in percent points; empty if an SD is missing.",
        digits=1,
    )
    clues_sd: float | None = described(
        "SD as CLUES prints it",
        "√(Σ sd²), in percent points; empty if an SD is missing.",
        digits=1,
    )
    tasks: tuple[str, ...] = as_in(OF_TESTS["tasks"], default=())
    exploratory: bool = described(
        "Exploratory",
        "Whether a task has fewer than five annotators.",
        is_number=False,
        default=False,
    )
    notes: str | None = as_in(BY_KEY["notes"], default=None)
    # What its tasks were scored under, each once.
    references: tuple[str, ...] = as_in(BY_KEY["references"], default=())
    normalisations: tuple[str, ...] = as_in(BY_KEY["normalisation"], default=())
    source: str = described(
        "Source", "Where the figures were published, if they were.", is_number=False, default=""
    )
    df: float | None = None

    @property
    def limits(self) -> tuple[float | None, float | None]:
        return self.low, self.high

    def without_gold(self) -> "Average":
        """As whoever may not see the gold is shown it; its parts are withheld already."""
        sds = (None if sd is None else released(sd) for sd in (self.sd, self.clues_sd))
        sd, clues_sd = sds
        withheld = replace(self, mean=released(self.mean), sd=sd, clues_sd=clues_sd)
        return replace(withheld, low=None, high=None, df=None)


COLUMNS = columns_of(Average)


def averages(
    rows: Collection[Row], tasks: Sequence[str], shared: Collection[Sharing] = ()
) -> list[Average]:
    """The mean of the task means of everybody who has a figure for each of the tasks. Figures under
    another policy than their task's scored ones are left out. shared: whose tasks share people, so
    that there is no interval."""
    first = first_policies(rows)
    groups: dict[tuple[object, ...], dict[str, Row]] = {}
    for row in rows:
        is_partial = row.coverage is not None and row.coverage < 1
        if row.single or row.mean is None or is_partial or policy_of(row, first) != first[row.task]:
            continue
        groups.setdefault((row.kind, row.study, *row.whose, row.shots), {}).setdefault(
            row.task, row
        )
    return [
        _average([by_task[task] for task in tasks], shared)
        for by_task in groups.values()
        if tasks and all(task in by_task for task in tasks)
    ]


def averages_of_consensus(
    together: Sequence[tuple[Row, ConsensusScores]],
    tasks: Sequence[str],
    shared: Collection[Sharing],
    *,
    seed: int,
) -> list[Average]:
    """With its interval, where tasks share no people."""
    found = averages([row for row, _ in together], tasks, shared)
    scores = [
        [scored for row, scored in together if is_alike(average, row) and row.task in average.tasks]
        for average in found
    ]
    limits = [consensus_limits(of_tasks, seed=seed) for of_tasks in scores]
    return [
        average if average.notes else replace(average, low=low, high=high)
        for average, (low, high) in zip(found, limits, strict=True)
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


def _average(rows: Sequence[Row], shared: Collection[Sharing]) -> Average:
    average = over_tasks([_or_nan(row.mean) for row in rows], [_or_nan(row.sd) for row in rows])
    first = rows[0]
    has_shared = (first.study, first.system, first.shots) in shared
    low, high, df = (None, None, None) if has_shared else _limits(rows)
    return Average(
        kind=first.kind,
        study=first.study,
        system=first.system,
        method=first.method,
        parameters=first.parameters,
        shots=first.shots,
        source="; ".join(dict.fromkeys(row.source for row in rows if row.source)),
        mean=average.mean,
        sd=known(average.sd),
        clues_sd=None if np.isnan(average.sd) else average.root_sum_sd,
        tasks=tuple(row.task for row in rows),
        references=tuple(dict.fromkeys(row.references or "" for row in rows)),
        normalisations=tuple(dict.fromkeys(row.normalisation or "unknown" for row in rows)),
        low=low,
        high=high,
        df=df,
        exploratory=any(
            row.is_exploratory or row.n == 1 for row in rows if row.kind != RowKind.RUN
        ),
        notes=SHARED_PEOPLE if has_shared else None,
    )


def _limits(rows: Sequence[Row]) -> Limits:
    """Low, high and degrees of freedom, of cells whose intervals are for new items; none where a
    task has none. One task is no average: its own limits stand, which with two people are the guard
    band's."""
    if len(rows) == 1 and rows[0].estimand == "new_items":
        return rows[0].ci_low, rows[0].ci_high, rows[0].df
    if any(row.estimand != "new_items" or row.se is None or row.df is None for row in rows):
        return None, None, None
    interval = average_interval(list(map(_interval, rows)))
    return percent(interval.low), percent(interval.high), known(interval.df)


def _interval(row: Row) -> CellInterval:
    return CellInterval(
        mean=min(1.0, _or_nan(row.mean) / 100),
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

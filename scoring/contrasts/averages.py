"""The means over tasks of everybody who has all of them, with their intervals."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan

from scoring.cells.cells import Cell, known, percent
from scoring.cells.rows import (
    BY_KEY,
    MEASURED,
    WHOSE,
    Row,
    RowKind,
    first_policies,
    policy_of,
    released,
    whose,
)
from scoring.contrasts.difference import COLUMNS as OF_TESTS
from scoring.core import verdicts
from scoring.core.shared import shared_average
from scoring.tables.table import columns_in, picked

SHARED_PEOPLE = "Who did several of the tasks counts once in the interval of the average."
# A study, its pool, the name of a row and a number of shots.
Sharing = tuple[str | None, str | None, str | None, int | str | None]
NONE: Mapping[Sharing, Sequence[Cell]] = {}


@dataclass(frozen=True)
class Average:
    """The mean of task means, in percent. df is None where there is no interval."""

    kind: RowKind
    study: str | None
    pool: str | None
    system: str | None
    method: str | None
    parameters: str
    shots: int | str | None
    mean: float
    # Where every task has an interval for new items.
    low: float | None = None
    high: float | None = None
    sd: float | None = None
    clues_sd: float | None = None
    tasks: tuple[str, ...] = ()
    has_too_few: bool = False
    notes: str | None = None
    # What its tasks were scored under, each once.
    references: tuple[str, ...] = ()
    normalisations: tuple[str, ...] = ()
    source: str = ""
    df: float | None = None
    # As of its rows.
    block: str = ""
    group: str | None = None

    @property
    def limits(self) -> tuple[float | None, float | None]:
        return self.low, self.high

    def without_gold(self) -> "Average":
        """The average as whoever may not see the gold is shown it; its parts are withheld
        already."""
        sd, clues_sd = (None if sd is None else released(sd) for sd in (self.sd, self.clues_sd))
        withheld = replace(self, mean=released(self.mean), sd=sd, clues_sd=clues_sd)
        return replace(withheld, low=None, high=None, df=None)


_COLUMNS = {
    **BY_KEY,
    **{key: OF_TESTS[key] for key in ("system", "parameters", "tasks")},
    **columns_in(__file__, "average"),
    "normalisations": BY_KEY["normalisation"].under("normalisations"),
}
OF_AVERAGES = picked(
    _COLUMNS,
    "kind study pool system method parameters shots mean low high sd clues_sd tasks has_too_few "
    "notes references normalisations source",
)


def averages(
    rows: Collection[Row], tasks: Sequence[str], shared: Mapping[Sharing, Sequence[Cell]] = NONE
) -> list[Average]:
    """The mean of the task means of everybody who has all tasks, under the policy of those scored.
    shared: the cells of whose tasks share people."""
    first = first_policies(rows)
    groups: dict[tuple[object, ...], dict[str, Row]] = {}
    for row in rows:
        is_partial = row.coverage is not None and row.coverage < 1
        if row.single or row.mean is None or is_partial or policy_of(row, first) != first[row.task]:
            continue
        groups.setdefault(whose(row), {}).setdefault(row.task, row)
    return [
        _average_of([by_task[task] for task in tasks], shared)
        for by_task in groups.values()
        if tasks and all(task in by_task for task in tasks)
    ]


def share_people(cells: Iterable[Cell]) -> bool:
    """Whether somebody is in two of these cells: their errors are then not independent."""
    people = [{member.annotator_id for member in cell.annotators} for cell in cells]
    return len(set().union(*people)) < sum(map(len, people))


def sharing(people: Iterable[Cell]) -> dict[Sharing, list[Cell]]:
    """A study's cells by shots: those whose tasks share people."""
    groups: dict[Sharing, list[Cell]] = {}
    for cell in people:
        name = MEASURED[cell.kind]
        slug = cell.study.slug if cell.study else None
        groups.setdefault((slug, cell.pool or None, name, cell.shots), []).append(cell)
    return {whose: cells for whose, cells in groups.items() if share_people(cells)}


def _average_of(rows: Sequence[Row], shared: Mapping[Sharing, Sequence[Cell]]) -> Average:
    means, sds = ([_or_nan(getattr(row, name)) for row in rows] for name in ("mean", "sd"))
    mean, sd, clues_sd = verdicts.over_tasks(means, sds)
    first = rows[0]
    cells = shared.get((first.study, first.pool, first.system, first.shots), ())
    low, high, df = _limits(rows, cells)
    return Average(
        **dict(zip(WHOSE, whose(first), strict=True)),
        source="; ".join(dict.fromkeys(row.source for row in rows if row.source)),
        mean=mean,
        sd=known(sd),
        clues_sd=known(clues_sd),
        tasks=tuple(row.task for row in rows),
        references=tuple(dict.fromkeys(row.references or "" for row in rows)),
        normalisations=tuple(dict.fromkeys(row.normalisation or "unknown" for row in rows)),
        low=low,
        high=high,
        df=df,
        has_too_few=any(row.is_exploratory for row in rows if row.is_cell_of_people),
        notes=SHARED_PEOPLE if cells else None,
    )


def _limits(
    rows: Sequence[Row], shared: Sequence[Cell]
) -> tuple[float | None, float | None, float | None]:
    """Low, high and degrees of freedom, of cells whose intervals are for new items; none where a
    task has none. One task is no average: its own limits stand. shared: the cells, where somebody
    is in several."""
    if any(row.ci_low is None or row.estimand != "new_items" for row in rows):
        return None, None, None
    if shared and any(row.shot_sets == "new" or row.group for row in rows):
        return None, None, None
    if len(rows) == 1:
        return rows[0].ci_low, rows[0].ci_high, rows[0].df
    if shared:
        cells = [cell for row in rows for cell in shared if cell.task.slug == row.task]
        if any(cell.has_gaps for cell in cells):
            return None, None, None
        average = shared_average([cell.clustered for cell in cells], [one.persons for one in cells])
        return percent(average.low), percent(average.high), known(average.df)
    means, ses = (
        [min(1.0, _or_nan(getattr(row, name)) / 100) for row in rows] for name in ("mean", "se")
    )
    dfs, items = [_or_nan(row.df) for row in rows], [row.m or 0 for row in rows]
    interval = verdicts.average_interval(means, ses, dfs, items)
    return percent(interval.low), percent(interval.high), known(interval.df)


def _or_nan(figure: float | None) -> float:
    return nan if figure is None else figure

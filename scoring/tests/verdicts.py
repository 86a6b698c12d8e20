"""What a comparison may say of people and each system: ahead, behind, as good, or not decided.

By the rule of scoring/core/verdicts.py, with the margin that the study set before its start. All
from the people's side: `ahead` are the people. The tests of one study's people are a family, its
simulated annotators' by themselves, and so are their averages over tasks, more shots against fewer,
and systems against one another.

Figures over all tasks are for whoever has all of them.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any, TypeVar

import numpy as np

from scoring.cells.cell_rows import ConsensusScores, consensus_limits
from scoring.cells.cells import Cell, known, percent
from scoring.cells.rows import (
    BY_KEY,
    CONSENSUS,
    PEOPLE,
    SIMULATED,
    SIMULATED_CONSENSUS,
    Row,
    RowKind,
    first_policies,
    policy_of,
    released,
    whose,
)
from scoring.core import verdicts as rule
from scoring.core.intervals import CellInterval
from scoring.core.verdicts import (
    AHEAD,
    BEHIND,
    SAME,
    UNDECIDED,
    UNTESTED,
    AverageDesign,
    AverageDifference,
    average_difference,
    average_interval,
    detectable_difference,
    holm,
    over_tasks,
)
from scoring.tables.table import REQUIRED, as_in, columns_of, described
from scoring.tests.differences import COLUMNS as OF_TESTS
from scoring.tests.differences import (
    Difference,
    Pairing,
    difference_of,
    in_percent,
    more_and_fewer_shots,
    people_and_systems,
    people_of,
    systems_and_systems,
)

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


OF_AVERAGES = columns_of(Average)


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
        groups.setdefault(whose(row), {}).setdefault(row.task, row)
    return [
        _average_of([by_task[task] for task in tasks], shared)
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
        [
            scored
            for row, scored in together
            if whose(average) == whose(row) and row.task in average.tasks
        ]
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


def _average_of(rows: Sequence[Row], shared: Collection[Sharing]) -> Average:
    means, sds = ([_or_nan(getattr(row, name)) for row in rows] for name in ("mean", "sd"))
    mean, sd, clues_sd = over_tasks(means, sds)
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
        mean=mean,
        sd=known(sd),
        clues_sd=known(clues_sd),
        tasks=tuple(row.task for row in rows),
        references=tuple(dict.fromkeys(row.references or "" for row in rows)),
        normalisations=tuple(dict.fromkeys(row.normalisation or "unknown" for row in rows)),
        low=low,
        high=high,
        df=df,
        exploratory=any(row.is_exploratory or row.n == 1 for row in rows if row.is_of_people),
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


FEWEST_TASKS = 2
Key = TypeVar("Key")
Thing = TypeVar("Thing")


def against_systems(
    people: Sequence[Cell],
    systems: Sequence[Cell],
    reported: Iterable[Row] = (),
    tasks: Collection[str] = (),
) -> tuple[list[Difference], list[Difference]]:
    """Of every cell of people beside every system, and published figure, with the same task and
    shots; and the averages of those systems that have all the tasks."""
    pairs = people_and_systems(people, systems)
    families = _grouped(pairs, lambda pair: _whose(pair.cell))
    cells = [judged for family in families for judged in _judged(family)]
    distances = (_distance(cell, row) for row in reported for cell in people)
    return [*cells, *filter(None, distances)], _averages(pairs, tasks)


def between_shots(people: Sequence[Cell]) -> list[Difference]:
    """Holm's p are of the tests that allow a claim, with five annotators or more on both sides."""
    families = _grouped(more_and_fewer_shots(people), lambda pair: _whose(pair.cell))
    return [
        difference_of(pair, p_holm=known(adjusted))
        for family in families
        for pair, adjusted in zip(
            family,
            holm([nan if pair.test.exploratory else pair.test.p for pair in family]).tolist(),
            strict=True,
        )
    ]


def between_systems(systems: Sequence[Cell], *, margin: float) -> list[Difference]:
    """Every two systems on the same items and splits. The margin is that of the study, if it is one
    that is compared."""
    pairs = systems_and_systems(systems)
    found_each = rule.verdicts([pair.test for pair in pairs], margin=margin / 100)
    return [
        difference_of(pair, **_said(found, margin))
        for pair, found in zip(pairs, found_each, strict=True)
    ]


def _judged(family: Sequence[Pairing]) -> Iterable[Difference]:
    """The tests of one study's people; the margin is the study's."""
    margin = _margin(family[0].cell)
    tests = [pair.test for pair in family]
    found_each = rule.verdicts(tests, margin=margin / 100)
    for place, (found, pair) in enumerate(zip(found_each, family, strict=True)):
        yield difference_of(
            pair,
            **_said(found, margin),
            detectable=_detectable(found, [pair], margin),
            above=pair.test.pair.above,
            fragile=found.outcome in (AHEAD, BEHIND, SAME)
            and rule.is_fragile(place, tests, pair.without_each(), margin=margin / 100),
            is_reported=False,
        )


def _averages(pairs: Iterable[Pairing], tasks: Collection[str]) -> list[Difference]:
    if len(tasks) < FEWEST_TASKS:
        return []
    complete = []
    for group in _grouped(pairs, lambda pair: tuple(pair.sides.values())):
        by_task = {pair.cell.task.slug: pair for pair in group}
        if set(by_task) == set(tasks):
            complete.append([by_task[task] for task in tasks])
    families = _grouped(complete, lambda over: _whose(over[0].cell))
    return [average for family in families for average in _judged_averages(family)]


def _judged_averages(family: Sequence[Sequence[Pairing]]) -> Iterable[Difference]:
    """Of one study's people; the margin is the study's."""
    margin = _margin(family[0][0].cell)
    shared = [share_people([pair.cell for pair in pairs]) for pairs in family]
    tests = [_average(pairs, is_tested=not one) for pairs, one in zip(family, shared, strict=True)]
    found_each = rule.verdicts(tests, margin=margin / 100)
    for pairs, has_shared, test, found in zip(family, shared, tests, found_each, strict=True):
        yield Difference(
            **pairs[0].sides,
            **in_percent(test),
            **_said(found, margin),
            detectable=_detectable(found, pairs, margin),
            task=None,
            tasks=tuple(pair.cell.task.slug for pair in pairs),
            notes=SHARED_PEOPLE if has_shared else "",
        )


def _average(pairs: Sequence[Pairing], *, is_tested: bool) -> AverageDifference:
    """Without a test where somebody is in two of the tasks."""
    average = average_difference([pair.test for pair in pairs])
    if is_tested:
        return average
    return replace(average, se=nan, df=nan, t=nan, p=nan, low=nan, high=nan)


def _distance(cell: Cell, row: Row) -> Difference | None:
    """Of a published figure for the same task and shots, unless it is under another policy."""
    where = (cell.task.slug, cell.shots, cell.references)
    is_comparable = (row.task, row.shots) == where[:2] and row.references in ("unknown", where[2])
    if not is_comparable or row.method is None or row.mean is None or cell.is_of_episodes:
        return None
    return Difference(
        **people_of(cell),
        task=row.task,
        system=row.system or PEOPLE,
        method=row.method,
        parameters=row.parameters,
        difference=100 * float(np.nanmean(cell.scores, axis=0).mean()) - row.mean,
        outcome=UNTESTED,
        margin=_margin(cell),
        family=0,
        n=len(cell.scores),
        fragile=False,
        is_reported=True,
        source=row.source,
        references=row.references,
    )


def _said(found: rule.Verdict, margin: float) -> dict[str, Any]:
    return {
        "outcome": found.outcome,
        "direction": found.direction,
        "p_direction": known(found.p),
        "p_holm": known(found.p_holm),
        "family": found.family,
        "margin": margin,
    }


def _detectable(found: rule.Verdict, pairs: Sequence[Pairing], margin: float) -> float | None:
    if found.outcome != UNDECIDED:
        return None
    design = AverageDesign([pair.design for pair in pairs])
    alone = 100 * detectable_difference(design) + margin
    return alone if alone <= 100 else None


def _whose(cell: Cell) -> tuple[str, bool]:
    return cell.study.slug if cell.study else "", cell.simulated


def _margin(cell: Cell) -> float:
    return cell.study.margin if cell.study else 0.0


def _grouped(things: Iterable[Thing], key: Callable[[Thing], Key]) -> list[list[Thing]]:
    groups: dict[Key, list[Thing]] = defaultdict(list)
    for thing in things:
        groups[key(thing)].append(thing)
    return list(groups.values())

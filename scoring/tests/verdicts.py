"""What a comparison may say of people and each system: ahead, behind, as good, or not decided.

By the rule of scoring/core/verdicts.py, with the margin that the study set before its start. All
from the people's side: `ahead` are the people. The tests of one study's people are a family, its
simulated annotators' by themselves, and so are their averages over tasks, more shots against fewer,
and systems against one another.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from math import nan
from typing import Any, TypeVar

import numpy as np

from scoring.cells.cells import Cell
from scoring.cells.rows import PEOPLE, Row, known
from scoring.core import verdicts as rule
from scoring.core.power import AverageDesign, detectable_difference
from scoring.core.verdicts import (
    AHEAD,
    BEHIND,
    SAME,
    UNDECIDED,
    UNTESTED,
    AverageDifference,
    average_difference,
    holm,
)
from scoring.tests.averages import SHARED_PEOPLE, share_people
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
            above=pair.test.above,
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

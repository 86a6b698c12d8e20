"""What a comparison may say of people and each system: ahead, behind, as good, or not decided.

By the rule of scoring/core/verdicts.py, with the margin that the study set before its start. All
from the people's side: `ahead` are the people.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any, TypeVar

import numpy as np

from scoring.comparison.cells import Cell
from scoring.comparison.differences import (
    Difference,
    Pairing,
    difference_of,
    people_and_systems,
    systems_and_systems,
)
from scoring.comparison.over_tasks import SHARED_PEOPLE, share_people
from scoring.comparison.rows import PEOPLE, Row, percent
from scoring.comparison.to_json import known
from scoring.core import verdicts as rule
from scoring.core.adjusting import benjamini_hochberg
from scoring.core.averages import AverageDifference, average_difference
from scoring.core.comparison import PairedDifference
from scoring.core.power import AverageDesign, detectable_difference
from scoring.core.verdicts import AHEAD, BEHIND, SAME, UNDECIDED, UNTESTED

# What a test takes over from its verdict.
SAID = ("outcome", "direction", "margin", "family", "detectable", "above", "falls")
MIRRORED = {AHEAD: BEHIND, BEHIND: AHEAD}
FEWEST_TASKS = 2
Key = TypeVar("Key")


@dataclass(frozen=True)
class Finding:
    """Of one system beside the people of a study with as many shots, simulated ones by themselves.

    outcome: ahead, behind, same, undecided, exploratory or untested. direction: what the data speak
    for before p is adjusted; "" where nothing was tested. difference: people less the system, in
    percent points, with its own 95 % interval. p is that of the direction; p_holm is adjusted over
    `family` tests. alone: the interval by itself would decide, the adjusted p does not.
    detectable: where not decided, the smallest true difference that a comparison like this one
    finds to exceed the margin, by itself, with a chance of 80 %. above: how many of the n
    annotators score higher than the system. falls: it is another verdict without some annotator.
    is_reported: a published figure has no items, so its distance is all there is.
    """

    study: str
    simulated: bool
    shots: int | str
    system: str
    method: str
    parameters: str
    outcome: str
    direction: str
    margin: float
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    family: int
    alone: bool
    detectable: float | None

    @property
    def of_system(self) -> str:
        """The outcome from the system's side."""
        return MIRRORED.get(self.outcome, self.outcome)


@dataclass(frozen=True)
class CellVerdict(Finding):
    task: str
    above: int | None = None
    n: int | None = None
    r: int | None = None
    m: int | None = None
    falls: bool = False
    is_reported: bool = False
    source: str = ""
    references: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class AverageVerdict(Finding):
    """Of the mean of the tasks' differences; those of one study's people are a family."""

    tasks: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdicts:
    cells: tuple[CellVerdict, ...] = ()
    averages: tuple[AverageVerdict, ...] = ()

    def about(self, row: Row) -> list[CellVerdict]:
        """Of a system's row beside the people of each study; none of any other row."""
        return [verdict for verdict in self.cells if _is_about(verdict, row)]


def first_of(found: Sequence[CellVerdict]) -> CellVerdict | None:
    """Where only one is shown: beside people rather than simulated ones, the most of them."""
    return max(found, key=lambda verdict: (not verdict.simulated, verdict.n or 0), default=None)


def verdicts(
    people: Sequence[Cell],
    systems: Sequence[Cell],
    reported: Iterable[Row] = (),
    tasks: Collection[str] = (),
) -> Verdicts:
    """Of every cell of people beside every system with the same task and shots, and of the averages
    of those systems that have all the tasks."""
    pairs = people_and_systems(people, systems)
    tested = [(pair, pair.tested()) for pair in pairs]
    cells: list[CellVerdict] = []
    for family in _grouped(tested, lambda test: _whose(test[0].cell)).values():
        cells += _of_family(family)
    cells += [
        distance
        for row in reported
        for cell in people
        if (distance := _distance(cell, row)) is not None
    ]
    return Verdicts(tuple(cells), tuple(_averages(tested, tasks)))


def judged(tests: Iterable[Difference], findings: Iterable[CellVerdict]) -> list[Difference]:
    """These tests of people against systems with what may be said of each."""
    by_test = {_test(finding): finding for finding in findings if not finding.is_reported}
    return [
        replace(
            test,
            p_holm=nan if finding.p_holm is None else finding.p_holm,
            p_direction=finding.p,
            **{name: getattr(finding, name) for name in SAID},
        )
        for test in tests
        for finding in [by_test[_test(test)]]
    ]


def between_systems(systems: Sequence[Cell], *, margin: float) -> list[Difference]:
    """Every two systems on the same items and splits: a family of their own. The margin is that of
    the study, if it is one that is compared."""
    pairs = systems_and_systems(systems)
    tests = [pair.tested() for pair in pairs]
    adjusted = benjamini_hochberg([test.p for test in tests]).tolist()
    return [
        replace(
            difference_of(pair, test),
            p_holm=found.p_holm,
            p_bh=p_bh,
            p_direction=known(found.likeliest.p),
            outcome=found.outcome,
            direction=found.likeliest.direction,
            margin=margin,
            family=found.family,
        )
        for pair, test, found, p_bh in zip(
            pairs, tests, rule.verdicts(tests, margin=margin / 100), adjusted, strict=True
        )
    ]


def _test(test: Difference | CellVerdict) -> tuple[object, ...]:
    system = test.system, test.method, test.parameters
    return test.study, test.simulated, test.task, test.shots, *system


def _of_family(tested: Sequence[tuple[Pairing, PairedDifference]]) -> Iterable[CellVerdict]:
    """The tests of one study's people; the margin is the study's."""
    margin = _margin(tested[0][0])
    tests = [test for _, test in tested]
    for place, (found, (pair, test)) in enumerate(
        zip(rule.verdicts(tests, margin=margin / 100), tested, strict=True)
    ):
        yield CellVerdict(
            **_described(pair),
            **_found(found, test, margin),
            detectable=_detectable(found, [pair], margin),
            task=pair.cell.task.slug,
            above=test.above,
            n=test.n,
            r=test.r,
            m=test.m,
            falls=found.outcome in (AHEAD, BEHIND, SAME)
            and rule.falls(place, tests, pair.without_each(), margin=margin / 100),
            references=pair.cell.references,
            notes=test.notes,
        )


def _averages(
    tested: Sequence[tuple[Pairing, PairedDifference]], tasks: Collection[str]
) -> Iterable[AverageVerdict]:
    if len(tasks) < FEWEST_TASKS:
        return
    groups = _grouped(tested, lambda test: tuple(_described(test[0]).values()))
    families: dict[tuple[str, bool], list[tuple[list[Pairing], AverageDifference]]]
    families = defaultdict(list)
    for group in groups.values():
        by_task = {pair.cell.task.slug: (pair, test) for pair, test in group}
        if set(by_task) == set(tasks):
            pairs = [by_task[task][0] for task in tasks]
            average = _average(pairs, [by_task[task][1] for task in tasks])
            families[_whose(pairs[0].cell)].append((pairs, average))
    for family in families.values():
        yield from _of_averages(family)


def _average(pairs: Sequence[Pairing], tests: Sequence[PairedDifference]) -> AverageDifference:
    """Without a test where somebody is in two of the tasks."""
    average = average_difference(tests)
    if not share_people([pair.cell for pair in pairs]):
        return average
    return replace(average, se=nan, df=nan, t=nan, p=nan, low=nan, high=nan)


def _of_averages(
    family: Sequence[tuple[Sequence[Pairing], AverageDifference]],
) -> Iterable[AverageVerdict]:
    """The averages of one study's people; the margin is the study's."""
    margin = _margin(family[0][0][0])
    found_each = rule.verdicts([test for _, test in family], margin=margin / 100)
    for (pairs, test), found in zip(family, found_each, strict=True):
        yield AverageVerdict(
            **_described(pairs[0]),
            **_found(found, test, margin),
            detectable=_detectable(found, pairs, margin),
            tasks=tuple(pair.cell.task.slug for pair in pairs),
            notes=(SHARED_PEOPLE,) if share_people([pair.cell for pair in pairs]) else (),
        )


def _is_about(verdict: CellVerdict, row: Row) -> bool:
    return (
        row.kind == ("reported" if verdict.is_reported else "run")
        and (verdict.task, str(verdict.shots)) == (row.task, str(row.shots))
        and (verdict.system, verdict.method) == (row.system, row.method)
        and (verdict.parameters, verdict.source) == (row.parameters, row.source)
    )


def _distance(cell: Cell, row: Row) -> CellVerdict | None:
    """Of a published figure for the same task and shots, unless it is under another policy."""
    where = (cell.task.slug, cell.shots, cell.references)
    is_comparable = (row.task, row.shots) == where[:2] and row.references in ("unknown", where[2])
    if not is_comparable or row.method is None or row.mean is None or cell.is_of_episodes:
        return None
    mean = 100 * float(np.nanmean(cell.scores, axis=0).mean())
    return CellVerdict(
        **_side(cell),
        system=row.system or PEOPLE,
        method=row.method,
        parameters=row.parameters,
        outcome=UNTESTED,
        direction="",
        margin=_margin_of(cell),
        difference=mean - row.mean,
        low=None,
        high=None,
        p=None,
        p_holm=None,
        family=0,
        alone=False,
        detectable=None,
        task=row.task,
        n=len(cell.scores),
        is_reported=True,
        source=row.source,
        references=row.references,
    )


def _side(cell: Cell) -> dict[str, Any]:
    study, simulated = _whose(cell)
    return {"study": study, "simulated": simulated, "shots": cell.shots}


def _described(pair: Pairing) -> dict[str, Any]:
    other = pair.other
    return {
        **_side(pair.cell),
        "system": other.system,
        "method": other.method,
        "parameters": other.parameters,
    }


def _found(
    found: rule.Verdict, test: PairedDifference | AverageDifference, margin: float
) -> dict[str, Any]:
    return {
        "outcome": found.outcome,
        "direction": found.likeliest.direction,
        "margin": margin,
        "difference": percent(test.difference),
        "low": percent(test.low),
        "high": percent(test.high),
        "p": known(found.likeliest.p),
        "p_holm": known(found.p_holm),
        "family": found.family,
        "alone": found.alone,
    }


def _detectable(found: rule.Verdict, pairs: Sequence[Pairing], margin: float) -> float | None:
    if found.outcome != UNDECIDED:
        return None
    design = AverageDesign([pair.design for pair in pairs])
    alone = 100 * detectable_difference(design) + margin
    return alone if alone <= 100 else None


def _whose(cell: Cell) -> tuple[str, bool]:
    return cell.study.slug if cell.study else "", cell.simulated


def _margin(pair: Pairing) -> float:
    return _margin_of(pair.cell)


def _margin_of(cell: Cell) -> float:
    return cell.study.margin if cell.study else 0.0


def _grouped(
    tested: Iterable[tuple[Pairing, PairedDifference]],
    key: Callable[[tuple[Pairing, PairedDifference]], Key],
) -> Mapping[Key, list[tuple[Pairing, PairedDifference]]]:
    groups: dict[Key, list[tuple[Pairing, PairedDifference]]] = defaultdict(list)
    for test in tested:
        groups[key(test)].append(test)
    return groups

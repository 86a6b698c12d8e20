"""What may be said of differences between people and a system: ahead, behind, as good, or not
decided; how likely a comparison is to show a difference of a given size; and figures over tasks,
each of which has people and items of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import special

from scoring.core.comparison import (
    EXTRA_DIFFERENCES,
    Pair,
    PairedDifference,
    Side,
    paired_spread,
    t_test,
)
from scoring.core.intervals import CellInterval
from scoring.core.variance import (
    NOTHING,
    Components,
    Floats,
    MeanSquares,
    satterthwaite,
    t_chance,
    t_quantile,
    variance_components,
    wilson_limits,
    with_constant_items,
)


def over_tasks(means: ArrayLike, sds: ArrayLike) -> tuple[float, float, float]:
    """From one mean and one SD for each of T tasks: the mean of the means, the SD of that mean,
    √(Σ sd²)/T, and √(Σ sd²), which the CLUES leaderboard prints in its place. NaN wherever one of
    them is NaN."""
    mean, sd = np.asarray(means, float), np.asarray(sds, float)
    if mean.ndim != 1 or mean.shape != sd.shape or not mean.size:
        raise ValueError(f"There are {mean.size} means and {sd.size} SDs; give one pair per task.")
    root_sum = float(np.sqrt((sd**2).sum()))
    return float(mean.mean()), root_sum / len(sd), root_sum


@dataclass(frozen=True)
class AverageInterval:
    """The mean of the task means, for new people and new items, on the scale of the scores.

    se, df, low and high are NaN where a task has no interval. exploratory: a task has fewer than
    five annotators.
    """

    mean: float
    se: float
    df: float
    effective: float
    low: float
    high: float
    tasks: int
    exploratory: bool


@dataclass(frozen=True)
class AverageDifference:
    """The mean of the tasks' differences; the other fields as in `AverageInterval`, t and p of the
    two-sided test. Takes a verdict as a `PairedDifference` does."""

    difference: float
    se: float
    df: float
    t: float
    p: float
    low: float
    high: float
    tasks: int
    exploratory: bool


def average_interval(cells: Sequence[CellInterval]) -> AverageInterval:
    """Wilson's interval around the mean of these cells' means, one cell a task, people of its own.

    SE = √(Σ se²)/T over the cells' SEs with one more item; Satterthwaite's degrees of freedom over
    them; the effective number of answers from the mean of their means with one more item. Raises
    ValueError without a cell, or for cells whose intervals are for these items.
    """
    if not cells or any(cell.estimand != "new_items" for cell in cells):
        raise ValueError("An average needs cells whose intervals are for new items.")
    mean = float(np.mean([cell.mean for cell in cells]))
    se, df = _spread([cell.se for cell in cells], [cell.df for cell in cells])
    longer = float(np.mean([cell.mean_with_one_more for cell in cells]))
    effective = longer * (1 - longer) / se**2
    low, high = map(float, wilson_limits(mean, effective, t_quantile(df, LEVEL)))
    exploratory = any(cell.exploratory for cell in cells)
    return AverageInterval(mean, se, df, effective, low, high, len(cells), exploratory)


def average_difference(tests: Sequence[PairedDifference]) -> AverageDifference:
    """Student's t around the mean of these differences, one a task, people of its own; SE and
    degrees of freedom as in `average_interval`, limits within [−1, 1]. Raises ValueError without a
    test."""
    if not tests:
        raise ValueError("An average needs a difference.")
    difference = float(np.mean([test.difference for test in tests]))
    se, df = _spread([test.se for test in tests], [test.df for test in tests])
    t, p, low, high = t_test(difference, se, df, LEVEL)
    exploratory = any(test.exploratory for test in tests)
    return AverageDifference(difference, se, df, t, p, low, high, len(tests), exploratory)


def _spread(ses: Sequence[float], dfs: Sequence[float]) -> tuple[float, float]:
    """SE and degrees of freedom of a mean of independent figures (Satterthwaite 1946)."""
    squares: Floats = np.square(np.asarray(ses, float))
    total = float(squares.sum())
    df = total**2 / float((squares**2 / np.asarray(dfs, float)).sum())
    return float(np.sqrt(total)) / len(ses), df


LEVEL = 0.95
MOST = 1 - LEVEL
"""The largest p that decides; 1 − .95 is a hair above .05."""
AHEAD, BEHIND, SAME = "ahead", "behind", "same"
UNDECIDED, EXPLORATORY, UNTESTED = "undecided", "exploratory", "untested"


class Tested(Protocol):
    """A difference with its SE and degrees of freedom: of one cell, or an average."""

    @property
    def difference(self) -> float: ...
    @property
    def se(self) -> float: ...
    @property
    def df(self) -> float: ...
    @property
    def exploratory(self) -> bool: ...


@dataclass(frozen=True)
class Verdict:
    """outcome: a direction, `undecided`, `exploratory` (fewer than five annotators) or `untested`
    (nothing could be computed). direction: what the data speak for, and p: its raw p. p_holm is
    adjusted over `family` tests; NaN for one that does not belong to them. alone: the interval
    alone would decide, the adjusted p does not."""

    outcome: str
    direction: str
    p: float
    p_holm: float
    family: int
    alone: bool = False


def likeliest(test: Tested, *, margin: float = 0.0) -> tuple[str, float]:
    """The most likely direction, and its p before any adjustment: ahead or behind by more than the
    margin (on the scale of the scores, from 0), or within it.

    p_ahead = 2P(T > (D−Δ)/se), p_behind = 2P(T > (−Δ−D)/se) and p_same = 2·max(P(T > (Δ−D)/se),
    P(T > (Δ+D)/se)); the smallest, at most 1. It is at most 1 − level exactly where the interval at
    that level lies wholly above Δ, below −Δ, or within ±Δ; of equal ones, which never are that
    small, the first is named. NaN without a test. Raises ValueError on a negative margin.
    """
    if not margin >= 0:
        raise ValueError(f"The margin is {margin}; it must be 0 or more.")
    if np.isnan(test.se):
        return "", np.nan
    d, se, df = test.difference, test.se, test.df

    def beyond(distance: float) -> float:
        return t_chance(distance / se, df)

    found = {
        AHEAD: beyond(d - margin),
        BEHIND: beyond(-margin - d),
        SAME: max(beyond(margin - d), beyond(margin + d)),
    }
    least = min(found.values()) + NOTHING
    direction = next(name for name, p in found.items() if p <= least)
    return direction, min(1.0, found[direction])


def verdicts(tests: Sequence[Tested], *, margin: float = 0.0) -> tuple[Verdict, ...]:
    """One for each test, in order. Those that allow a claim (five annotators or more) are one
    family, whose p values Holm adjusts; the direction holds where the adjusted one is at most
    1 − level. Pass the tests of one comparison together, and its averages over tasks together."""
    directions = [likeliest(test, margin=margin) for test in tests]
    p = [
        np.nan if test.exploratory else own
        for test, (_, own) in zip(tests, directions, strict=True)
    ]
    family = int(np.sum(~np.isnan(p)))
    return tuple(
        Verdict(
            _outcome(test, direction, own, adjusted),
            direction,
            own,
            adjusted,
            family,
            alone=own <= MOST < adjusted,
        )
        for test, (direction, own), adjusted in zip(
            tests, directions, holm(p).tolist(), strict=True
        )
    )


def is_fragile(
    place: int,
    tests: Sequence[Tested],
    without: Sequence[Tested],
    *,
    margin: float = 0.0,
) -> bool:
    """Whether the verdict on the test at this place is another one when some annotator is left out.

    without: that test without each annotator in turn (`paired_without_each`). The other tests of
    the family stay as they are. What was no direction is not fragile.
    """
    whole = verdicts(tests, margin=margin)[place]
    if whole.outcome not in (AHEAD, BEHIND, SAME):
        return False
    allowed = [k for k, test in enumerate(tests) if not test.exploratory]
    p = np.array([likeliest(tests[k], margin=margin)[1] for k in allowed])
    for test in without:
        direction, p[allowed.index(place)] = likeliest(test, margin=margin)
        adjusted = holm(p)[allowed.index(place)]
        if direction != whole.outcome or not adjusted <= MOST:
            return True
    return False


def _outcome(test: Tested, direction: str, p: float, adjusted: float) -> str:
    if np.isnan(p):
        return UNTESTED
    if test.exploratory:
        return EXPLORATORY
    return direction if adjusted <= MOST else UNDECIDED


def holm(p_values: ArrayLike) -> Floats:
    """Holm's adjusted p, in the order given. A NaN stays NaN and does not belong to the family."""
    p = np.asarray(p_values, float)
    if p.ndim != 1 or ((p < 0) | (p > 1)).any():
        raise ValueError("The p values must be one row of numbers between 0 and 1.")
    adjusted = np.full(len(p), np.nan)
    order = np.argsort(p, kind="stable")[: int((~np.isnan(p)).sum())]
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1)
    return adjusted


class Design(Protocol):
    """Of one cell, or of an average over several."""

    @property
    def standard_error(self) -> float: ...

    def spread(self, difference: float = 0.0) -> tuple[float, float]: ...


@dataclass(frozen=True)
class ComparisonDesign:
    """n annotators and r runs on the same m items.

    people and runs: the variance components of either side (the items' own is not used here).
    item_difference_var: how much the true difference varies over items, from a pilot or assumed;
    0 where people and system find the same items hard.
    """

    annotators: int
    runs: int
    items: int
    people: Components
    system: Components
    item_difference_var: float

    def spread(self, difference: float = 0.0) -> tuple[float, float]:
        """Expected SE and degrees of freedom of a difference of this size, by the comparison's own
        formula, with its two more items. Raises ValueError where there would be no test."""
        n, r, m = self.annotators, self.runs, self.items
        if min(n, m) < 2 or r < 1:
            raise ValueError("A comparison needs two annotators, two items and one run.")
        size = m + len(EXTRA_DIFFERENCES)
        mean = (m * difference + EXTRA_DIFFERENCES.sum()) / size
        apart = m * (difference - mean) ** 2 + ((EXTRA_DIFFERENCES - mean) ** 2).sum()
        items = float((m - 1) * self._item_var + apart) / (size - 1)
        return paired_spread(self._side(self.people, n), self._side(self.system, r), items, size)

    @property
    def standard_error(self) -> float:
        """How far the difference itself varies over people, runs and items; of a single run, only
        over the other two. The test's own SE, with the two more items, is a little larger."""
        runs = self.system.annotator / self.runs if self.runs > 1 else 0.0
        people = self.people.annotator / self.annotators
        return float(np.sqrt(people + runs + self._item_var / self.items))

    @property
    def _item_var(self) -> float:
        """Of one item's observed difference."""
        noise = self.people.residual / self.annotators + self.system.residual / self.runs
        return self.item_difference_var + noise

    def _side(self, parts: Components, size: int) -> Side:
        m = self.items
        squares = MeanSquares(
            annotator=np.float64(m * parts.annotator + parts.residual),
            item=np.float64(np.nan),
            residual=np.float64(parts.residual),
            n=size,
            m=m,
        )
        return Side.of_squares(with_constant_items(squares, len(EXTRA_DIFFERENCES)))


@dataclass(frozen=True)
class AverageDesign:
    """An average over tasks, each with people and items of its own, on which people and system
    differ alike."""

    tasks: Sequence[ComparisonDesign]

    @property
    def standard_error(self) -> float:
        own = [task.standard_error for task in self.tasks]
        return float(np.sqrt(np.square(own).sum())) / len(own)

    def spread(self, difference: float = 0.0) -> tuple[float, float]:
        spreads = [task.spread(difference) for task in self.tasks]
        squares = [se**2 for se, _ in spreads]
        df = satterthwaite(sum(squares), *((se**2, df) for se, df in spreads))
        return float(np.sqrt(sum(squares))) / len(squares), float(df)


def observed_design(pair: Pair) -> ComparisonDesign:
    """What a comparison as it was made says about another one like it. Of a single run the noise
    counts as differences between items."""
    people, system = _observed(pair.people), _observed(pair.system)
    n, r, d = len(pair.people), len(pair.system), pair.differences
    noise = people.residual / n + system.residual / r
    between = max(0.0, float(d.var(ddof=1)) - noise)
    return ComparisonDesign(n, r, len(d), people, system, between)


def _observed(scores: Floats) -> Components:
    """Where an item has few viewers, its noise counts as if all rows had that much more."""
    if len(scores) < 2:
        return Components(0.0, 0.0, 0.0)
    parts = variance_components(scores)
    viewers = (~np.isnan(scores)).sum(axis=0)
    return replace(parts, residual=parts.residual * len(scores) * float(np.mean(1 / viewers)))


def power_to_differ(difference: float, design: Design) -> float:
    """Chance that the two-sided test shows this difference.

    The difference is taken as normal, the test's variance as chi-square around what it is expected
    to be: a noncentral t, but for the test's larger SE. Raises ValueError on a design without a
    test.
    """
    se, df = design.spread(difference)
    own = max(design.standard_error, NOTHING)
    # Over the possible SEs of the test: scipy's noncentral t breaks down far from 0.
    nodes, weights = _quadrature()
    observed = se * np.sqrt(2 * special.gammaincinv(df / 2, nodes) / df)
    limits = t_quantile(df, LEVEL) * observed
    shown = special.ndtr((abs(difference) - limits) / own)
    shown += special.ndtr((-abs(difference) - limits) / own)
    return float(shown @ weights)


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Nodes and weights on (0, 1), Gauss and Legendre's; finding them takes a tenth of a second."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    return (nodes + 1) / 2, weights / 2


def detectable_difference(design: Design, *, power: float = 0.8) -> float:
    """The smallest difference of scores in [0, 1] that the test shows with this power; NaN where
    even a difference of 1 is shown less often. Raises ValueError as `power_to_differ` does, and
    for a power that the test always or never has."""
    if not MOST < power < 1:
        raise ValueError(f"The power is {power}; it must lie between {MOST:g} and 1.")
    if power_to_differ(1.0, design) < power:
        return float("nan")
    return float(scipy.optimize.brentq(lambda d: power_to_differ(d, design) - power, 0, 1))

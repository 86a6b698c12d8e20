"""How likely a comparison of people with a system is to show a difference of a given size."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

import numpy as np
import scipy  # its parts are loaded when they are first used, optimize slowly
from scipy import special

from scoring.core.comparison import EXTRA_DIFFERENCES, Pair, Side, paired_spread
from scoring.core.intervals import check_level
from scoring.core.variance import (
    NOTHING,
    Components,
    Floats,
    MeanSquares,
    satterthwaite,
    t_quantile,
    variance_components,
    with_constant_items,
)


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


def power_to_differ(difference: float, design: Design, *, level: float = 0.95) -> float:
    """Chance that the two-sided test at 1 − level shows this difference.

    The difference is taken as normal, the test's variance as chi-square around what it is expected
    to be: a noncentral t, but for the test's larger SE. Raises ValueError on a design without a
    test, or a level outside (0, 1).
    """
    check_level(level)
    se, df = design.spread(difference)
    own = max(design.standard_error, NOTHING)
    # Over the possible SEs of the test: scipy's noncentral t breaks down far from 0.
    nodes, weights = _quadrature()
    observed = se * np.sqrt(2 * special.gammaincinv(df / 2, nodes) / df)
    limits = t_quantile(df, level) * observed
    shown = special.ndtr((abs(difference) - limits) / own)
    shown += special.ndtr((-abs(difference) - limits) / own)
    return float(shown @ weights)


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Nodes and weights on (0, 1), Gauss and Legendre's; finding them takes a tenth of a second."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    return (nodes + 1) / 2, weights / 2


def detectable_difference(design: Design, *, power: float = 0.8, level: float = 0.95) -> float:
    """The smallest difference of scores in [0, 1] that the test shows with this power; NaN where
    even a difference of 1 is shown less often. Raises ValueError as `power_to_differ` does, and
    for a power that the test always or never has."""
    if not 1 - level < power < 1:
        raise ValueError(f"The power is {power}; it must lie between {1 - level:g} and 1.")
    if power_to_differ(1.0, design, level=level) < power:
        return float("nan")
    return float(
        scipy.optimize.brentq(lambda d: power_to_differ(d, design, level=level) - power, 0, 1)
    )

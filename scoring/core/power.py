"""How likely a comparison of people with a system is to show a difference of a given size."""

from dataclasses import dataclass

import numpy as np
from scipy import optimize, special, stats

from scoring.core.comparison import paired_spread
from scoring.core.intervals import check_level
from scoring.core.variance import Components, MeanSquares

_NODES, _WEIGHTS = (part / 2 for part in np.polynomial.legendre.leggauss(400))
_NODES = _NODES + 0.5


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

    def spread(self) -> tuple[float, float]:
        """Expected SE and degrees of freedom of the difference, by the comparison's own formula."""
        n, r, m = self.annotators, self.runs, self.items
        if min(n, m) < 2 or r < 1:
            raise ValueError("A comparison needs two annotators, two items and one run.")
        people, runs = (
            MeanSquares(
                annotator=np.float64(m * side.annotator + side.residual),
                item=np.float64(np.nan),
                residual=np.float64(side.residual),
                n=size,
                m=m,
            )
            for side, size in ((self.people, n), (self.system, r))
        )
        noise = self.people.residual / n + self.system.residual / r
        return paired_spread(people, runs, self.item_difference_var + noise)


def power_to_differ(difference: float, design: ComparisonDesign, *, level: float = 0.95) -> float:
    """Chance that the two-sided test at 1 − level shows this difference (noncentral t)."""
    check_level(level)
    se, df = design.spread()
    if se == 0:
        return float(difference != 0)
    limit, shift = stats.t.ppf((1 + level) / 2, df), abs(difference) / se
    # Over the possible SEs of the test: scipy's noncentral t breaks down far from 0.
    observed = np.sqrt(stats.chi2.ppf(_NODES, df) / df)
    shown = special.ndtr(shift - limit * observed) + special.ndtr(-shift - limit * observed)
    return float(shown @ _WEIGHTS)


def detectable_difference(
    design: ComparisonDesign, *, power: float = 0.8, level: float = 0.95
) -> float:
    """The smallest difference that the test shows with this power."""
    if not 1 - level < power < 1:
        raise ValueError(f"The power is {power}; it must lie between {1 - level:g} and 1.")
    se, _ = design.spread()
    if se == 0:
        return 0.0
    most = se
    while power_to_differ(most, design, level=level) < power:
        most *= 2
    return float(
        optimize.brentq(lambda d: power_to_differ(d, design, level=level) - power, 0, most)
    )

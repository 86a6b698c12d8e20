"""Several tests at once: p values adjusted by Holm 1979, and by Benjamini and Hochberg 1995."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from scoring.core.variance import Floats


def holm(p_values: ArrayLike) -> Floats:
    """Holm's adjusted p, in the order given. A NaN stays NaN and does not belong to the family."""
    return _adjust(p_values, lambda p: np.maximum.accumulate(p * np.arange(len(p), 0, -1)))


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Benjamini and Hochberg's adjusted p, in the order given; NaN as in `holm`."""

    def step_up(p: Floats) -> Floats:
        scaled = p * len(p) / np.arange(1, len(p) + 1)
        return np.asarray(np.minimum.accumulate(scaled[::-1])[::-1])

    return _adjust(p_values, step_up)


def _adjust(p_values: ArrayLike, rule: Callable[[Floats], Floats]) -> Floats:
    """Apply a rule on ascending p to the known ones, and put them back in place."""
    p = np.asarray(p_values, float)
    if p.ndim != 1 or ((p < 0) | (p > 1)).any():
        raise ValueError("The p values must be one row of numbers between 0 and 1.")
    adjusted = np.full(len(p), np.nan)
    order = np.argsort(p, kind="stable")[: int((~np.isnan(p)).sum())]
    adjusted[order] = np.minimum(rule(p[order]), 1)
    return adjusted

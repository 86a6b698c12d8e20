"""Wilson's interval of a proportion, for scores that are worth so many independent trials."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from scoring.core.variance import Floats


def wilson_limits(mean: ArrayLike, effective: ArrayLike, t: ArrayLike) -> tuple[Floats, Floats]:
    """Limits around a mean in [0, 1]; they hold it exactly, and lie within [0, 1].

    effective: the number of trials; t: the quantile, in standard errors. All of one shape, or
    broadcast. Wilson 1927.
    """
    p = np.asarray(mean, float)
    c = np.square(t) / np.asarray(effective, float)
    centre = (p + c / 2) / (1 + c)
    half = np.sqrt(c * p * (1 - p) + c**2 / 4) / (1 + c)
    return around(p, centre - half, centre + half)


def around(mean: ArrayLike, low: ArrayLike, high: ArrayLike) -> tuple[Floats, Floats]:
    """Limits within [0, 1] that hold the mean whatever was rounded."""
    below, above = np.minimum(low, mean), np.maximum(high, mean)
    return np.maximum(below, 0.0), np.minimum(above, 1.0)


def t_quantile(df: ArrayLike, level: float) -> Floats:
    """The two-sided quantile of Student's t; NaN where df is not above 0."""
    return np.asarray(special.stdtrit(np.asarray(df, float), (1 + level) / 2))


def t_chance(t: float, df: float) -> float:
    """The two-sided chance of a t beyond this one, P(|T| > t); twice the upper tail for t < 0."""
    return float(2 * special.stdtr(df, -t))

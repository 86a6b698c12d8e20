"""A test about these people and these runs only: what other signs of the differences would give."""

import numpy as np
from numpy.typing import ArrayLike

from scoring.core.bootstrap import generator
from scoring.core.variance import NOTHING, Floats

EXACT_CLUSTERS = 18
"""Up to here the sign-flip test goes through every way to flip; beyond, it samples some."""


def sign_flip_p(differences: ArrayLike, *, rng: np.random.Generator | None = None) -> float:
    """Two-sided p that the mean of these differences is 0, by flipping their signs.

    Exact for up to 18 non-zero differences; beyond that 20,000 draws from `rng` (a fixed seed
    without one), counted with the observed one. NaN for fewer than two differences.
    """
    d = np.asarray(differences, float)
    if len(d) < 2:
        return np.nan
    moving = d[np.abs(d) > NOTHING]
    observed = abs(moving.sum()) - NOTHING
    if len(moving) <= EXACT_CLUSTERS:
        return float(np.mean(np.abs(_all_flips(moving)) >= observed))
    sums = _some_flips(moving, 20_000, generator(rng))
    return float((1 + np.sum(np.abs(sums) >= observed)) / (1 + len(sums)))


def _all_flips(moving: Floats) -> Floats:
    """The sums of every way to flip, up to the sign of the whole."""
    sums = moving[:1].sum(keepdims=True)
    for value in moving[1:]:
        sums = np.concatenate([sums + value, sums - value])
    return np.asarray(sums)


def _some_flips(moving: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Drawn in blocks of a thousand, so that many clusters do not fill the memory."""
    signs = (rng.integers(0, 2, (1000, len(moving)), np.int8) for _ in range(draws // 1000))
    return np.asarray(np.concatenate([(2.0 * block - 1) @ moving for block in signs]))

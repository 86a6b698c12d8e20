"""How far the mean of a cell would move with new annotators and new items.

It is taken from the matrix with one more item that everybody got wrong, as a test set may always
have missed one hard item; where the mean is below one half, everybody got it right. So nothing
special is needed where no score varies.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scoring.core.variance import Floats, MeanSquares, crossed_spread, mean_squares, pooled_within

HALF = 0.5 - 1e-9
"""Rounding must not decide on which side of one half a mean lies."""


@dataclass(frozen=True)
class Spread:
    """Of one cell, or of many in arrays; all from the matrix with one more item.

    mean: p′, of that matrix. se and df: √V′ and Satterthwaite's degrees of freedom within their
    bounds, of which guard_df is the lower one.
    """

    mean: Floats
    se: Floats
    df: Floats
    guard_df: int

    @property
    def effective(self) -> Floats:
        """How many independent right-or-wrong answers would vary as much: p′(1−p′)/V′."""
        return np.asarray(self.mean * (1 - self.mean) / self.se**2)


def one_more_score(mean: ArrayLike) -> Floats:
    """What everybody scores on the one more item, by the cell's mean."""
    return np.where(np.asarray(mean) < HALF, 1.0, 0.0)


def mean_with_one_more(mean: ArrayLike, m: int) -> Floats:
    """p′, the mean over m items and the one more."""
    return np.asarray((np.asarray(mean) * m + one_more_score(mean)) / (m + 1))


def with_one_more(scores: Floats) -> Floats:
    """Complete scores (…, n, m) with the one more item as their last column."""
    extra = one_more_score(scores.mean(axis=(-2, -1)))
    column = np.broadcast_to(extra[..., None, None], (*scores.shape[:-1], 1))
    return np.concatenate([scores, column], axis=-1)


def complete_spread(scores: Floats, groups: ArrayLike | None = None) -> Spread:
    """Of complete scores (…, n, m). groups: a label for each row, of fewer groups than rows; the
    annotators' variance is then pooled within them."""
    y = with_one_more(scores)
    squares = mean_squares(y)
    if groups is not None:
        squares = pooled_within(squares, y, groups)
    return _spread(squares, y.mean(axis=(-2, -1), dtype=float))


def expected_spread(squares: MeanSquares, mean: float) -> Spread:
    """Of a cell with these mean squares and this mean, without its scores."""
    m = squares.m
    longer = with_constant_items(squares, 1)
    apart = m / (m + 1) * (mean - one_more_score(mean)) ** 2
    item = ((m - 1) * squares.item + squares.n * apart) / m
    return _spread(
        MeanSquares(longer.annotator, item, longer.residual, squares.n, m + 1, squares.groups),
        mean_with_one_more(mean, m),
    )


def with_constant_items(squares: MeanSquares, count: int) -> MeanSquares:
    """MSA and MSE of the matrix with this many more items, on each of which all annotators score
    alike; MSI is not known from these alone."""
    m = squares.m + count
    total = (squares.m - 1) * squares.residual + squares.annotator * count / m
    return MeanSquares(
        annotator=np.asarray(squares.annotator * squares.m / m),
        item=np.float64(np.nan),
        residual=np.asarray(total / (m - 1)),
        n=squares.n,
        m=m,
        groups=squares.groups,
    )


def _spread(squares: MeanSquares, mean: Floats) -> Spread:
    se, df = crossed_spread(squares)
    return Spread(mean, se, df, guard_df=min(squares.annotator_df, squares.m - 1))

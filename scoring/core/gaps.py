"""Mean squares where annotators did not all see the same items (NaN: not seen).

From the least-squares fit of annotators and items as additive effects: each mean square is about
what its effect explains beyond the other's (Searle, Casella & McCulloch 1992, ch. 5).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoring.core.one_more_item import Spread, one_more_score
from scoring.core.variance import Floats, satterthwaite, within


@dataclass(frozen=True)
class GapSquares:
    """Of n × m scores with M observed; every item weighs alike, and so does each of its viewers.

    c_annotator, c_item and c_residual: how much of each mean square belongs to the variance of the
    mean over new annotators and new items. Where nothing is missing these are 1/(nm), 1/(nm) and
    −1/(nm), and the mean squares are the usual ones.
    """

    annotator: float
    item: float
    residual: float
    c_annotator: float
    c_item: float
    c_residual: float
    n: int
    m: int
    residual_df: int


def item_means(scores: Floats) -> Floats:
    """Each item's mean over those who saw it."""
    return np.asarray(np.nanmean(scores, axis=0))


def gap_squares(scores: Floats) -> GapSquares:
    """Of n × m scores, two or more of each, that hang together: one item at least that everybody
    saw, or a chain of common items."""
    seen = ~np.isnan(scores)
    (n, m), observed = scores.shape, int(seen.sum())
    viewers = seen.sum(axis=0)
    annotators, rest = _annotators_given_items(scores, seen)
    by_row = scores - np.nanmean(scores, axis=1, keepdims=True)
    items = max(0.0, float(np.nansum(by_row**2)) - rest)
    left = observed - n - m + 1
    weight = np.where(seen, 1 / (m * viewers), 0.0)
    c_annotator = float((weight.sum(axis=1) ** 2).sum()) * (n - 1) / (observed - m)
    c_item = float((weight.sum(axis=0) ** 2).sum()) * (m - 1) / (observed - n)
    return GapSquares(
        annotator=annotators / (n - 1),
        item=items / (m - 1),
        residual=rest / left if left > 0 else 0.0,
        c_annotator=c_annotator,
        c_item=c_item,
        c_residual=float((weight**2).sum()) - c_annotator - c_item,
        n=n,
        m=m,
        residual_df=left,
    )


def gap_spread(scores: Floats) -> Spread:
    """Of the mean of the items' means, from the matrix with one more item, which everybody saw."""
    extra = one_more_score(item_means(scores).mean())
    y = np.column_stack([scores, np.full(len(scores), extra)])
    squares = gap_squares(y)
    a, i = squares.c_annotator * squares.annotator, squares.c_item * squares.item
    raw = a + i + squares.c_residual * squares.residual
    df = satterthwaite(
        raw,
        (a, squares.n - 1),
        (i, squares.m - 1),
        (squares.c_residual * squares.residual, squares.residual_df),
    )
    return Spread(
        mean=np.asarray(item_means(y).mean()),
        se=np.sqrt(np.asarray(max(raw, a, i))),
        df=within(df, squares.n - 1, squares.m - 1),
        guard_df=min(squares.n - 1, squares.m - 1),
    )


def mostly_single(scores: Floats) -> bool:
    """Whether most items have one viewer: how annotators differ then cannot be told from how
    items do."""
    viewers = (~np.isnan(scores)).sum(axis=0)
    return bool(2 * np.sum(viewers == 1) > len(viewers))


def _annotators_given_items(scores: Floats, seen: NDArray[np.bool_]) -> tuple[float, float]:
    """The sum of squares that annotators explain beyond items, and what neither explains."""
    viewers = seen.sum(axis=0)
    centred = np.where(seen, scores - item_means(scores), 0.0)
    own = centred.sum(axis=1)
    # The normal equations of the annotators' effects once the items' are eliminated.
    equations = np.diag(seen.sum(axis=1).astype(float)) - (seen / viewers) @ seen.T
    effects = np.linalg.lstsq(equations, own, rcond=None)[0]
    explained = max(0.0, float(own @ effects))
    return explained, max(0.0, float((centred**2).sum()) - explained)

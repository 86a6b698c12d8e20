"""Two-way random effects: annotators × items, balanced or with gaps.

Shapes: scores are n × m (annotators in rows, items or item clusters in columns), with any number of
axes before these two where a function says so. A missing score is NaN.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Groups = NDArray[np.intp]

NOTHING = 1e-12
"""What lies closer together than this differs by rounding only."""


@dataclass(frozen=True)
class MeanSquares:
    """Mean squares of n × m scores: one figure each, or an array over the axes before.

    groups: that many means of their own were taken out of the annotators' mean square; above 1 it
    is pooled within splits.
    """

    annotator: Floats | np.float64
    item: Floats | np.float64
    residual: Floats | np.float64
    n: int
    m: int
    groups: int = 1

    @property
    def annotator_df(self) -> int:
        return self.n - self.groups


@dataclass(frozen=True)
class Components:
    """Variance components on the scale of the scores; none is below 0."""

    annotator: float
    item: float
    residual: float


def score_matrix(scores: ArrayLike, *, name: str = "scores") -> Floats:
    """The scores as an n × m float matrix without the columns that nobody answered."""
    matrix = np.asarray(scores, float)
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(f"The {name} have shape {matrix.shape}; give annotators × items.")
    if np.isinf(matrix).any():
        raise ValueError(f"The {name} hold an infinite value.")
    matrix = matrix[:, ~np.isnan(matrix).all(axis=0)]
    if not matrix.size or np.isnan(matrix).all(axis=1).any():
        raise ValueError(f"A row of the {name} holds no score at all; leave it out.")
    return matrix


def mean_squares(scores: ArrayLike) -> MeanSquares:
    """MSA, MSI and MSE of complete scores (…, n, m); NaN where n or m is too small for one."""
    y = np.asarray(scores, float)
    n, m = y.shape[-2:]
    rows, columns = y.mean(axis=-1), y.mean(axis=-2)
    rest = y - rows[..., :, None] - columns[..., None, :] + y.mean(axis=(-2, -1))[..., None, None]
    return MeanSquares(
        annotator=_variance(rows) * m,
        item=_variance(columns) * n,
        residual=_per_df((rest**2).sum(axis=(-2, -1)), (n - 1) * (m - 1)),
        n=n,
        m=m,
    )


def pooled_within(squares: MeanSquares, scores: ArrayLike, groups: ArrayLike) -> MeanSquares:
    """These mean squares of complete scores (…, n, m), with MSA from the pooled variance of the
    annotators' means within groups: one label a row, and fewer groups than rows."""
    labels = group_numbers(groups, squares.n)
    means = np.asarray(scores, float).mean(axis=-1)
    number = int(labels.max()) + 1
    own = np.stack([means[..., labels == k].mean(axis=-1) for k in range(number)], axis=-1)
    spread = ((means - own[..., labels]) ** 2).sum(axis=-1)
    pooled = _per_df(spread * squares.m, squares.n - number)
    return replace(squares, annotator=pooled, groups=number)


def group_numbers(groups: ArrayLike, n: int) -> Groups:
    """Labels as numbers from 0. Raises ValueError unless there is one for each of n rows."""
    labels = np.unique(np.asarray(groups), return_inverse=True)[1]
    if labels.shape != (n,):
        raise ValueError(f"There are {n} annotators but splits of shape {labels.shape}.")
    return np.asarray(labels)


def nested_groups(groups: ArrayLike, n: int) -> Groups | None:
    """The groups as numbers where some of n rows share one of several; None where all share one,
    or each has its own: rows are then the units themselves."""
    labels = group_numbers(groups, n)
    return labels if n and 1 < labels.max() + 1 < n else None


def satterthwaite(total: ArrayLike, *terms: tuple[ArrayLike, float]) -> Floats:
    """Degrees of freedom of a sum of mean squares; each term comes with its own (Satterthwaite
    1946). Terms without degrees of freedom are left out; NaN when nothing varies."""
    spread = sum(np.square(term) / df for term, df in terms if df > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.square(total) / spread)


def crossed_spread(squares: MeanSquares) -> tuple[Floats, Floats]:
    """SE and degrees of freedom of the mean over new annotators and new items.

    The variance is the sum MSA + MSI − MSE over nm, never below either of the first two alone; the
    degrees of freedom are those of the raw sum (Satterthwaite 1946), kept within [n−1, m−1], the
    lower end less the groups beyond one.
    """
    a, i, e = squares.annotator, squares.item, squares.residual
    n, m = squares.n, squares.m
    raw = a + i - e
    variance = np.maximum(raw, np.maximum(a, i)) / (n * m)
    df = satterthwaite(raw, (a, squares.annotator_df), (i, m - 1), (e, (n - 1) * (m - 1)))
    return np.sqrt(variance), within(df, squares.annotator_df, m - 1)


def within(df: Floats, least: int, most: int) -> Floats:
    """Degrees of freedom kept within [least, most]; the upper bound wins where they cross."""
    return np.minimum(np.maximum(df, least), most)


def variance_components(scores: ArrayLike) -> Components:
    """Annotator, item and residual variance by Henderson's method 1, negative ones set to 0.

    Complete scores get the usual (MSA − MSE)/m, (MSI − MSE)/n and MSE. All three are NaN for one
    annotator or one item, where they cannot be told apart.
    """
    y = score_matrix(scores)
    n, m = y.shape
    if min(n, m) < 2:
        return Components(np.nan, np.nan, np.nan)
    found = _henderson(y) if np.isnan(y).any() else _from_mean_squares(mean_squares(y))
    return Components(*np.maximum(found, 0).tolist())


def _from_mean_squares(squares: MeanSquares) -> Floats:
    a, i, e = squares.annotator, squares.item, squares.residual
    return np.array([(a - e) / squares.m, (i - e) / squares.n, e])


def _henderson(y: Floats) -> Floats:
    """Method 1 (Searle, Casella & McCulloch 1992, ch. 5) for at most one score per cell."""
    seen = ~np.isnan(y)
    by_row, by_column, size = seen.sum(axis=1), seen.sum(axis=0), seen.sum()
    y = y - np.nanmean(y)  # keeps the sums of squares from cancelling
    rows = (np.nansum(y, axis=1) ** 2 / by_row).sum()
    columns = (np.nansum(y, axis=0) ** 2 / by_column).sum()
    grand = np.nansum(y) ** 2 / size
    n, m = y.shape
    k_row, k_column = (by_row**2).sum() / size, (by_column**2).sum() / size
    expected = [
        [size - k_row, n - k_column, n - 1],
        [m - k_row, size - k_column, m - 1],
        [k_row - m, k_column - n, size - n - m + 1],
    ]
    found = [rows - grand, columns - grand, np.nansum(y**2) - rows - columns + grand]
    # Least squares: in a design without overlap item and residual variance cannot be told apart.
    return np.asarray(np.linalg.lstsq(expected, found, rcond=None)[0])


def _variance(means: Floats) -> Floats:
    deviations = means - means.mean(axis=-1, keepdims=True)
    return _per_df((deviations**2).sum(axis=-1), means.shape[-1] - 1)


def _per_df(sum_of_squares: Floats, df: int) -> Floats:
    return np.asarray(sum_of_squares / df if df > 0 else np.full_like(sum_of_squares, np.nan))

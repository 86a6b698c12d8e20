"""Two-way random effects: annotators × items, balanced or with gaps, and how far the mean of a cell
would move with new annotators and new items.

Shapes: scores are n × m (annotators in rows, items or item clusters in columns), with any number of
axes before these two where a function says so. A missing score is NaN.

The spread of a mean is taken from the matrix with one more item that everybody got wrong, as a test
set may always have missed one hard item; where the mean is below one half, everybody got it right.
So nothing special is needed where no score varies. Where annotators did not all see the same items,
mean squares come from the least-squares fit of annotators and items as additive effects: each is
about what its effect explains beyond the other's (Searle, Casella & McCulloch 1992, ch. 5).
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Groups = NDArray[np.intp]

NOTHING = 1e-12
"""What lies closer together than this differs by rounding only."""


@dataclass(frozen=True)
class MeanSquares:
    """Mean squares of n × m scores: one figure each, or an array over the axes before."""

    annotator: Floats | np.float64
    item: Floats | np.float64
    residual: Floats | np.float64
    n: int
    m: int


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
    residual = _per_df((rest**2).sum(axis=(-2, -1)), (n - 1) * (m - 1))
    return MeanSquares(_variance(rows) * m, _variance(columns) * n, residual, n, m)


def group_numbers(groups: ArrayLike, n: int) -> Groups:
    """Labels as numbers from 0. Raises ValueError unless there is one for each of n rows."""
    labels = np.unique(np.asarray(groups), return_inverse=True)[1]
    if labels.shape != (n,):
        raise ValueError(f"There are {n} annotators but splits of shape {labels.shape}.")
    return np.asarray(labels)


def satterthwaite(total: ArrayLike, *terms: tuple[ArrayLike, float]) -> Floats:
    """Degrees of freedom of a sum of mean squares; each term comes with its own (Satterthwaite
    1946). Terms without degrees of freedom are left out; NaN when nothing varies."""
    spread = sum(np.square(term) / df for term, df in terms if df > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.square(total) / spread)


def crossed_spread(squares: MeanSquares) -> tuple[Floats, Floats]:
    """SE and degrees of freedom of the mean over new annotators and new items. The variance is
    MSA + MSI − MSE over nm, never below either of the first two alone; the degrees of freedom are
    those of the raw sum (Satterthwaite 1946), kept within [n−1, m−1]."""
    a, i, e = squares.annotator, squares.item, squares.residual
    n, m = squares.n, squares.m
    raw = a + i - e
    variance = np.maximum(raw, np.maximum(a, i)) / (n * m)
    df = satterthwaite(raw, (a, squares.n - 1), (i, m - 1), (e, (n - 1) * (m - 1)))
    return np.sqrt(variance), within(df, squares.n - 1, m - 1)


def within(df: Floats, least: int, most: int) -> Floats:
    """Degrees of freedom kept within [least, most]; the upper bound wins where they cross."""
    return np.minimum(np.maximum(df, least), most)


def variance_components(scores: ArrayLike) -> Components:
    """Annotator, item and residual variance by Henderson's method 1, negative ones set to 0; of
    complete scores the usual (MSA − MSE)/m, (MSI − MSE)/n and MSE. NaN for one annotator or one
    item, where they cannot be told apart."""
    y = score_matrix(scores)
    n, m = y.shape
    if min(n, m) < 2:
        return Components(np.nan, np.nan, np.nan)
    if np.isnan(y).any():
        return Components(*np.maximum(_henderson(y), 0).tolist())
    squares = mean_squares(y)
    a, i, e = squares.annotator, squares.item, squares.residual
    return Components(*np.maximum([(a - e) / m, (i - e) / n, e], 0).tolist())


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
    observed = [rows - grand, columns - grand, np.nansum(y**2) - rows - columns + grand]
    # Least squares: in a design without overlap item and residual variance cannot be told apart.
    return np.asarray(np.linalg.lstsq(expected, observed, rcond=None)[0])


def _variance(means: Floats) -> Floats:
    deviations = means - means.mean(axis=-1, keepdims=True)
    return _per_df((deviations**2).sum(axis=-1), means.shape[-1] - 1)


def _per_df(sum_of_squares: Floats, df: int) -> Floats:
    return np.asarray(sum_of_squares / df if df > 0 else np.full_like(sum_of_squares, np.nan))


def wilson_limits(mean: ArrayLike, effective: ArrayLike, t: ArrayLike) -> tuple[Floats, Floats]:
    """Limits around a mean in [0, 1]; they hold it exactly, and lie within [0, 1] (Wilson 1927).
    effective: the number of trials; t: the quantile, in standard errors. All broadcast."""
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
    return np.asarray(scipy.special.stdtrit(np.asarray(df, float), (1 + level) / 2))


def t_chance(t: float, df: float) -> float:
    """The two-sided chance of a t beyond this one, P(|T| > t); twice the upper tail for t < 0."""
    return float(2 * scipy.special.stdtr(df, -t))


HALF = 0.5 - 1e-9
"""Rounding must not decide on which side of one half a mean lies."""


@dataclass(frozen=True)
class Spread:
    """The spread of one cell, or of many in arrays, from the matrix with one more item. mean: p′.
    se and df: √V′ and Satterthwaite's degrees of freedom within their bounds."""

    mean: Floats
    se: Floats
    df: Floats

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


def complete_spread(scores: Floats) -> Spread:
    """The spread of complete scores (…, n, m)."""
    y = with_one_more(scores)
    return _spread(mean_squares(y), y.mean(axis=(-2, -1), dtype=float))


def expected_spread(squares: MeanSquares, mean: float) -> Spread:
    """The spread of a cell with these mean squares and this mean, without its scores."""
    m = squares.m
    longer = with_constant_items(squares, 1)
    apart = m / (m + 1) * (mean - one_more_score(mean)) ** 2
    item = ((m - 1) * squares.item + squares.n * apart) / m
    return _spread(replace(longer, item=item), mean_with_one_more(mean, m))


def with_constant_items(squares: MeanSquares, count: int) -> MeanSquares:
    """MSA and MSE of the matrix with this many more items, on each of which all annotators score
    alike; MSI is not known from these alone."""
    m = squares.m + count
    total = (squares.m - 1) * squares.residual + squares.annotator * count / m
    annotator, residual = np.asarray(squares.annotator * squares.m / m), np.asarray(total / (m - 1))
    return MeanSquares(annotator, np.float64(np.nan), residual, squares.n, m)


def _spread(squares: MeanSquares, mean: Floats) -> Spread:
    return Spread(mean, *crossed_spread(squares))


@dataclass(frozen=True)
class GapSquares:
    """The mean squares of n × m scores with gaps; every item weighs alike, and so does each of its
    viewers. c_annotator, c_item and c_residual: how much of each mean square belongs to the
    variance of the mean over new annotators and new items; 1/(nm), 1/(nm) and −1/(nm) where nothing
    is missing. mean: of the items' means. groups: of people and items that no score links."""

    annotator: float
    item: float
    residual: float
    c_annotator: float
    c_item: float
    c_residual: float
    n: int
    m: int
    mean: float
    answers: int
    groups: int

    @property
    def residual_df(self) -> int:
        return self.answers - self.n - self.m + self.groups


def item_means(scores: Floats) -> Floats:
    """Each item's mean over those who saw it."""
    return np.asarray(np.nanmean(scores, axis=0))


def gap_squares(scores: Floats) -> GapSquares:
    """Compute them for n × m scores that `why_no_fit` has nothing against: time and memory go with
    the answers, and with the pairs of people who share an item."""
    person, item, score = _answers_in(scores)
    answers, of_item = np.bincount(person), np.bincount(item)
    n, m, observed = len(answers), len(of_item), len(score)
    groups, group_of = _linked(person, item, n, m)
    means = np.bincount(item, score) / of_item
    centred = score - means[item]
    sums: Floats = np.asarray(np.bincount(person, centred), float)
    annotators = max(0.0, float(sums @ _effects(person, item, sums, group_of)))
    rest = max(0.0, float(centred @ centred) - annotators)
    by_row = score - (np.bincount(person, score) / answers)[person]
    items = max(0.0, float(by_row @ by_row) - rest)
    weight = 1 / (m * of_item[item])
    c_annotator = float((np.bincount(person, weight) ** 2).sum()) * (n - groups) / (observed - m)
    c_item = (m - groups) / m / (observed - n)
    c_residual = float(weight @ weight) - c_annotator - c_item
    squares = annotators / (n - groups), items / (m - groups), rest / (observed - n - m + groups)
    mean = float(means.mean())
    return GapSquares(*squares, c_annotator, c_item, c_residual, n, m, mean, observed, groups)


def gap_spread(scores: Floats) -> Spread:
    """The spread of the mean of the items' means, with one more item that as many saw as the
    others: one that everybody saw would let the interval grow with the people."""
    squares = gap_squares(scores)
    n, m, longer, mean = squares.n, squares.m, squares.m + 1, squares.mean
    people = squares.c_annotator * squares.annotator
    a = people * (m / longer) ** 2
    apart = float(mean - one_more_score(mean)) / longer
    i = (m - 1) / longer * squares.c_item * squares.item + apart**2
    e = (m - 1) / longer * squares.c_residual * squares.residual - people / longer**2
    raw, left = a + i + e, squares.residual_df + squares.answers / m - 1
    df = satterthwaite(raw, (a, n - squares.groups), (i, m), (e, left))
    se = np.sqrt(np.asarray(max(raw, a, i)))
    return Spread(mean_with_one_more(mean, m), se, within(df, n - 1, m))


def _answers_in(scores: Floats) -> tuple[Groups, Groups, Floats]:
    """The person, the item and the score of each answer of n × m scores."""
    person, item = np.nonzero(~np.isnan(scores))
    return person, item, scores[person, item]


def why_no_fit(scores: Floats) -> str | None:
    """Why annotators cannot be told from items where they did not all see the same."""
    person, item, _ = _answers_in(scores)
    (n, m), answers = scores.shape, len(person)
    if 2 * np.sum(np.bincount(item) == 1) > m:
        return "Most items were seen by one annotator only"
    if answers - n - m + _linked(person, item, n, m)[0] < 1:
        return "Too few items were seen by several annotators"
    return None


def _linked(person: Groups, item: Groups, n: int, m: int) -> tuple[int, Groups]:
    """How many groups of people and items no answer links, and the group of each person."""
    size = n + m
    links = scipy.sparse.csr_array((np.ones(len(person)), (person, n + item)), shape=(size, size))
    count, group_of = scipy.sparse.csgraph.connected_components(links, directed=False)
    return int(count), np.asarray(group_of[:n], np.intp)


def _effects(person: Groups, item: Groups, sums: Floats, group_of: Groups) -> Floats:
    """The annotators' effects by the normal equations, once the items' are eliminated.

    An item that everybody saw takes the same off all of them, so such items are left out of the
    equations and only hold people together; without any, one person of each group that shares items
    is held at 0. What the effects explain is the same, as each group's own deviations sum to 0."""
    n, viewers = len(sums), np.bincount(item)
    by_all = viewers == n
    part = ~by_all[item]
    rows, columns = person[part], item[part]
    seen = scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, len(viewers)))
    common = (seen * (1 / viewers)) @ seen.T
    equations = (scipy.sparse.diags_array(np.bincount(person).astype(float)) - common).tocsc()
    free = np.ones(n, bool)
    if not by_all.any():
        free[np.unique(group_of, return_index=True)[1]] = False
    effects = np.zeros(n)
    if free.any():
        effects[free] = scipy.sparse.linalg.splu(equations[free][:, free]).solve(sums[free])
    return effects

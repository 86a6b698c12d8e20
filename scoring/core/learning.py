"""The learning curve: S1 on the training items by their position in the shot set; and the drift
over a test: how far people's last third lies from their first.

Everybody sees a shot set in an order of their own, so the mean at a position mixes learning with
which items happened to stand there. The adjusted curve takes that out by the additive model
score = annotator + item + position, fitted by least squares over the group; its points are the
group's mean plus the position effects, which sum to zero over the answers.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.core.variance import Floats, t_quantile

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class CurvePoint:
    """One position, or block of positions first to last, of a curve: the mean of the answers, and
    the adjusted one with its se against the group's mean. These are NaN where orders differ too
    little to separate positions from items; so is se without a residual."""

    first: int
    last: int
    n: int
    mean: float
    adjusted: float
    se: float


@dataclass(frozen=True)
class LearningCurve:
    """A group's curve, and each annotator's mean in the same blocks (NaN: no answer there)."""

    points: tuple[CurvePoint, ...]
    by_annotator: dict[object, tuple[float, ...]]
    residual_var: float


def learning_curve(
    annotators: ArrayLike,
    items: ArrayLike,
    positions: ArrayLike,
    scores: ArrayLike,
    *,
    block: int = 1,
) -> LearningCurve:
    """The curve of one group from four parallel rows: who, which item, its position from 1, the
    score. block: how many positions make one point. Raises ValueError on rows of different lengths
    or none, positions below 1, a missing score, or the same item twice for one annotator."""
    who, names = _numbered(annotators)
    item, _ = _numbered(items)
    place, y = np.asarray(positions, np.int64), np.asarray(scores, float)
    _check(who, item, place, y, block)
    starts, point = np.unique((place - 1) // block, return_inverse=True)
    counts = np.bincount(point)
    effects, errors, residual_var = _position_effects(who, item, point, y)
    means = np.bincount(point, y) / counts
    points = tuple(
        CurvePoint(
            first=int(starts[k]) * block + 1,
            last=min((int(starts[k]) + 1) * block, int(place.max())),
            n=int(counts[k]),
            mean=float(means[k]),
            adjusted=float(y.mean() + effects[k]),
            se=float(errors[k]),
        )
        for k in range(len(starts))
    )
    rows = _annotator_means(who, point, y)
    by_annotator = {name: tuple(row) for name, row in zip(names, rows.tolist(), strict=True)}
    return LearningCurve(points, by_annotator, residual_var)


def _position_effects(
    who: Integers, item: Integers, point: Integers, y: Floats
) -> tuple[Floats, Floats, float]:
    """Effects of the positions, their standard errors and the residual variance, from the normal
    equations: a study of any length costs as much as its numbers of each level."""
    columns = [who, item + who.max() + 1]
    columns.append(point + columns[1].max() + 1)
    levels = int(columns[2].max()) + 1
    products, right = _normal_equations(columns, y, levels)
    inverse = np.linalg.pinv(products, hermitian=True)
    rank = np.linalg.matrix_rank(products, hermitian=True)
    size = int(point.max()) + 1
    centre = np.eye(size) - np.bincount(point) / len(y)
    contrast = np.zeros((size, levels))
    contrast[:, -size:] = centre
    # A contrast is estimable if it lies in the row space of the design.
    estimable = np.allclose(contrast @ inverse @ products, contrast, atol=1e-6)
    if not estimable or size < 2:
        return np.full(size, np.nan), np.full(size, np.nan), np.nan
    solution = inverse @ right
    left = len(y) - int(rank)
    residual = y - sum(solution[column] for column in columns)
    variance = float((residual**2).sum()) / left if left > 0 else np.nan
    spread = np.einsum("ij,jk,ik->i", contrast, inverse, contrast)
    return contrast @ solution, np.sqrt(np.maximum(spread, 0) * variance), variance


def _normal_equations(columns: list[Integers], y: Floats, levels: int) -> tuple[Floats, Floats]:
    products, right = np.zeros((levels, levels)), np.zeros(levels)
    for column in columns:
        right += np.bincount(column, y, levels)
        for other in columns:
            np.add.at(products, (column, other), 1)
    return products, right


def _annotator_means(who: Integers, point: Integers, y: Floats) -> Floats:
    shape = (int(who.max()) + 1, int(point.max()) + 1)
    cell = np.ravel_multi_index((who, point), shape)
    counts = np.bincount(cell, minlength=shape[0] * shape[1])
    totals = np.bincount(cell, y, shape[0] * shape[1])
    means = np.divide(totals, counts, out=np.full(len(totals), np.nan), where=counts > 0)
    return np.asarray(means.reshape(shape))


FEWEST_FOR_DRIFT = 60
"""Answers of one person in a test, from which on its thirds say something."""


@dataclass(frozen=True)
class Drift:
    """The mean change over n people, on the scale of the scores, with its 95 % interval."""

    change: float
    low: float
    high: float
    n: int


def third_change(scores: ArrayLike) -> float:
    """One person's mean on the last third of a test less that on the first, from the scores in the
    order of their answers. Raises ValueError on fewer than three, or a missing one."""
    y = np.asarray(scores, float)
    if y.ndim != 1 or len(y) < 3 or not np.isfinite(y).all():
        raise ValueError("A change between thirds needs a row of three scores or more.")
    third = len(y) // 3
    return float(y[-third:].mean() - y[:third].mean())


def drift(changes: ArrayLike, *, level: float = 0.95) -> Drift:
    """Test the change of each person, paired: Student's t over them, n − 1 degrees of freedom.
    Raises ValueError for fewer than two."""
    y = np.asarray(changes, float)
    if y.ndim != 1 or len(y) < 2:
        raise ValueError("A drift needs the changes of two people or more.")
    mean, n = float(y.mean()), len(y)
    half = float(t_quantile(n - 1, level) * y.std(ddof=1) / np.sqrt(n))
    return Drift(mean, mean - half, mean + half, n)


def _numbered(labels: ArrayLike) -> tuple[Integers, list[object]]:
    """Labels as numbers in order of first appearance, and the labels themselves."""
    values = np.asarray(labels).tolist()
    names = list(dict.fromkeys(values))
    number = {name: k for k, name in enumerate(names)}
    return np.array([number[value] for value in values], np.int64), names


def _check(who: Integers, item: Integers, place: Integers, y: Floats, block: int) -> None:
    if not len(y) or not who.shape == item.shape == place.shape == y.shape:
        raise ValueError("Annotators, items, positions and scores must be rows of one length.")
    if place.min() < 1 or block < 1:
        raise ValueError("Positions count from 1, and a block holds at least one of them.")
    if not np.isfinite(y).all():
        raise ValueError("A score is missing or infinite; leave its answer out.")
    if len(np.unique(np.stack([who, item]), axis=1).T) < len(y):
        raise ValueError("An annotator answered the same item twice; keep the first answer.")

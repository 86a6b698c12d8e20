"""One weak person: a handful of people says little about one who is unlike the others.

No interval from so few covers this. So it is shown how much hangs on each of them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from scoring.core.comparison import PairedDifference, paired_difference
from scoring.core.gaps import item_means
from scoring.core.variance import NOTHING, Floats, score_matrix
from scoring.core.wilson import t_chance

APART = 0.2
"""So far from the others, on the scale of the scores, somebody is flagged if noise of items does
not explain it."""
SURELY = 0.01
"""The p at which it does not, shared among the annotators."""


@dataclass(frozen=True)
class LeftOut:
    """One annotator beside the others, on the items that both they and others saw.

    mean: the cell's without them. apart: their mean less that of the others; p: of the paired t
    over item clusters. Both NaN without two such clusters.
    """

    mean: float
    apart: float
    p: float
    flagged: bool


@dataclass(frozen=True)
class LeaveOneOut:
    """low and high: the range of the cell's mean when any one annotator is left out; NaN for a
    single one. annotators: in the order of the rows."""

    low: float
    high: float
    annotators: tuple[LeftOut, ...]

    @property
    def flagged(self) -> bool:
        """Somebody is unlike the others. Of two it cannot be said which, so both are flagged."""
        return any(annotator.flagged for annotator in self.annotators)


def leave_one_out(scores: ArrayLike) -> LeaveOneOut:
    """Of n × m scores (clusters as columns, NaN: not seen), without each annotator in turn.

    An annotator is flagged who lies 20 points or more from the mean of the others, with
    p ≤ .01/n in a paired t over item clusters (m − 1 degrees of freedom): a description, not a
    test. Raises ValueError as `cell_interval` does on bad scores.
    """
    y = score_matrix(scores)
    if len(y) < 2:
        return LeaveOneOut(np.nan, np.nan, ())
    found = tuple(_left_out(y, k) for k in range(len(y)))
    means = [annotator.mean for annotator in found]
    return LeaveOneOut(min(means), max(means), found)


def paired_without_each(
    people: ArrayLike, system: ArrayLike, *, splits: ArrayLike | None = None, **options: Any
) -> tuple[PairedDifference, ...]:
    """`paired_difference` without each annotator in turn; the options are its own."""
    h = np.asarray(people, float)
    if len(h) < 2:
        return ()
    labels = None if splits is None else np.asarray(splits)
    return tuple(
        paired_difference(
            np.delete(h, k, axis=0),
            system,
            splits=None if labels is None else np.delete(labels, k),
            **options,
        )
        for k in range(len(h))
    )


def _left_out(y: Floats, k: int) -> LeftOut:
    others = np.delete(y, k, axis=0)
    others = others[:, ~np.isnan(others).all(axis=0)]
    d = _differences(y, k)
    apart, p = (float(d.mean()), _paired_p(d)) if len(d) > 1 else (np.nan, np.nan)
    flagged = abs(apart) >= APART - NOTHING and p <= SURELY / len(y)
    return LeftOut(float(item_means(others).mean()), apart, p, flagged)


def _differences(y: Floats, k: int) -> Floats:
    """By cluster, one annotator less the mean of the others who saw it."""
    others = np.delete(y, k, axis=0)
    both = ~np.isnan(y[k]) & ~np.isnan(others).all(axis=0)
    return np.asarray(y[k, both] - item_means(others[:, both]))


def _paired_p(d: Floats) -> float:
    se = float(d.std(ddof=1)) / np.sqrt(len(d))
    if se <= NOTHING:
        return 0.0 if abs(d.mean()) > NOTHING else 1.0
    return t_chance(abs(float(d.mean())) / se, len(d) - 1)

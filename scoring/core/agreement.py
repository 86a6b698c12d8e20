"""How far annotators agree with one another, when every answer is a set of strings.

Throughout, `units` holds the answers of each item's annotators: a collection of strings each, None
for an annotator who did not answer. Items with fewer than two answers say nothing and are left out.
Formulas: Krippendorff 2011 for alpha, Passonneau 2006 for the MASI distance.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy
from numpy.typing import ArrayLike

from scoring.core.bootstrap import RESAMPLES, generator, percentile_limits, resample_counts
from scoring.core.s1 import Spans, span_set
from scoring.core.variance import Floats

LEVEL = 0.95
Units = Sequence[Sequence[Spans | None]]
Distance = Callable[[Floats, Floats, Floats], Floats]


def jaccard_distance(shared: Floats, a: Floats, b: Floats) -> Floats:
    union = a + b - shared
    return np.where(union > 0, 1 - shared / np.maximum(union, 1), 0.0)


def masi_distance(shared: Floats, a: Floats, b: Floats) -> Floats:
    """1 − Jaccard · monotonicity: 1 for equal sets, 2/3 if one holds the other, else 1/3."""
    union = a + b - shared
    holds = np.where(shared == np.minimum(a, b), 2 / 3, 1 / 3)
    return 1 - np.where(shared == union, 1.0, holds) * (1 - jaccard_distance(shared, a, b))


def s1_distance(shared: Floats, a: Floats, b: Floats) -> Floats:
    total = a + b
    return np.where(total > 0, 1 - 2 * shared / np.maximum(total, 1), 0.0)


def nominal_distance(shared: Floats, a: Floats, b: Floats) -> Floats:
    """Whether the sets differ at all."""
    return np.where(a + b - shared > shared, 1.0, 0.0)


DISTANCES: dict[str, Distance] = {
    "masi": masi_distance,
    "jaccard": jaccard_distance,
    "s1": s1_distance,
    "nominal": nominal_distance,
}


@dataclass(frozen=True)
class Agreement:
    """A statistic with its bootstrap interval over contexts; the number of items behind it, and of
    resamples in which it was undefined."""

    value: float
    low: float
    high: float
    units: int
    undefined: int


def alpha_interval(
    units: Units,
    contexts: ArrayLike | None = None,
    *,
    distance: str | Distance = "masi",
    resamples: int = RESAMPLES,
    rng: np.random.Generator | None = None,
) -> Agreement:
    """Krippendorff's alpha with a percentile bootstrap over contexts (one label per item; without
    them each item is its own). The distance is a name in DISTANCES (`s1` is 1 − S1), or a function
    of the shared, first and second sizes. NaN where all answers are alike."""
    of = partial(_alpha, distance=distance)
    return _interval(of, _Answers(units, contexts), resamples, generator(rng))


def pairwise_s1_interval(
    units: Units,
    contexts: ArrayLike | None = None,
    *,
    resamples: int = RESAMPLES,
    rng: np.random.Generator | None = None,
) -> Agreement:
    """The mean over items of the mean S1 of pairs, as `alpha_interval`; NaN without a pair."""
    return _interval(_pairwise_s1, _Answers(units, contexts), resamples, generator(rng))


class _Answers:
    """Units as counts: `counts[u, v]` annotators of unit u gave the distinct set number v."""

    def __init__(self, units: Units, contexts: ArrayLike | None = None) -> None:
        answered = [[frozenset(span_set(a)) for a in unit if a is not None] for unit in units]
        labels = np.arange(len(units)) if contexts is None else np.asarray(contexts)
        if labels.shape != (len(units),):
            raise ValueError(f"There are {len(units)} items but contexts of shape {labels.shape}.")
        kept = [u for u, answers in enumerate(answered) if len(answers) > 1]
        pairs = [(row, answer) for row, u in enumerate(kept) for answer in answered[u]]
        number = {answer: k for k, answer in enumerate(dict.fromkeys(a for _, a in pairs))}
        rows = np.array([row for row, _ in pairs], int)
        values = np.array([number[answer] for _, answer in pairs], int)
        self.sets = list(number)
        self.counts = scipy.sparse.csr_array(
            (np.ones(len(pairs)), (rows, values)), shape=(len(kept), len(number))
        )
        self.sizes = np.array([len(answered[u]) for u in kept], float)
        self.context = np.unique(labels[kept], return_inverse=True)[1]

    def distances(self, distance: str | Distance) -> Floats:
        if isinstance(distance, str) and distance not in DISTANCES:
            raise ValueError(f"There is no distance {distance!r}; take one of {[*DISTANCES]}.")
        apart = DISTANCES[distance] if isinstance(distance, str) else distance
        number = {s: k for k, s in enumerate(dict.fromkeys(s for each in self.sets for s in each))}
        places = [(row, number[s]) for row, each in enumerate(self.sets) for s in each]
        holds = np.zeros((len(self.sets), len(number)), np.float32)
        holds[tuple(np.array(places, int).reshape(-1, 2).T)] = 1
        sizes = holds.sum(axis=1).astype(float)
        return np.asarray(apart((holds @ holds.T).astype(float), sizes[:, None], sizes[None, :]))

    def disagreement(self, distances: Floats) -> Floats:
        """The sum of the distances over the ordered pairs of annotators, for each unit."""
        pairs = np.asarray(self.counts @ distances) * self.counts.toarray()
        return np.asarray(pairs.sum(axis=1))

    def resample(self, resamples: int, rng: np.random.Generator) -> Floats:
        """How often each unit comes up when contexts are drawn with replacement."""
        contexts = int(self.context.max(initial=-1)) + 1
        if not contexts:
            return np.zeros((resamples, 0))
        return resample_counts(contexts, contexts, resamples, rng)[:, self.context]


def _alpha(answers: _Answers, weights: Floats, *, distance: str | Distance) -> Floats:
    """Alpha for each row of unit weights: 1 − observed / expected disagreement."""
    distances = answers.distances(distance)
    within_units = answers.disagreement(distances) / (answers.sizes - 1)
    values = weights @ answers.sizes
    counts = np.asarray(answers.counts.T @ weights.T).T
    across = ((counts @ distances) * counts).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        alpha = 1 - (weights @ within_units) * (values - 1) / across
    return np.where(across > 0, alpha, np.nan)


def _pairwise_s1(answers: _Answers, weights: Floats) -> Floats:
    pairs = answers.sizes * (answers.sizes - 1)
    agreement = 1 - answers.disagreement(answers.distances("s1")) / pairs
    with np.errstate(invalid="ignore"):
        return np.asarray((weights @ agreement) / weights.sum(axis=1))


def _interval(
    of: Callable[[_Answers, Floats], Floats],
    answers: _Answers,
    resamples: int,
    rng: np.random.Generator,
) -> Agreement:
    units = len(answers.sizes)
    resampled = of(answers, answers.resample(resamples, rng))
    low, high = percentile_limits(resampled, LEVEL)
    [point] = of(answers, np.ones((1, units))).tolist()
    return Agreement(point, low, high, units, int(np.isnan(resampled).sum()))

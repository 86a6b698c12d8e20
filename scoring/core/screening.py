"""Whom a screening rule keeps out: those who only guess, and of the careful ones how many.

By simulation, since the rule compares people with one another: one arrival in ten guesses, and the
careful answer by the model of people that plans go by, logit of a right answer μ + a·u + b·z with
annotator u and item z standard normal. Arrivals are judged in order until the places are full.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from scoring.core.power import NODES, WEIGHTS

FILLINGS = 2000
SEED = 20211206
GUESSING = 0.1
CAREFUL_MEAN, CAREFUL_SD, ITEM_SD = 0.85, 0.5, 1.2

MOST_GUESSERS = ADVISED_GUESSERS = 10
"""Of 100, for a floor that deserves the name, and by the one that is proposed where more get in."""
FEWEST_ITEMS = 10
"""With fewer the share of right answers is mostly chance."""
MOST_ARRIVALS = 400
"""The group is settled long before; with more places a simulation would take seconds."""


@dataclass(frozen=True)
class ScreeningRule:
    """Floor and drop in percent of right answers, the drop in points or in SDs of the group.
    labels: how many a guesser chooses among; None where these differ, and no_skill is what the best
    answer without a look at the question earns, in [0, 1]."""

    items: int
    places: int
    labels: int | None = None
    # What studies that started before it was measured were simulated with.
    no_skill: float = 0.5
    floor: float | None = None
    max_drop: float | None = None
    drop_in_sds: bool = False
    group_size: int = 5

    @property
    def chance(self) -> float:
        """The chance that a guess is right."""
        return 1 / self.labels if self.labels else self.no_skill


@dataclass(frozen=True)
class ScreeningFigures:
    """Shares between 0 and 1: of guessers who get in, by the whole rule and by its floor alone,
    and of careful people who are turned away. lowest_floor, in percent: of those in steps of 10
    points the lowest past which at most 10 of 100 guessers get; where the rule's own floor lets no
    more in, or no floor keeps them out, None."""

    guessers_in: float
    guessers_past_floor: float
    careful_out: float
    lowest_floor: int | None


Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Marks = NDArray[np.bool_]


@lru_cache(maxsize=256)
def simulate_screening(rule: ScreeningRule) -> ScreeningFigures:
    """ValueError for a rule without items or places."""
    if rule.items < 1 or rule.places < 1:
        raise ValueError("A screening rule needs at least one item and one place.")
    rng = np.random.default_rng(SEED)
    arrivals = min(2 * rule.places + 10, MOST_ARRIVALS)
    guessing = rng.random((FILLINGS, arrivals)) < GUESSING
    guessed = rng.binomial(rule.items, rule.chance, guessing.shape)
    right = np.where(guessing, guessed, _careful_counts(rule.items, arrivals, rng))
    scores = 100 * (right / rule.items)
    guessers_in, careful_in = _shares_in(rule, scores, guessing)

    def past(floor: float | None) -> float:
        return _shares_in(replace(rule, floor=floor, max_drop=None), scores, guessing)[0]

    past_floor = past(rule.floor)
    steps = range(10, 101, 10) if 100 * past_floor > MOST_GUESSERS else ()
    lowest = next((floor for floor in steps if 100 * past(floor) <= MOST_GUESSERS), None)
    return ScreeningFigures(guessers_in, past_floor, 1 - careful_in, lowest)


def _shares_in(rule: ScreeningRule, scores: Floats, guessing: Marks) -> tuple[float, float]:
    """The shares that get in, of the guessers and of the careful who arrive before the places are
    full; scores and guessing are fillings × arrivals, in percent and whether one guesses."""
    passes = _passes(rule, scores)
    taken_before = passes.cumsum(axis=1) - passes
    arrives = taken_before < rule.places
    guessers, careful = arrives & guessing, arrives & ~guessing
    return _share(passes, guessers), _share(passes, careful)


def _share(passes: Marks, among: Marks) -> float:
    return float((passes & among).sum() / max(among.sum(), 1))


def _passes(rule: ScreeningRule, scores: Floats) -> Marks:
    """Whom the rule lets in: the group is everybody who came before, whether they got in or not."""
    passes = np.ones(scores.shape, bool) if rule.floor is None else scores >= rule.floor
    if rule.max_drop is None:
        return passes
    before = np.arange(scores.shape[1])
    size = np.maximum(before, 1)
    mean = (scores.cumsum(axis=1) - scores) / size
    squares = (scores**2).cumsum(axis=1) - scores**2
    variance = (squares - size * mean**2) / np.maximum(before - 1, 1)
    unit = np.sqrt(np.maximum(variance, 0)) if rule.drop_in_sds else 1.0
    compared = before >= max(rule.group_size, 2 if rule.drop_in_sds else 1)
    return passes & ~(compared & (scores < mean - rule.max_drop * unit))


def _careful_counts(items: int, arrivals: int, rng: np.random.Generator) -> Counts:
    """Right answers of each careful arrival, fillings × arrivals, on the filling's items."""
    odds_against = np.exp(-_careful_logit() - ITEM_SD * rng.standard_normal((FILLINGS, items)))
    odds_against = odds_against.astype(np.float32)
    counts = np.empty((FILLINGS, arrivals), np.int64)
    for arrival in range(arrivals):
        person = np.exp(-CAREFUL_SD * rng.standard_normal((FILLINGS, 1))).astype(np.float32)
        drawn = rng.random((FILLINGS, items), np.float32)
        # Right where drawn lies below the logistic function of the logit.
        counts[:, arrival] = np.count_nonzero(drawn * (1 + odds_against * person) < 1, axis=1)
    return counts


@lru_cache(maxsize=1)
def _careful_logit() -> float:
    """μ, by which careful people are right as often as assumed, over people and items."""
    effects = np.hypot(CAREFUL_SD, ITEM_SD) * NODES

    def above(mu: float) -> float:
        return float(WEIGHTS @ scipy.special.expit(mu + effects)) - CAREFUL_MEAN

    return float(scipy.optimize.brentq(above, 0.0, 10.0))

"""People and items pooled: a Rasch model, for answers that are right or wrong.

A handful of answers says little about one item, and a score says nothing of which items it is from.
Here both borrow from the others: logit P(right) = ability − difficulty, both normal.

Fitted by marginal likelihood. Difficulties are integrated out on a grid so fine that the density of
the abilities stays concave, as it truly is; abilities by Laplace's approximation, as lme4 does. The
two SDs have gamma(2, 1) priors (Chung et al. 2013), which keep them off zero, where few people
would often put them, and away from what no data have.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import special

from scoring.core.variance import Floats

FEWEST_PEOPLE = 5
FEWEST_ITEMS = 10
# Of the grid, in SDs of the difficulties.
GRID = np.linspace(-4.5, 4.5, 61)
# On the scale of logits: the search stays where chances are neither 0 nor 1 for all the world.
WIDEST = 6.0
Z = float(special.ndtri(0.975))


@dataclass(frozen=True)
class Pooled:
    """One person or item: on the scale of logits, and as a chance of being right with its 95 %
    limits. That of a person is over items like these, that of an item for a person like these."""

    logit: float
    se: float
    chance: float
    low: float
    high: float


@dataclass(frozen=True)
class Rasch:
    """people, items: in the order of the rows and columns. average: the chance of a person of
    average ability on items like these. mean, of the abilities (difficulties lie around 0), and
    SDs are on the scale of logits."""

    people: tuple[Pooled, ...]
    items: tuple[Pooled, ...]
    average: float
    mean: float
    ability_sd: float
    difficulty_sd: float


def rasch(right: ArrayLike) -> Rasch:
    """Of n × m answers: 1 right, 0 wrong, NaN not given.

    Raises ValueError on other values, on fewer than five people or ten items, and where somebody or
    some item has no answer.
    """
    y = _checked(right)
    share = float(np.nanmean(y))
    start = [float(special.logit(np.clip(share, 0.02, 0.98))), 0.0, 0.0]
    bounds = [(-WIDEST, WIDEST), (-4.0, 1.1), (-4.0, 1.1)]

    def unlikelihood(parameters: Floats) -> float:
        return -_marginal(y, parameters)[0]

    found = scipy.optimize.minimize(unlikelihood, start, method="L-BFGS-B", bounds=bounds)
    _, ability, covariance = _marginal(y, found.x)
    mean = float(found.x[0])
    ability_sd, difficulty_sd = (float(np.exp(log_sd)) for log_sd in found.x[1:])
    nodes, weights = _difficulties(difficulty_sd)
    # Of each item, how likely each difficulty is, given the answers.
    likely = special.softmax(_log_likelihoods(y, ability, nodes) + np.log(weights), axis=1)
    difficulty = likely @ nodes
    spread = np.sqrt(np.maximum(likely @ nodes**2 - difficulty**2, 0))
    over_items = partial(_over_items, nodes=nodes, weights=weights)
    return Rasch(
        people=tuple(
            Pooled(
                float(logit),
                float(se),
                *(over_items(logit + step * se) for step in (0.0, -Z, Z)),
            )
            for logit, se in zip(ability, np.sqrt(np.diag(covariance)), strict=True)
        ),
        items=tuple(
            Pooled(
                float(logit),
                float(se),
                *(float(special.expit(mean - logit + step * se)) for step in (0.0, -Z, Z)),
            )
            for logit, se in zip(difficulty, spread, strict=True)
        ),
        average=over_items(mean),
        mean=mean,
        ability_sd=ability_sd,
        difficulty_sd=difficulty_sd,
    )


def _checked(right: ArrayLike) -> Floats:
    y = np.asarray(right, float)
    if y.ndim != 2 or y.shape[0] < FEWEST_PEOPLE or y.shape[1] < FEWEST_ITEMS:
        raise ValueError(
            f"Pooling needs {FEWEST_PEOPLE} people or more and {FEWEST_ITEMS} items or more, "
            f"not a matrix of shape {y.shape}."
        )
    given = ~np.isnan(y)
    if not np.isin(y[given], (0, 1)).all():
        raise ValueError("Pooling takes answers that are right (1) or wrong (0).")
    if not (given.any(axis=0).all() and given.any(axis=1).all()):
        raise ValueError("Somebody, or some item, has no answer: leave it out.")
    return y


def _marginal(y: Floats, parameters: ArrayLike) -> tuple[float, Floats, Floats]:
    """The log likelihood of the answers under (mean ability, log SD of abilities, log SD of
    difficulties), with the prior; the likeliest abilities, and their covariance."""
    mean, log_ability_sd, log_difficulty_sd = np.asarray(parameters, float)
    precision = np.exp(-2 * log_ability_sd)
    nodes, weights = _difficulties(float(np.exp(log_difficulty_sd)))

    def slope(ability: Floats) -> tuple[Floats, Floats]:
        """Of the log density of answers and abilities, and its Hessian."""
        _, gradient, hessian = _over_difficulties(y, ability, nodes, weights)
        return gradient - precision * (ability - mean), hessian - precision * np.eye(len(y))

    ability = scipy.optimize.root(slope, np.full(len(y), mean), jac=True).x
    log_likelihood, _, hessian = _over_difficulties(y, ability, nodes, weights)
    off = ability - mean
    log_likelihood -= precision * float(off @ off) / 2 + len(y) * float(log_ability_sd)
    hessian = precision * np.eye(len(y)) - hessian
    log_likelihood -= float(np.linalg.slogdet(hessian)[1]) / 2
    log_sds = np.asarray([log_ability_sd, log_difficulty_sd])
    prior = float((log_sds - np.exp(log_sds)).sum())
    return log_likelihood + prior, ability, np.linalg.inv(hessian)


def _difficulties(sd: float) -> tuple[Floats, Floats]:
    """Nodes and weights of a normal distribution."""
    density = np.exp(-(GRID**2) / 2)
    return sd * GRID, density / density.sum()


def _log_likelihoods(y: Floats, ability: Floats, nodes: Floats) -> Floats:
    """Of all answers to each item (rows), at each difficulty (columns)."""
    right = special.log_expit(ability[:, None] - nodes)
    wrong = special.log_expit(nodes - ability[:, None])
    return np.asarray((y == 1).T.astype(float) @ right + (y == 0).T.astype(float) @ wrong)


def _over_difficulties(
    y: Floats, ability: Floats, nodes: Floats, weights: Floats
) -> tuple[float, Floats, Floats]:
    """The log likelihood of the answers with difficulties integrated out, its gradient and its
    Hessian in the abilities."""
    joint = _log_likelihoods(y, ability, nodes) + np.log(weights)
    likely = special.softmax(joint, axis=1)
    chance = special.expit(ability[:, None] - nodes)
    given = ~np.isnan(y)
    # By person, item and difficulty: how far the answer lies from its chance.
    off = np.where(given[:, :, None], np.nan_to_num(y)[:, :, None] - chance[:, None, :], 0.0)
    expected = np.einsum("iq,piq->pi", likely, off)
    weighted = (off * np.sqrt(likely)).reshape(len(y), -1)
    variance = chance * (1 - chance)
    hessian = weighted @ weighted.T - expected @ expected.T
    hessian -= np.diag(np.einsum("iq,pi,pq->p", likely, given.astype(float), variance))
    return float(special.logsumexp(joint, axis=1).sum()), expected.sum(axis=1), hessian


def _over_items(logit: float, *, nodes: Floats, weights: Floats) -> float:
    return float(weights @ special.expit(logit - nodes))

"""How many episodes and examples, or people and items, a budget should buy.

Two planners. `simulate_intervals` follows FLEX (Bragg et al. 2021, section 5): coverage and width
of percentile-bootstrap intervals over episodes. `plan_people` does the same for human cells, by the
formulas of the interval that the cells will get.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby, product
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from scoring.core import people_designs
from scoring.core.bootstrap import resample_counts
from scoring.core.intervals import check_level
from scoring.core.variance import Components, Floats

EPISODE_SD = 0.05
"""FLEX's assumption: how much a system's true accuracy varies over episodes."""

PUBLISHED_HOURS = (24, 36, 48, 60, 72, 84)
PUBLISHED_EPISODES = (5, *range(15, 151, 15))
PUBLISHED_ACCURACIES = tuple(k / 100 for k in range(30, 96, 5))


@dataclass(frozen=True)
class SimulatedIntervals:
    """Coverage and mean width of the intervals, with their Monte Carlo standard errors; bias, the
    mean distance of the bootstrap's own mean from the accuracy. All have the shape that accuracy,
    episodes and examples broadcast to; NaN where there is not one example per episode."""

    coverage: Floats
    coverage_se: Floats
    width: Floats
    width_se: Floats
    bias: Floats


def simulate_intervals(
    accuracy: ArrayLike,
    episodes: ArrayLike,
    examples: ArrayLike,
    *,
    replicates: int = 1000,
    resamples: int = 1000,
    seed: int,
    level: float = 0.95,
    episode_sd: float = EPISODE_SD,
    target: str = "nominal",
    workers: int | None = None,
) -> SimulatedIntervals:
    """Simulate evaluations and count how often a bootstrap interval holds the true accuracy.

    An episode's accuracy is `accuracy` + Normal(0, episode_sd), clipped to [0, 1]; each of its
    `examples` is right with that probability; the interval is the percentile bootstrap of the mean
    over `episodes`. target: what it should hold, the `nominal` accuracy (as in FLEX's script, whose
    coverage near 1 therefore falls) or the `clipped` mean, which the model really has.

    A configuration's numbers follow from the seed and its own three values, on any number of
    workers (threads; None: one per processor), whatever else is simulated. Every forty replicates
    share their bootstrap weights, also with other configurations of as many episodes, which adds no
    more than a twentieth to the standard errors. Raises ValueError on values outside their range.
    """
    check_level(level)
    plan = Simulation(replicates, resamples, seed, level, episode_sd, target)
    values = np.broadcast_arrays(*_checked_grid(accuracy, episodes, examples))
    triples = zip(*map(np.ravel, values), strict=True)
    grid = [Configuration(int(e), int(n), float(a)) for a, e, n in triples]
    simulated = simulate_all({c for c in grid if c.examples > 0}, plan, workers)
    nothing = np.full(5, np.nan)
    rows = np.array([simulated.get(configuration, nothing) for configuration in grid])
    columns = rows.reshape(-1, 5).T
    return SimulatedIntervals(*(column.reshape(values[0].shape)[()] for column in columns))


def published_examples(budget_hours: ArrayLike, episodes: ArrayLike) -> np.ndarray:
    """Test examples per episode that FLEX's cost model buys; below 1 the budget is too small."""
    e = np.asarray(episodes, float)
    seconds = np.asarray(budget_hours, float) * 3600
    return np.floor((seconds - 1166.0522286 * e) / (7.5251996952 * e)).astype(int)


def _checked_grid(
    accuracy: ArrayLike, episodes: ArrayLike, examples: ArrayLike
) -> Iterator[np.ndarray]:
    a, e, n = (np.asarray(values, float) for values in (accuracy, episodes, examples))
    if not ((a >= 0) & (a <= 1)).all():
        raise ValueError("An accuracy must lie between 0 and 1.")
    if not (e >= 1).all() or (e % 1 != 0).any() or (n % 1 != 0).any():
        raise ValueError("Episodes and examples are whole numbers, with at least one episode.")
    yield from (a, e, n)


def plan_people(
    *,
    budget: float,
    rate: float,
    onboarding_s: float,
    shots: int,
    train_s: float,
    item_s: float,
    max_items: int,
    annotator_var: float,
    item_var: float,
    residual_var: float,
    fee: float = 0,
    estimand: str = "new_items",
    min_coverage: float | None = None,
    min_annotators: int = 3,
    min_items: int = 20,
    level: float = 0.95,
    seed: int = 0,
    viewers: int | None = None,
) -> tuple[people_designs.PeopleDesign, ...]:
    """Plan for each number of annotators the most items that the budget allows, narrowest first.

    budget and the hourly rate are in one currency, times in seconds; fee is the platform's share on
    top (0.33 for a third). The variances are components on the scale of the scores. max_items is
    the size of the test set; annotators are the cell's, over all its splits.

    Without min_coverage width, se and df are the formula's, on the plain scale. With it the designs
    are ranked by the width of the interval that the cell will have; the narrowest and the cheapest
    that are nearly as narrow are simulated, and further ones until a coverage reaches it; only
    those that do are returned, each with the width of its simulated intervals.
    viewers: people of each item where the test set is handed out in parts; the items of a design
    are then those of one person, `seen` those of all. Raises ValueError on values outside their
    range, and for a coverage of parts.
    """
    costs = people_designs.Costs(rate, onboarding_s, shots, train_s, item_s, fee)
    parts = Components(annotator_var, item_var, residual_var)
    aim = people_designs.Aim(estimand, max_items, level)
    people_designs.check_plan(budget, costs, parts, aim)
    least = min(min_items, max_items)
    sizes = people_designs.affordable(budget, costs, max_items, min_annotators, least)
    if viewers is not None:
        return _in_parts(sizes, viewers, costs, parts, aim, min_coverage)
    designs = [people_designs.formula_design(n, m, costs, parts, aim) for n, m in sizes]
    if min_coverage is not None:
        designs = list(people_designs.reaching(min_coverage, designs, parts, aim, seed))
    return tuple(sorted(designs, key=lambda design: design.width))


def _in_parts(
    sizes: Iterator[tuple[int, int]],
    viewers: int,
    costs: people_designs.Costs,
    parts: Components,
    aim: people_designs.Aim,
    min_coverage: float | None,
) -> tuple[people_designs.PeopleDesign, ...]:
    """Nobody gets more items than the test set needs."""
    if min_coverage is not None:
        raise ValueError("The coverage of parts is not simulated: leave min_coverage out.")
    enough = ((n, min(items, -(-aim.max_items * viewers // n))) for n, items in sizes)
    designs = [
        people_designs.parts_design(n, items, viewers, costs, parts, aim)
        for n, items in enough
        for seen in [min(aim.max_items, n * items // viewers)]
        if viewers <= n < seen * (viewers - 1) and seen >= LEAST_PARTED
    ]
    return tuple(sorted(designs, key=lambda design: design.width))


LEAST_PARTED = 20
"""Items that all people of a test set in parts meet together, at least."""

SHARING = 40
"""Replicates that share one set of bootstrap weights; see `simulate_intervals`."""

BLOCK = 5 * SHARING
"""Replicates that are simulated together: enough work for one call, little enough for the cache."""


class Configuration(NamedTuple):
    episodes: int
    examples: int
    accuracy: float


@dataclass(frozen=True)
class Simulation:
    """What all configurations of one call share; the fields are those of `simulate_intervals`."""

    replicates: int
    resamples: int
    seed: int
    level: float
    episode_sd: float
    target: str

    def __post_init__(self) -> None:
        if self.replicates < 1 or self.resamples < 1:
            raise ValueError("A simulation needs at least one replicate and one resample.")
        if self.seed < 0:
            raise ValueError(f"The seed is {self.seed}; it must be a whole number from 0.")
        if self.episode_sd < 0:
            raise ValueError(f"The SD over episodes is {self.episode_sd}; it cannot be negative.")
        if self.target not in ("nominal", "clipped"):
            raise ValueError(f"The target is {self.target!r}; it must be 'nominal' or 'clipped'.")


def simulate_all(
    configurations: set[Configuration], plan: Simulation, workers: int | None
) -> dict[Configuration, Floats]:
    ordered = sorted(configurations)
    groups = [list(group) for _, group in groupby(ordered, key=lambda c: c.episodes)]
    blocks = range(-(-plan.replicates // BLOCK))
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        work = product(groups, blocks)
        parts = list(pool.map(lambda job: _simulate_block(job[0], job[1], plan), work))
    replicates: dict[Configuration, list[Floats]] = {c: [] for c in ordered}
    for part in parts:
        for configuration, rows in part.items():
            replicates[configuration].append(rows)
    return {c: _summary(np.concatenate(rows)) for c, rows in replicates.items()}


def _simulate_block(
    group: list[Configuration], block: int, plan: Simulation
) -> dict[Configuration, Floats]:
    """One block of replicates of every configuration with this many episodes."""
    episodes = group[0].episodes
    size = min(BLOCK, plan.replicates - block * BLOCK)
    draws = -(-size // SHARING)
    rng = np.random.default_rng([plan.seed, block, episodes])
    counts = resample_counts(episodes, episodes, draws * plan.resamples, rng)
    weights = counts.reshape(draws, plan.resamples, episodes).transpose(0, 2, 1)
    weights = np.ascontiguousarray(weights, np.float32)
    return {c: _replicates(c, block, size, weights, plan) for c in group}


def _replicates(
    c: Configuration, block: int, size: int, weights: np.ndarray, plan: Simulation
) -> Floats:
    """Whether the truth is held, the width, the distance of the bootstrap's mean, by replicate."""
    bits = int(np.float64(c.accuracy).view(np.uint64))
    rng = np.random.default_rng([plan.seed, block, c.episodes, c.examples, bits])
    chances = rng.normal(c.accuracy, plan.episode_sd, (size, c.episodes))
    right = rng.binomial(c.examples, np.clip(chances, 0, 1, out=chances))
    sums = _resampled_sums(right, weights)
    sums.sort(axis=1)
    total = c.episodes * c.examples
    low, high = (_quantile(sums, q) / total for q in ((1 - plan.level) / 2, (1 + plan.level) / 2))
    truth = _truth(c.accuracy, plan)
    holds = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
    distance = abs(sums.mean(axis=1) / total - c.accuracy)
    return np.column_stack([holds, high - low, distance])


def _resampled_sums(right: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Every replicate's sum in every resample; weights are draws × episodes × resamples. By four
    rows at a time: on larger products a BLAS's own threads fight with the workers."""
    draws, episodes, resamples = weights.shape
    padded = np.zeros((draws * SHARING, episodes), np.float32)
    padded[: len(right)] = right
    sums = np.matmul(padded.reshape(draws, SHARING // 4, 4, episodes), weights[:, None])
    return np.asarray(sums.reshape(-1, resamples)[: len(right)])


def _quantile(ascending: np.ndarray, q: float) -> Floats:
    """Quantiles of sorted rows, linear between neighbours as numpy's default."""
    place = q * (ascending.shape[1] - 1)
    below = int(place)
    above = min(below + 1, ascending.shape[1] - 1)
    left, right = ascending[:, below].astype(float), ascending[:, above].astype(float)
    return np.asarray(left + (place - below) * (right - left))


def _truth(accuracy: float, plan: Simulation) -> float:
    """The accuracy, or the mean of Normal(accuracy, sd) clipped to [0, 1]."""
    if plan.target == "nominal" or plan.episode_sd == 0:
        return accuracy
    sd = plan.episode_sd
    a, b = (0 - accuracy) / sd, (1 - accuracy) / sd
    inner = accuracy * (scipy.special.ndtr(b) - scipy.special.ndtr(a))
    density = np.exp(-np.square([a, b]) / 2) / np.sqrt(2 * np.pi)
    return float(inner + sd * (density[0] - density[1]) + scipy.special.ndtr(-b))


def _summary(rows: Floats) -> Floats:
    """Coverage, its SE, width, its SE and bias over all replicates."""
    coverage, width, bias = rows.mean(axis=0)
    size = len(rows)
    width_se = rows[:, 1].std(ddof=1) / np.sqrt(size) if size > 1 else np.nan
    return np.array([coverage, np.sqrt(coverage * (1 - coverage) / size), width, width_se, bias])

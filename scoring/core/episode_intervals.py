"""The engine of `sample_size.simulate_intervals`: many bootstrap intervals, quickly.

Work is cut into blocks of replicates, each from seeds of its own, so that any number of workers
gets the same numbers. A bootstrap of a mean is a matrix product of the episodes' sums with counts
of how often each episode is drawn.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby, product

import numpy as np
from scipy import special

from scoring.core.bootstrap import resample_counts
from scoring.core.variance import Floats

SHARING = 40
"""Replicates that share one set of bootstrap weights; see `simulate_intervals`."""

BLOCK = 5 * SHARING
"""Replicates that are simulated together: enough work for one call, little enough for the cache."""


@dataclass(frozen=True)
class Configuration:
    accuracy: float
    episodes: int
    examples: int


@dataclass(frozen=True)
class Simulation:
    """What all configurations of one call share; the fields are those of `simulate_intervals`."""

    replicates: int
    resamples: int
    seed: int
    level: float
    episode_sd: float
    target: str


def simulate_all(
    configurations: set[Configuration], plan: Simulation, workers: int | None
) -> dict[Configuration, Floats]:
    ordered = sorted(configurations, key=lambda c: (c.episodes, c.examples, c.accuracy))
    groups = [list(group) for _, group in groupby(ordered, key=lambda c: c.episodes)]
    blocks = range(-(-plan.replicates // BLOCK))
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        parts = list(
            pool.map(lambda work: _simulate_block(work[0], work[1], plan), product(groups, blocks))
        )
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
    """For each replicate: is the truth held, the width, the distance of the bootstrap's mean."""
    bits = int(np.float64(c.accuracy).view(np.uint64))
    rng = np.random.default_rng([plan.seed, block, c.episodes, c.examples, bits])
    chances = rng.normal(c.accuracy, plan.episode_sd, (size, c.episodes))
    right = rng.binomial(c.examples, np.clip(chances, 0, 1, out=chances))
    sums = _resampled_sums(right, weights)
    sums.sort(axis=1)
    total = c.episodes * c.examples
    low, high = (_quantile(sums, q) / total for q in ((1 - plan.level) / 2, (1 + plan.level) / 2))
    truth = _truth(c.accuracy, plan)
    held = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
    distance = abs(sums.mean(axis=1) / total - c.accuracy)
    return np.column_stack([held, high - low, distance])


def _resampled_sums(right: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Every replicate's sum in every resample; weights are draws × episodes × resamples.

    The products are made four rows at a time: a BLAS keeps one so small on the thread that asks for
    it; on larger ones its own threads fight with the workers over the processors.
    """
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
    inner = accuracy * (special.ndtr(b) - special.ndtr(a))
    density = np.exp(-np.square([a, b]) / 2) / np.sqrt(2 * np.pi)
    return float(inner + sd * (density[0] - density[1]) + special.ndtr(-b))


def _summary(rows: Floats) -> Floats:
    """Coverage, its SE, width, its SE and bias over all replicates."""
    coverage, width, bias = rows.mean(axis=0)
    size = len(rows)
    width_se = rows[:, 1].std(ddof=1) / np.sqrt(size) if size > 1 else np.nan
    return np.array([coverage, np.sqrt(coverage * (1 - coverage) / size), width, width_se, bias])

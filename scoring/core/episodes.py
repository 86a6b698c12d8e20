"""Sampling few-shot problems from one labelled data set, and scoring them.

Episodes follow FLEX (Bragg et al. 2021, section 4.3), nested shot sets follow CLUES (Mukherjee et
al. 2021, section 3). Every draw comes from one stored seed. An episode's draws depend only on the
seed, its kind and its number within the kind, so more episodes never change earlier ones.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import groupby, product
from math import floor

import numpy as np
from scipy import special

from scoring.core.bootstrap import resample_counts
from scoring.core.draws import Draws
from scoring.core.variance import Floats


@dataclass(frozen=True)
class EpisodeRules:
    """How episodes are drawn; the defaults are FLEX's for testing.

    few_shot, zero_shot: how many episodes of either kind. classes_transfer: whether an episode has
    some of the classes, between least_classes and most_classes of them (at most all), instead of
    all. least_shots, most_shots: training examples of each class, drawn for every class on its own.
    kept: the share of a class's examples that the test part leaves for training, by the smallest
    class of the episode; zero_shot_kept: the same where nothing is trained on. most_test: the most
    test examples of one class.
    """

    few_shot: int = 90
    zero_shot: int = 90
    classes_transfer: bool = False
    least_classes: int = 5
    most_classes: int = 10
    least_shots: int = 1
    most_shots: int = 5
    kept: float = 0.5
    zero_shot_kept: float = 0.0
    most_test: int = 110

    def __post_init__(self) -> None:
        if min(self.few_shot, self.zero_shot) < 0:
            raise ValueError("The number of episodes cannot be negative.")
        if not 1 <= self.least_classes <= self.most_classes:
            raise ValueError("An episode has between 1 and most_classes classes.")
        if not 1 <= self.least_shots <= self.most_shots:
            raise ValueError("A class has between 1 and most_shots training examples.")
        if not (0 <= self.kept < 1 and 0 <= self.zero_shot_kept < 1) or self.most_test < 1:
            raise ValueError("The test part takes some share of a class, at least one example.")


@dataclass(frozen=True)
class NestedRules:
    """How nested shot sets are drawn; the defaults are CLUES's.

    shots: the sizes of a split's sets, each a part of the next. splits: how many runs of them.
    test: the size of the one test set.
    """

    shots: tuple[int, ...] = (10, 20, 30)
    splits: int = 5
    test: int = 200

    def __post_init__(self) -> None:
        if not self.shots or min(self.shots) < 1 or self.splits < 1 or self.test < 1:
            raise ValueError("Nested sets need at least one size, one split and one test example.")


FLEX_DOMAIN_AND_TASK = EpisodeRules()
FLEX_CLASS = EpisodeRules(classes_transfer=True)
CLUES = NestedRules()


@dataclass(frozen=True)
class Episode:
    """One few-shot problem: its textual labels, training and test examples by id, in their order.

    Zero-shot episodes have labels and no training examples. number counts from 1, few-shot first.
    """

    number: int
    labels: tuple[str, ...]
    training: tuple[str, ...]
    test: tuple[str, ...]


@dataclass(frozen=True)
class ShotSet:
    """The first `shots` examples of a split; split 0 with shots 0 is the test set."""

    split: int
    shots: int
    examples: tuple[str, ...]


def sample_episodes(labels: Mapping[str, str], rules: EpisodeRules, *, seed: int) -> list[Episode]:
    """Episodes from one data set, given as example id → textual label, in any order.

    Examples are drawn without replacement within an episode and may come back in another. Raises
    ValueError when there are too few classes, or a class has too few examples.
    """
    classes = _by_class(labels)
    _check_classes(classes, rules)
    kinds = [("few-shot", k) for k in range(rules.few_shot)]
    kinds += [("zero-shot", k) for k in range(rules.zero_shot)]
    return [
        _episode(number, kind == "zero-shot", classes, rules, Draws(seed, kind, place))
        for number, (kind, place) in enumerate(kinds, start=1)
    ]


def sample_nested_sets(ids: Iterable[str], rules: NestedRules, *, seed: int) -> list[ShotSet]:
    """The test set, then for every split its nested shot sets, none of which touches the test set.

    ids are of examples, or of contexts where shots count those. Raises ValueError when there are
    too few of them.
    """
    known = sorted(set(ids))
    needed = rules.test + max(rules.shots)
    if len(known) < needed:
        raise ValueError(f"There are {len(known)} examples; these sets need {needed}.")
    order = Draws(seed, "test").shuffled(known)
    test, pool = order[: rules.test], sorted(order[rules.test :])
    sets = [ShotSet(0, 0, tuple(test))]
    for split in range(1, rules.splits + 1):
        chain = Draws(seed, "split", split).sample(pool, max(rules.shots))
        sets += [ShotSet(split, k, tuple(chain[:k])) for k in sorted(set(rules.shots))]
    return sets


def checksum(sampled: Sequence[Episode] | Sequence[ShotSet]) -> str:
    """SHA-256 over everything that was sampled, in order: labels and ids, so let ids follow the
    content if that may change."""
    text = json.dumps([asdict(one) for one in sampled], ensure_ascii=False, sort_keys=True)
    return sha256(text.encode()).hexdigest()


def verify_checksum(sampled: Sequence[Episode] | Sequence[ShotSet], expected: str) -> None:
    """Raise ValueError unless these are what the checksum was taken over."""
    found = checksum(sampled)
    if found != expected:
        raise ValueError(
            f"The {len(sampled)} sampled sets have checksum {found[:12]}…, not {expected[:12]}…: "
            "the data set, the rules or the seed have changed; sample them again as they were."
        )


def _by_class(labels: Mapping[str, str]) -> dict[str, list[str]]:
    classes: dict[str, list[str]] = {}
    for identifier in sorted(labels):
        classes.setdefault(labels[identifier], []).append(identifier)
    return dict(sorted(classes.items()))


def _check_classes(classes: dict[str, list[str]], rules: EpisodeRules) -> None:
    least = rules.least_classes if rules.classes_transfer else 1
    if len(classes) < least:
        raise ValueError(f"There are {len(classes)} classes; an episode needs {least} of them.")
    needed = rules.least_shots + 1 if rules.few_shot else 1
    for label, ids in classes.items():
        if len(ids) < needed:
            raise ValueError(
                f"Class {label!r} has {len(ids)} examples; training and test need {needed}."
            )


def _episode(
    number: int,
    zero_shot: bool,
    classes: dict[str, list[str]],
    rules: EpisodeRules,
    draws: Draws,
) -> Episode:
    way = len(classes)
    if rules.classes_transfer:
        way = draws.between(rules.least_classes, min(way, rules.most_classes))
    labels = draws.sample(list(classes), way)
    test_size = _test_size([len(classes[label]) for label in labels], zero_shot, rules)
    training: list[str] = []
    test: list[str] = []
    for label in labels:
        left = len(classes[label]) - test_size
        shots = 0 if zero_shot else draws.between(rules.least_shots, min(rules.most_shots, left))
        drawn = draws.sample(classes[label], shots + test_size)
        training += drawn[:shots]
        test += drawn[shots:]
    order = draws.shuffled(training), draws.shuffled(test)
    return Episode(number, tuple(labels), tuple(order[0]), tuple(order[1]))


def _test_size(sizes: list[int], zero_shot: bool, rules: EpisodeRules) -> int:
    """Equally many test examples of every class: the smallest class sets how many."""
    smallest = min(sizes)
    kept = rules.zero_shot_kept if zero_shot else rules.kept
    size = max(1, min(rules.most_test, floor((1 - kept) * smallest)))
    # A small class keeps what its training examples need, whatever the share.
    return size if zero_shot else min(size, smallest - rules.least_shots)


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

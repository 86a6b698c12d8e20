"""Sampling few-shot problems from one labelled data set, as FLEX does (Bragg et al. 2021, section
4.3), by one stored seed. An episode's draws depend only on the seed, its kind and its number within
the kind, so more episodes never change earlier ones."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from math import floor
from typing import TypeVar

T = TypeVar("T")

_WORD = 2**64


class Draws:
    """A stream of random choices of its own for each seed and path."""

    def __init__(self, seed: int, *path: str | int) -> None:
        self._key = "/".join(map(str, (seed, *path))).encode()
        self._count = 0

    def below(self, limit: int) -> int:
        """A whole number from 0 to limit − 1, each equally likely."""
        if not 0 < limit <= _WORD:
            raise ValueError(f"A number below {limit} cannot be drawn.")
        while True:
            word = self._word()
            # The last, incomplete round of limits would favour the small numbers.
            if word < _WORD - _WORD % limit:
                return word % limit

    def between(self, least: int, most: int) -> int:
        """A whole number from least to most, both included."""
        return least + self.below(most - least + 1)

    def sample(self, population: Sequence[T], size: int) -> list[T]:
        """Draw that many of them without replacement, in random order."""
        if not 0 <= size <= len(population):
            raise ValueError(f"{size} cannot be drawn out of {len(population)}.")
        rest = list(population)
        for place in range(size):
            other = place + self.below(len(rest) - place)
            rest[place], rest[other] = rest[other], rest[place]
        return rest[:size]

    def shuffled(self, population: Sequence[T]) -> list[T]:
        return self.sample(population, len(population))

    def _word(self) -> int:
        digest = sha256(self._key + b"#" + str(self._count).encode()).digest()
        self._count += 1
        return int.from_bytes(digest[:8], "big")


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


FLEX_DOMAIN_AND_TASK = EpisodeRules()
FLEX_CLASS = EpisodeRules(classes_transfer=True)


@dataclass(frozen=True)
class Episode:
    """One few-shot problem: its textual labels, training and test examples by id, in their order;
    zero-shot without training examples. number counts from 1, few-shot first."""

    number: int
    labels: tuple[str, ...]
    training: tuple[str, ...]
    test: tuple[str, ...]


def sample_episodes(labels: Mapping[str, str], rules: EpisodeRules, *, seed: int) -> list[Episode]:
    """Episodes from one data set, given as example id → textual label, in any order; examples may
    come back in another episode. Raises ValueError for too few classes, or examples of one."""
    classes = _by_class(labels)
    _check_classes(classes, rules)
    kinds = [("few-shot", k) for k in range(rules.few_shot)]
    kinds += [("zero-shot", k) for k in range(rules.zero_shot)]
    return [
        _episode(number, kind == "zero-shot", classes, rules, Draws(seed, kind, place))
        for number, (kind, place) in enumerate(kinds, start=1)
    ]


def checksum(sampled: Sequence[Episode]) -> str:
    """SHA-256 over everything that was sampled, in order: labels and ids, so let ids follow the
    content if that may change."""
    text = json.dumps([asdict(episode) for episode in sampled], ensure_ascii=False, sort_keys=True)
    return sha256(text.encode()).hexdigest()


def verify_checksum(sampled: Sequence[Episode], expected: str) -> None:
    """Raise ValueError unless these are what the checksum was taken over."""
    actual = checksum(sampled)
    if actual != expected:
        raise ValueError(
            f"The {len(sampled)} sampled sets have checksum {actual[:12]}…, not {expected[:12]}…: "
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
    number: int, zero_shot: bool, classes: dict[str, list[str]], rules: EpisodeRules, draws: Draws
) -> Episode:
    count = len(classes)
    if rules.classes_transfer:
        count = draws.between(rules.least_classes, min(count, rules.most_classes))
    labels = draws.sample(list(classes), count)
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

"""Random choices that are the same on every machine and under every version of numpy.

What is sampled once and checked for ever must not depend on a library's generator. These integers
are SHA-256 over a seed, a path that names what is drawn, and a counter.
"""

from collections.abc import Sequence
from hashlib import sha256
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
        """That many of them without replacement, in random order."""
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

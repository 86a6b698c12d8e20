"""The order in which an annotator meets the examples of an item set.

It follows from the assignment's stored seed by SHA-256 alone, so it is the same on every
machine and under every version of Python, and can be rebuilt from an export.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Protocol, TypeVar


class Positioned(Protocol):
    """What shuffling needs to know about an item."""

    @property
    def context_hash(self) -> str: ...

    @property
    def position(self) -> int: ...


ItemT = TypeVar("ItemT", bound=Positioned)
T = TypeVar("T")


def shuffled(items: Iterable[ItemT], seed: str) -> list[ItemT]:
    """The items in seeded order; those of one context stay together, in file order."""
    return sorted(items, key=lambda item: (_rank(seed, item.context_hash), item.position))


def tie_broken(ranked: Sequence[tuple[int, T]], seed: str) -> list[T]:
    """Sorted by rank; ties broken by seeded chance on the value's text."""
    by_rank = sorted(ranked, key=lambda pair: (pair[0], _rank(seed, str(pair[1]))))
    return [value for _, value in by_rank]


def _rank(seed: str, key: str) -> bytes:
    return sha256(f"{seed}:{key}".encode()).digest()

"""Chains: the runs of shot sets that truly nest, found by content.

The split number in a file's name promises that 10 shots lie within 20 of the same number; in
published files the numbers are sometimes permuted between the sizes. So what nests is read
from the examples, while every set keeps the number that its file gives it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from annotation.models import Item, ItemSet, Role, Task

Contents = Mapping[ItemSet, frozenset[int]]


@dataclass(frozen=True)
class Chain:
    """Shot sets by their shots, each a part of the next; numbered by the smallest one's split."""

    number: int
    sets: dict[int, ItemSet]

    @property
    def path(self) -> str:
        """Its splits, smallest set first, such as "1→5→5"."""
        return "→".join(str(item_set.split) for item_set in self.sets.values())


def chains(task: Task) -> list[Chain]:
    return chains_of(shot_contents(task))


def unchained(contents: Contents, chains: Iterable[Chain]) -> list[ItemSet]:
    nested = {member for chain in chains for member in chain.sets.values()}
    return [item_set for item_set in contents if item_set not in nested]


def shot_contents(task: Task) -> dict[ItemSet, frozenset[int]]:
    """Every numbered shot set with the ids of its examples, by shots, then split."""
    shot_sets = task.item_sets.filter(
        role=Role.TRAINING, shots__isnull=False, split__isnull=False
    ).order_by("shots", "split", "name")
    members: dict[int, list[int]] = {}
    for item_set_id, example_id in Item.objects.filter(item_set__in=shot_sets).values_list(
        "item_set_id", "example_id"
    ):
        members.setdefault(item_set_id, []).append(example_id)
    return {item_set: frozenset(members.get(item_set.pk, ())) for item_set in shot_sets}


def shots_and_split(shot_set: ItemSet) -> tuple[int, int]:
    """The number of shots and the split of a numbered set, which has both."""
    assert shot_set.shots is not None
    assert shot_set.split is not None
    return shot_set.shots, shot_set.split


def chains_of(contents: Contents) -> list[Chain]:
    """Finds the chains by number, from every set of the smallest size on; no set is in two chains.
    A size that holds no set around a chain is left out of that chain."""
    sizes = sorted({shots_and_split(item_set)[0] for item_set in contents})
    chains: list[Chain] = []
    taken: set[ItemSet] = set()
    for start in (item_set for item_set in contents if item_set.shots == sizes[0]):
        chain = Chain(shots_and_split(start)[1], {sizes[0]: start})
        for shots in sizes[1:]:
            if around := _set_around(chain, shots, contents, taken):
                chain.sets[shots] = around
        taken.update(chain.sets.values())
        chains.append(chain)
    return chains


def _set_around(
    chain: Chain, shots: int, contents: Contents, taken: set[ItemSet]
) -> ItemSet | None:
    """The set of this size that holds the whole chain so far; if several do, the one with the
    chain's own number."""
    largest = contents[list(chain.sets.values())[-1]]
    around = [
        item_set
        for item_set, examples in contents.items()
        if item_set.shots == shots and item_set not in taken and largest <= examples
    ]
    return min(around, key=lambda one: (one.split != chain.number, one.split), default=None)

"""Handing a large test set out in parts: so many items a person, so many people an item, each part
linked to others by the items that they share."""

from collections import defaultdict
from collections.abc import Sequence

from scoring.core.episodes import Draws

FEWEST_VIEWERS, MOST_TRIES = 2, 100
# Every part shares items with so many others.
LEAST_LINKS = 2


def lay_out(items: Sequence[str], size: int, viewers: int, *, seed: int) -> list[list[str]]:
    """Parts for one person each: ⌈items × viewers / size⌉ of them, whose sizes differ by one at
    most, each item in `viewers` of them, in no part twice. Each part shares items with two others
    at least (where there are so many), and all hang together, so that people who met different
    parts can be told from items (Knapp and Schafer's linked incomplete blocks, here at random: the
    items are shuffled once for each viewer, and cut). Raises ValueError where none is found."""
    if not 1 <= size <= len(items):
        raise ValueError(f"A part holds 1 to {len(items)} items, not {size}.")
    if viewers < FEWEST_VIEWERS:
        raise ValueError("Parts hang together only where an item has two people or more.")
    known = sorted(items)
    for trial in range(MOST_TRIES):
        parts = _parts(known, size, viewers, Draws(seed, "parts", trial))
        if parts and is_linked(parts):
            return parts
    raise ValueError(
        f"No layout of {len(items)} items in parts of {size} for {viewers} people an item hangs "
        "together: take larger parts or more people."
    )


def _parts(items: Sequence[str], size: int, viewers: int, draws: Draws) -> list[list[str]]:
    """Empty where a part would hold an item twice."""
    count = -(-len(items) * viewers // size)
    least, more = divmod(len(items) * viewers, count)
    rows = iter([item for _ in range(viewers) for item in draws.shuffled(items)])
    parts: list[list[str]] = []
    left: list[str] = []
    for number in range(count):
        part: list[str] = []
        # What the part before could not take comes first.
        waiting, left = left, []
        while len(part) < least + (number < more):
            item = waiting.pop(0) if waiting else next(rows, None)
            if item is None:
                return []
            (left if item in part else part).append(item)
        left = [*left, *waiting]
        parts.append(part)
    return [] if left else parts


def is_linked(parts: Sequence[Sequence[str]]) -> bool:
    """Whether each part shares items with two others or more, and one can walk from any to any."""
    holders: dict[str, list[int]] = defaultdict(list)
    for number, part in enumerate(parts):
        for item in part:
            holders[item].append(number)
    neighbours = [{other for item in part for other in holders[item]} for part in parts]
    links = min(LEAST_LINKS, len(parts) - 1)
    if any(len(near) <= links for near in neighbours):
        return False
    reached, todo = {0}, [0]
    while todo:
        new = neighbours[todo.pop()] - reached
        reached |= new
        todo += new
    return len(reached) == len(parts)

"""Whether people tire or learn over a test: their last third against their first."""

from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean

from scoring.cells.cells import Cell
from scoring.cells.vectors import answer_orders
from scoring.core.learning import FEWEST_FOR_DRIFT, Drift, drift, third_change


def drift_of(cells: Iterable[Cell]) -> Drift | None:
    """In points, over the people whose test has items enough; whoever did several tests counts
    once. None for fewer than two."""
    changes: dict[int, list[float]] = defaultdict(list)
    for cell in cells:
        pairs = zip(cell.annotators, cell.vectors, strict=True)
        long = [pair for pair in pairs if len(pair[1].items) >= FEWEST_FOR_DRIFT]
        orders = answer_orders([member.pk for member, _ in long])
        for member, vector in long:
            scores = dict(zip(vector.items.example_ids, 100 * vector.scores, strict=True))
            ordered = [scores[pk] for pk in orders[member.pk]]
            changes[member.annotator_id].append(third_change(ordered))
    return drift([fmean(own) for own in changes.values()]) if len(changes) > 1 else None

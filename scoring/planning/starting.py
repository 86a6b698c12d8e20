"""What a plan starts from, as the fields of its form: a task, a pilot."""

from math import sqrt

from annotation.benchmarks.subsets import PART
from annotation.models import Item, Role, Task
from annotation.studies.batching import PossibleBatch, possible_batches
from scoring.planning.pilots import Pilot


def values_of_task(task: Task) -> dict[str, str]:
    """Its items, counted in contexts, and its most shots; one batch, as a plan says how many
    splits."""
    values = {"task": str(task.pk)}
    possible = [batch for batch in possible_batches(task) if PART not in batch.test_set.name]
    if not possible:
        return values
    shots = max(batch.shots or 0 for batch in possible)
    values["shots"] = str(shots)
    values["max_items"] = str(max(2, *map(_contexts, _of_shots(possible, shots))))
    return values


def _of_shots(batches: list[PossibleBatch], shots: int) -> list[PossibleBatch]:
    return [batch for batch in batches if (batch.shots or 0) == shots]


def _contexts(batch: PossibleBatch) -> int:
    items = Item.objects.filter(item_set=batch.test_set, item_set__role=Role.TEST)
    return items.order_by().values("example__context_hash").distinct().count()


def values_of_pilot(pilot: Pilot) -> dict[str, str]:
    told = dict(pilot.tells)
    people, items, rest = (told.pop(f"{part}_var") for part in ("annotator", "item", "residual"))
    told["mean"] *= 100
    if "fee" in told:
        told["fee"] *= 100
    told["annotator_sd"] = 100 * sqrt(people)
    told["item_share"] = 100 * items / (items + rest) if items + rest else 0
    told["answer_sd"] = 100 * sqrt(people + items + rest)
    return {
        name: value if isinstance(value, str) else f"{value:.6g}" for name, value in told.items()
    }

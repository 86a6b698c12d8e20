"""The exposure key: what a person may see only once.

It follows the content of a task. A task that shares at least half of its test contents with an
existing one (of another import, version or benchmark) takes over its key.
"""

from collections import Counter
from collections.abc import Collection

from django.db.models import QuerySet

from annotation.models import Item, Role, Task
from annotation.models.texts import checksum

PORTION = 10_000


def exposure_key_for(test_contents: Collection[str]) -> str:
    """The key of a new task with these content hashes in its test sets."""
    contents = set(test_contents)
    return _adopted_key(contents) or checksum(sorted(contents))


def _adopted_key(contents: set[str]) -> str:
    shared = _shared_counts(contents)
    sizes = _sizes(shared)
    related = [
        (count, -task_id)
        for task_id, count in shared.items()
        if 2 * count >= min(len(contents), sizes[task_id])
    ]
    if not related:
        return ""
    # The closest relative; of equals, the oldest.
    _, negated_id = max(related)
    return Task.objects.values_list("exposure_key", flat=True).get(pk=-negated_id)


def _shared_counts(contents: set[str]) -> dict[int, int]:
    """How many of these contents each existing task has in its test sets."""
    wanted = sorted(contents)
    counts: Counter[int] = Counter()
    # In portions, since SQLite limits the values of one query.
    for start in range(0, len(wanted), PORTION):
        portion = wanted[start : start + PORTION]
        counts.update(_tasks_of(_in_tests().filter(example__content_hash__in=portion)))
    return counts


def _sizes(task_ids: Collection[int]) -> dict[int, int]:
    """How many different contents the test sets of each task hold."""
    return Counter(_tasks_of(_in_tests().filter(item_set__task_id__in=list(task_ids))))


def _in_tests() -> QuerySet[Item]:
    return Item.objects.filter(item_set__role=Role.TEST)


def _tasks_of(items: QuerySet[Item]) -> list[int]:
    """The task of every distinct pair of task and content."""
    pairs = items.order_by().values_list("item_set__task_id", "example__content_hash").distinct()
    return [task_id for task_id, _ in pairs]

"""Where an import writes new tasks: bit by bit, in a benchmark that nobody sees, until one short
transaction publishes them all."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from secrets import token_hex
from typing import Any

from django.db.models import QuerySet

from annotation.jobs.pacing import ROWS_AT_ONCE, write
from annotation.models import Benchmark, Example, Gold, GoldVersion, Item, ItemSet, Task

# No import takes this long, so who began it is gone.
ABANDONED_AFTER = timedelta(hours=6)


@contextmanager
def staging() -> Iterator[Benchmark]:
    """A hidden benchmark; what is left in it at the end is removed."""
    name = f"importing-{token_hex(8)}"
    staged = write(lambda: Benchmark.every.create(name=name, is_staged=True))
    try:
        yield staged
    finally:
        remove(staged)


def publish(task: Task, into: Benchmark) -> None:
    Task.objects.filter(pk=task.pk).update(benchmark=into)
    task.benchmark = into


def remove_abandoned(*, at: datetime) -> None:
    """What imports that were killed have left behind."""
    for staged in Benchmark.every.filter(is_staged=True, created_at__lt=at - ABANDONED_AFTER):
        remove(staged)


def remove(staged: Benchmark) -> None:
    tasks = list(Task.objects.filter(benchmark=staged).values_list("pk", flat=True))
    if tasks:
        _delete(Item.objects.filter(item_set__task__in=tasks))
        _delete(Gold.objects.filter(version__task__in=tasks))
        _delete(ItemSet.objects.filter(task__in=tasks))
        _delete(GoldVersion.objects.filter(task__in=tasks))
        _delete(Example.objects.filter(task__in=tasks))
        _delete(Task.objects.filter(pk__in=tasks))
    write(lambda: Benchmark.every.filter(pk=staged.pk).delete())


def _delete(rows: QuerySet[Any]) -> None:
    while pks := list(rows.order_by().values_list("pk", flat=True)[:ROWS_AT_ONCE]):
        write(lambda: rows.model._base_manager.filter(pk__in=pks).delete())

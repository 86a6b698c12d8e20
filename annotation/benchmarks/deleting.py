"""Deleting a benchmark that nothing uses, with its tasks, examples and gold."""

from collections.abc import Iterator

from django.db import IntegrityError, models, transaction
from django.db.models import PROTECT

from annotation.models import Benchmark, Example, Gold, GoldVersion, Item, ItemSet, Task
from annotation.models.errors import Refusal

# What belongs to a benchmark, with the way to it; each after all that refers to it.
CONTENT: tuple[tuple[type[models.Model], str], ...] = (
    (Item, "item_set__task__benchmark"),
    (ItemSet, "task__benchmark"),
    (Gold, "example__task__benchmark"),
    (GoldVersion, "task__benchmark"),
    (Example, "task__benchmark"),
    (Task, "benchmark"),
    (Benchmark, "pk"),
)
OWN = tuple(model for model, _path in CONTENT)


class InUse(Refusal):
    """A benchmark that something refers to."""


def uses_of(benchmark: Benchmark) -> list[str]:
    """The kinds of rows that refer to a benchmark and hold it: studies, runs, published figures.

    Whatever it is, it says so itself: its reference protects what it refers to.
    """
    return sorted({str(label) for label in _holders(benchmark)})


def kept_sentence(benchmark: Benchmark, uses: list[str]) -> str:
    return f"The benchmark {benchmark.name} is kept, since there are: {', '.join(uses)}."


def delete_benchmark(benchmark: Benchmark) -> None:
    try:
        with transaction.atomic():
            Benchmark.objects.select_for_update().get(pk=benchmark.pk)
            if uses := uses_of(benchmark):
                raise InUse(kept_sentence(benchmark, uses))
            for model, path in CONTENT:
                model._default_manager.filter(**{path: benchmark.pk}).delete()
    except IntegrityError as error:
        raise InUse(
            f"The benchmark {benchmark.name} is kept: somebody has begun to use it."
        ) from error


def _holders(benchmark: Benchmark) -> Iterator[str]:
    for model, path in CONTENT:
        own = model._default_manager.filter(**{path: benchmark.pk}).order_by()
        for relation in model._meta.get_fields(include_hidden=True):
            if not isinstance(relation, models.ManyToOneRel) or relation.on_delete is not PROTECT:
                continue
            holder = relation.related_model
            if holder in OWN:
                continue
            refers = {f"{relation.field.name}__in": own.values("pk")}
            if holder._default_manager.filter(**refers).exists():
                yield str(holder._meta.verbose_name_plural)

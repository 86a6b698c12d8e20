"""Which sets a batch may take as its checks: nothing that its people are asked, or shown, later."""

from collections.abc import Iterator, Sequence

from django.db.models import Count, QuerySet

from annotation.models import Batch, Item, ItemSet, Role, Study, Task
from scoring.core.screening import FEWEST_ITEMS

NO_DESCRIPTION = (
    "The task {} has no description: write one on its page, or import its table again with one."
)


def possible_checks(study: Study, task: Task | None = None) -> QuerySet[ItemSet]:
    """What the study's batches may take; those of a task, as far as its batches are known."""
    sets = ItemSet.objects.filter(task__benchmark=study.benchmark_id, role=Role.TRAINING)
    large = sets.alias(size=Count("items")).filter(size__gte=FEWEST_ITEMS)
    fitting = large.exclude(pk__in=_sharing(_tests(study)))
    return fitting.exclude(pk__in=_sharing(_learned(study, task))) if task else fitting


def _tests(study: Study) -> QuerySet[ItemSet]:
    return ItemSet.objects.filter(task__benchmark=study.benchmark_id, role=Role.TEST)


def _learned(study: Study, task: Task) -> QuerySet[ItemSet]:
    learned = study.batches.filter(task=task, training_set__isnull=False)
    return ItemSet.objects.filter(pk__in=learned.values("training_set"))


def _sharing(sets: QuerySet[ItemSet]) -> QuerySet[ItemSet]:
    """All sets that hold the content of an item of these."""
    contents = Item.objects.filter(item_set__in=sets).values("example__content_hash")
    return ItemSet.objects.filter(items__example__content_hash__in=contents)


def problems_of_checks(batches: Sequence[Batch]) -> Iterator[str]:
    """What keeps the study from starting."""
    checked = [batch for batch in batches if batch.check_set_id]
    if any(batch.least_check_score is None for batch in checked):
        yield "The checks have no least share of right answers: set one in the settings."
    for batch in batches:
        if batch.pool and batch.pool.min_check_score is not None and not batch.check_set_id:
            yield f"The pool {batch.pool} has a least share of the checks, and {batch} no checks."
    for batch in checked:
        yield from _problems(batch)
    yield from _half_checked(batches)


def _problems(batch: Batch) -> Iterator[str]:
    assert batch.check_set is not None
    name, task = batch.check_set.name, batch.check_set.task
    if (count := batch.check_set.items.count()) < FEWEST_ITEMS:
        yield f"{batch}: the checks {name} are {count} items. Choose {FEWEST_ITEMS} or more."
    if not task.description.strip():
        yield NO_DESCRIPTION.format(task.slug)
    if _sharing(_tests(batch.study)).contains(batch.check_set):
        yield f"{batch}: the checks {name} hold items of a test set. Choose another set."
    if _sharing(_learned(batch.study, batch.task)).contains(batch.check_set):
        yield (
            f"{batch}: the checks {name} hold items that a batch of this task trains with. Choose "
            "another set."
        )


def _half_checked(batches: Sequence[Batch]) -> Iterator[str]:
    """A floor holds for everybody in a cell."""
    cells: dict[str, set[int | None]] = {}
    for batch in batches:
        pool = f", {batch.pool}" if batch.pool else ""
        where = f"{batch.task} with {batch.shots} shots{pool}"
        cells.setdefault(where, set()).add(batch.check_set_id)
    for where, sets in cells.items():
        if len(sets) > 1:
            yield f"{where}: all its batches need the same checks, or none."

"""Which sets a batch may take as its checks: nothing that its people are asked, or shown, later."""

from collections.abc import Iterator, Sequence

from annotation.models import Batch, Item, Role, Study
from scoring.core.screening import FEWEST_ITEMS


def problems_of_checks(study: Study, batches: Sequence[Batch]) -> Iterator[str]:
    """What keeps the study from starting."""
    checked = [batch for batch in batches if batch.check_set_id]
    if checked and study.min_check_score is None:
        yield "The checks have no least share of right answers: set one in the settings."
    for batch in checked:
        yield from _problems(batch)
    yield from _half_checked(batches)


def _problems(batch: Batch) -> Iterator[str]:
    assert batch.check_set is not None
    name, task = batch.check_set.name, batch.check_set.task
    items = Item.objects.filter(item_set=batch.check_set)
    if (count := items.count()) < FEWEST_ITEMS:
        yield f"{batch}: the checks {name} are {count} items. Choose {FEWEST_ITEMS} or more."
    if not task.description.strip():
        yield f"The task {task.slug} has no description: write one on its page."
    others = Item.objects.filter(example__content_hash__in=items.values("example__content_hash"))
    if others.filter(
        item_set__role=Role.TEST, item_set__task__benchmark_id=task.benchmark_id
    ).exists():
        yield f"{batch}: the checks {name} hold items of a test set. Choose another set."
    learned = batch.study.batches.filter(task=batch.task_id).values("training_set")
    if others.filter(item_set__in=learned).exists():
        yield (
            f"{batch}: the checks {name} hold items that a batch of this task trains with. Choose "
            "another set."
        )


def _half_checked(batches: Sequence[Batch]) -> Iterator[str]:
    """A floor holds for everybody in a cell."""
    cells: dict[tuple[str, int], set[int | None]] = {}
    for batch in batches:
        cells.setdefault((str(batch.task), batch.shots), set()).add(batch.check_set_id)
    for (task, shots), sets in cells.items():
        if len(sets) > 1:
            yield f"{task} with {shots} shots: all its batches need the same checks, or none."

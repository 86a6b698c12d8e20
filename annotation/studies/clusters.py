"""What stands against the clusters of items that a study declares."""

from collections.abc import Collection, Iterator

from annotation.models import Batch, Item, Study, Task
from annotation.models.benchmark import cluster_of


def problems_of_clusters(study: Study, batches: Collection[Batch]) -> Iterator[str]:
    """A sentence for each declaration that no test item fits, or that takes one text apart."""
    tasks = {batch.task.slug: batch.task for batch in batches}
    for slug, group in study.clusters.items():
        if slug not in tasks:
            yield f"Clusters are declared for {slug}, of which the study has no batch."
        else:
            tests = {batch.test_set_id for batch in batches if batch.task.slug == slug}
            yield from _problems_of(tasks[slug], group, tests)


def _problems_of(task: Task, group: str, tests: Collection[int]) -> Iterator[str]:
    items = Item.objects.filter(item_set__in=tests).order_by("item_set", "position")
    columns = ("source_id", "example__context_hash", "example__groups")
    first: dict[str, tuple[str, str]] = {}
    known: set[str] = set()
    for item, context, groups in items.values_list(*columns):
        known.update(groups)
        cluster = cluster_of(context, groups, group)
        other, before = first.setdefault(context, (item, cluster))
        if cluster != before:
            yield (
                f"The items {other} and {item} of {task.slug} share their text, but not their "
                f"cluster by “{group}”: one text is never in two clusters."
            )
            return
    if group not in known:
        named = ", ".join(sorted(known)) or "none"
        yield f"No test item of {task.slug} has the group “{group}”; groups there are: {named}."

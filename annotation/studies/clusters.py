"""What stands against the clusters of items that a study declares."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from annotation.models import Item, ItemSet
from annotation.models.benchmark import cluster_of


def problems_of_clusters(
    clusters: Mapping[str, str], test_sets: Iterable[ItemSet]
) -> Iterator[str]:
    """A sentence for each group, by its task, that no item of these sets has, or that takes one
    text apart."""
    sets = defaultdict[str, list[ItemSet]](list)
    for test_set in test_sets:
        sets[test_set.task.slug].append(test_set)
    for slug, group in clusters.items():
        if slug not in sets:
            yield f"Clusters are declared for {slug}, of which the study has no batch."
        else:
            yield from _problems_of(slug, group, sets[slug])


def _problems_of(slug: str, group: str, tests: Collection[ItemSet]) -> Iterator[str]:
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
                f"The items {other} and {item} of {slug} share their text, but not their "
                f"cluster by “{group}”: one text is never in two clusters."
            )
            return
    if group not in known:
        named = ", ".join(sorted(known)) or "none"
        yield f"No test item of {slug} has the group “{group}”; groups there are: {named}."

"""Subsets: a part of a test set, for a study that does not ask for all of it."""

from annotation.models import Item, ItemSet
from annotation.models.benchmark import PART
from annotation.models.errors import BadInput
from annotation.models.texts import checksum
from scoring.core.episodes import Draws


def cut_test_set(test_set: ItemSet, contexts: int, *, seed: int = 0) -> ItemSet:
    """The part with this many of the set's contexts, each with all its questions, in the set's
    order; the whole set if it has no more. Repeating it gives the same part."""
    items = list(test_set.items.select_related("example").order_by("position"))
    known = list(dict.fromkeys(item.example.context_hash for item in items))
    if contexts < 1:
        raise BadInput("A part of a test set needs at least one item.")
    if contexts >= len(known):
        return test_set
    if test_set.episode is not None:
        raise BadInput(f"An episode is done as a whole: this one has {len(items)} questions.")
    name = f"{test_set.name}{PART}{contexts}" + (f"-{seed}" if seed else "")
    present = ItemSet.objects.filter(task=test_set.task, name=name).first()
    if present is not None:
        return present
    drawn = set(Draws(seed, "part", test_set.name).sample(sorted(known), contexts))
    kept = [item for item in items if item.example.context_hash in drawn]
    part = ItemSet.objects.create(
        task=test_set.task,
        name=name[:80],
        role=test_set.role,
        choices=test_set.choices,
        source_file=test_set.source_file,
        checksum=checksum([[item.example.identity, item.example.content_hash] for item in kept]),
    )
    Item.objects.bulk_create(
        Item(item_set=part, example=item.example, position=position, source_id=item.source_id)
        for position, item in enumerate(kept)
    )
    return part

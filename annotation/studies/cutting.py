"""Cutting: a part of a large test set for everybody, or a part of it for each person."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from copy import copy

from annotation.models import Batch, Item, ItemSet, new_token
from annotation.models.benchmark import PART
from annotation.models.errors import BadInput
from annotation.models.texts import checksum
from scoring.core.episodes import Draws
from scoring.core.parts import lay_out


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
    drawn = Draws(seed, "part", test_set.name).sample(sorted(known), contexts)
    return _part(test_set, name, [item for item in items if item.example.context_hash in drawn])


def cut_into_parts(
    test_set: ItemSet, contexts: int, viewers: int, *, seed: int = 0
) -> list[ItemSet]:
    """Cut a part for each person, of this many contexts with all their questions, so that each
    context has this many viewers. Repeating it gives the same parts. Raises BadInput where they
    would not hang together."""
    items = list(test_set.items.select_related("example").order_by("position"))
    by_context: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        by_context[item.example.context_hash].append(item)
    try:
        layout = lay_out(list(by_context), min(contexts, len(by_context)), viewers, seed=seed)
    except ValueError as error:
        raise BadInput(str(error)) from error
    stem = f"{test_set.name}{PART}{contexts}x{viewers}" + (f"-{seed}" if seed else "")
    return [
        _part(test_set, f"{stem}-{number}", [item for text in part for item in by_context[text]])
        for number, part in enumerate(layout, start=1)
    ]


def in_parts(
    batches: Iterable[Batch], contexts: int, viewers: int, *, seed: int
) -> Iterator[Batch]:
    """Replace each batch by those of its parts."""
    for batch in batches:
        for part in cut_into_parts(batch.test_set, contexts, viewers, seed=seed):
            of_part = copy(batch)
            of_part.test_set, of_part.join_token = part, new_token()
            yield of_part


def _part(test_set: ItemSet, name: str, kept: Sequence[Item]) -> ItemSet:
    present = ItemSet.objects.filter(task=test_set.task, name=name).first()
    if present is not None:
        return present
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
        for position, item in enumerate(sorted(kept, key=lambda item: item.position))
    )
    return part

"""Building a study's batches: what the study would then need, and how wide the interval of each of
its cells would be, before anything is stored."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from typing import Any

from django.contrib.auth.models import User

from annotation.models import Batch, Item, Study, Task
from annotation.studies.cutting import cut_test_set, in_parts
from annotation.studies.drafting import add_batches, expect_seconds, missing
from annotation.work.estimating import (
    Estimate,
    estimate,
    timed,
    unequal_lengths,
    usual_seconds,
    with_fee,
)
from scoring.planning.designs import MOST_ITEMS, Assumptions, design_of, size_of

# With one person or one item there is no interval.
FEWEST = 2
ONE_PERSON = "none: one person"
ONE_CONTEXT = "none: all its items have one context"


@dataclass(frozen=True)
class BatchOptions:
    """People in each batch, items of each person (None: all), and the seed of their sample."""

    people: int
    seconds: float
    items: int | None = None
    seed: int = 0
    # Of each item, where a test set is handed out in parts of one person each.
    viewers: int | None = None


def build(study: Study, chosen: Sequence[Batch], options: BatchOptions) -> dict[str, Any]:
    """The study as it would be with the chosen batches beside those that it has."""
    planned = missing(study, chosen, wanted=1 if options.viewers else options.people)
    sets = ("training_set", "test_set", "check_set__task")
    present = list(study.batches.select_related("task", "pool", *sets))
    already = len(chosen) - len(planned)
    sizes = _sizes([*present, *planned])
    if options.viewers:
        planned = [part for batch in planned for part in _parts_of(batch, sizes, options)]
    asked = {
        batch.test_set_id: _questions(sizes[batch.test_set_id], options.items) for batch in planned
    }
    first = estimate(study, present, seconds=options.seconds)
    then = estimate(study, planned, seconds=options.seconds, tests=asked)
    lengths = [*timed(study, present), *timed(study, planned, asked)]
    whole = _together(first, then, [*present, *planned])
    return {
        "planned": planned,
        "present": already,
        "batches": [*present, *planned],
        "estimate": whole,
        **with_fee(study, whole),
        "unequal": unequal_lengths(study, lengths),
        "cells": _cells(present, planned, sizes, options),
    }


def add_chosen(
    study: Study, chosen: Sequence[Batch], options: BatchOptions, *, by: User | None = None
) -> list[Batch]:
    """Store them, with a sample of their test sets if fewer items are wanted, or in parts, and the
    time that is expected if it is not the usual one. Raises Refusal."""
    people = options.people
    if options.viewers and options.items:
        chosen, people = [*in_parts(chosen, options.items, options.viewers, seed=options.seed)], 1
    elif options.items:
        for batch in chosen:
            batch.test_set = cut_test_set(batch.test_set, options.items, seed=options.seed)
    added = add_batches(study, chosen, wanted=people, by=by)
    usual = usual_seconds(study.benchmark.tasks.all())
    expect_seconds(study, None if options.seconds == usual else options.seconds)
    return added


# The contexts of a test set, and how many questions are asked of them.
Size = tuple[frozenset[str], int]


def _parts_of(batch: Batch, sizes: Mapping[int, Size], options: BatchOptions) -> Iterator[Batch]:
    """As many batches as there would be parts, on the whole set yet."""
    contexts = len(sizes[batch.test_set_id][0])
    size = min(options.items or contexts, contexts)
    for _ in range(-(-contexts * (options.viewers or 1) // size)):
        yield copy(batch)


def _together(first: Estimate, then: Estimate, batches: Sequence[Batch]) -> Estimate:
    per_key = Counter[str]()
    for batch in batches:
        for key in batch.exposure_keys:
            per_key[key] += batch.wanted
    names = [field.name for field in fields(Estimate)]
    sums: dict[str, Any] = {name: getattr(first, name) + getattr(then, name) for name in names}
    return replace(Estimate(**sums), people=max(per_key.values(), default=0))


def _sizes(batches: Sequence[Batch]) -> dict[int, Size]:
    contexts: dict[int, list[str]] = defaultdict(list)
    items = Item.objects.filter(item_set__in={batch.test_set_id for batch in batches})
    for test_set, context in items.values_list("item_set", "example__context_hash"):
        contexts[test_set].append(context)
    return {pk: (frozenset(keys), len(keys)) for pk, keys in contexts.items()}


def _questions(size: Size, items: int | None) -> int:
    """About how many questions a sample of so many contexts has."""
    contexts, questions = len(size[0]), size[1]
    if items is None or items >= contexts:
        return questions
    return round(questions * items / contexts)


def _cells(
    present: Sequence[Batch],
    planned: Sequence[Batch],
    sizes: Mapping[int, Size],
    options: BatchOptions,
) -> list[dict[str, Any]]:
    """People of a cell are those of all its batches, items those of its smallest, so that the width
    promises no more than is there."""
    cells: dict[tuple[Task, int, str], list[Batch]] = defaultdict(list)
    for batch in (*present, *planned):
        cells[batch.task, batch.shots, batch.pool_name].append(batch)
    facts = []
    for (task, shots, pool), batches in cells.items():
        counts = [batch.wanted for batch in batches]
        contexts = [sizes[batch.test_set_id][0] for batch in batches]
        items, splits, viewers = size_of(batches, counts, contexts)
        if any(batch in planned for batch in batches):
            items = min(items, options.items or items)
            if options.viewers:
                viewers, splits = options.viewers, len({batch.training_set_id for batch in batches})
        people = sum(counts)
        width = _width(shots, people, items, viewers)
        about = {"task": task, "shots": shots, "pool": pool, "splits": splits}
        why = ONE_PERSON if people < FEWEST else ONE_CONTEXT
        facts.append({**about, "people": people, "items": items, "width": width, "why": why})
    return sorted(facts, key=lambda cell: (str(cell["task"]), cell["shots"], cell["pool"]))


def _width(shots: int, people: int, items: int, viewers: int | None) -> float | None:
    """The width of the interval in points."""
    if people < FEWEST or items < FEWEST:
        return None
    together = people * items // viewers if viewers else items
    assumed = Assumptions(shots=shots, max_items=min(together, MOST_ITEMS))
    return 100 * design_of(assumed, people, min(items, MOST_ITEMS), viewers).width

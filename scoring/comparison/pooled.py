"""A second look at annotators and items, pooled: who is weak, and which items may be faulty.

For tasks whose answers are each right or wrong. All people of a study on one task together,
whatever their shots: nobody is in two cells, and the test items are the same.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.kinds import answer_kind
from annotation.models import Study, Task
from scoring.comparison.cells import Cell
from scoring.comparison.matrices import Floats, judged_answers, side_by_side
from scoring.comparison.rows import percent
from scoring.core.normalisation import normalised
from scoring.core.rasch import FEWEST_ITEMS, FEWEST_PEOPLE, Pooled, rasch

# Somebody this far below the average, and surely below it, is called weak.
WEAK_BY = 0.1


@dataclass(frozen=True)
class PooledAnnotator:
    """In percent: the mean as it is; the score on items like these as the model has it, with 95 %
    limits, drawn towards the others as far as few answers demand."""

    annotator: str
    shots: int | str
    mean: float | None
    pooled: float | None
    low: float | None
    high: float | None
    is_weak: bool


@dataclass(frozen=True)
class PooledItem:
    """Of an item that most people like these surely get wrong: the chance of one of average ability
    in percent, with its limits. most: the answer given most often, by so many of those who
    answered."""

    item: str
    chance: float | None
    low: float | None
    high: float | None
    answers: int
    right: int
    most: str
    most_count: int


@dataclass(frozen=True)
class PooledTask:
    study: str
    simulated: bool
    task: str
    references: str
    normalisation: str
    gold_version: int
    # Of a person of average ability, in percent; SDs are on the scale of logits.
    average: float | None
    ability_sd: float
    difficulty_sd: float
    annotators: tuple[PooledAnnotator, ...]
    # Only those that look faulty, the hardest first.
    items: tuple[PooledItem, ...]


def pooled_tasks(people: Iterable[Cell]) -> list[PooledTask]:
    groups: dict[tuple[Study | None, bool, Task], list[Cell]] = {}
    for cell in people:
        groups.setdefault((cell.study, cell.simulated, cell.task), []).append(cell)
    found = (_pooled(cells) for cells in groups.values())
    return [task for task in found if task is not None]


def _pooled(cells: Sequence[Cell]) -> PooledTask | None:
    first = cells[0]
    members = [
        (cell, member, vector)
        for cell in cells
        for member, vector, has_answers in zip(
            cell.annotators, cell.vectors, cell.answered, strict=True
        )
        if has_answers
    ]
    scores, examples, _ = side_by_side([(vector.items, vector.scores) for _, _, vector in members])
    seen = ~np.isnan(scores).all(axis=0)
    if not _can_be_pooled(first.task, scores[:, seen]):
        return None
    fit = rasch(scores[:, seen])
    answered = np.asarray(examples)[seen].tolist()
    return PooledTask(
        study=first.study.slug if first.study else "",
        simulated=first.simulated,
        task=first.task.slug,
        references=first.references,
        normalisation=first.normalisation,
        gold_version=first.gold_version,
        average=percent(fit.average),
        ability_sd=fit.ability_sd,
        difficulty_sd=fit.difficulty_sd,
        annotators=tuple(
            PooledAnnotator(
                annotator=member.annotator.pseudonym,
                shots=cell.shots,
                mean=percent(float(np.nanmean(own))),
                pooled=percent(person.chance),
                low=percent(person.low),
                high=percent(person.high),
                is_weak=person.high < fit.average and person.chance <= fit.average - WEAK_BY,
            )
            for (cell, member, _), own, person in zip(members, scores, fit.people, strict=True)
        ),
        items=tuple(_faulty(cells, answered, scores[:, seen], fit.items)),
    )


def _can_be_pooled(task: Task, scores: Floats) -> bool:
    """Whether every answer of this kind is right or wrong, and there are enough of them."""
    given = scores[~np.isnan(scores)]
    is_enough = scores.shape[0] >= FEWEST_PEOPLE and scores.shape[1] >= FEWEST_ITEMS
    return is_enough and answer_kind(task.kind).takes_options and bool(np.isin(given, (0, 1)).all())


def _faulty(
    cells: Sequence[Cell], examples: Sequence[int], scores: Floats, items: Sequence[Pooled]
) -> Iterable[PooledItem]:
    hard = [place for place, item in enumerate(items) if item.high < 0.5]
    given = judged_answers([member.pk for cell in cells for member in cell.members])
    names = {
        pk: name
        for cell in cells
        for vector in cell.vectors
        for pk, name in zip(vector.items.example_ids, vector.items.source_ids, strict=True)
    }
    for place in sorted(hard, key=lambda place: items[place].chance):
        pk, item = examples[place], items[place]
        told = Counter(
            ", ".join(normalised(answers[pk], cells[0].normalisation))
            for answers in given.values()
            if pk in answers
        )
        most, count = told.most_common(1)[0]
        yield PooledItem(
            item=names[pk],
            chance=percent(item.chance),
            low=percent(item.low),
            high=percent(item.high),
            answers=int((~np.isnan(scores[:, place])).sum()),
            right=int(np.nansum(scores[:, place])),
            most=most,
            most_count=count,
        )

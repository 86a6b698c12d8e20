"""Item by item: how hard each test item is for people and for systems, and where they
differ most."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import Assignment, Example, Item, Study, Task
from scoring.cells.cells import Cell, CellReader
from scoring.cells.rows import percent
from scoring.cells.vectors import Answers, judged_answers, predicted_answers
from scoring.core.normalisation import normalised, normalised_golds
from scoring.core.s1 import score_one
from scoring.models import method_label


@dataclass(frozen=True)
class ItemScores:
    """Mean S1 in percent over the answers of all people, and of all runs, that count; None if there
    are none."""

    example_id: int
    source_id: str
    position: int
    question: str
    context: str
    gold: tuple[tuple[str, ...], ...]
    people: float | None
    people_answers: int
    systems: float | None
    systems_answers: int

    @property
    def gap(self) -> float | None:
        """People less systems."""
        if self.people is None or self.systems is None:
            return None
        return self.people - self.systems

    @property
    def text(self) -> str:
        """All the text that a search covers."""
        golds = (text for texts in self.gold for text in texts)
        return "\n".join([self.source_id, self.question, self.context, *golds]).lower()

    @property
    def has_empty_gold(self) -> bool:
        return not any(any(texts) for texts in self.gold)


@dataclass(frozen=True)
class GivenAnswer:
    """One answer to an item: by whom, what, and its S1 in percent."""

    who: str
    method: str
    study: str
    shots: int | str
    split: int | None
    answer: tuple[str, ...]
    score: float
    is_simulated: bool = False


def item_scores(task: Task, people: Sequence[Cell], systems: Sequence[Cell]) -> list[ItemScores]:
    """The items of the task's cells, in the order of their test sets."""
    human, machine = _means(people), _means(systems)
    golds = _golds([*people, *systems])
    items = (
        Item.objects.filter(item_set__task=task, item_set__role="test", example_id__in=golds)
        .select_related("example")
        .order_by("item_set__episode", "item_set", "position")
    )
    first = {item.example_id: item for item in reversed(items)}
    nothing = (float("nan"), 0)
    return [
        ItemScores(
            example_id=pk,
            source_id=item.source_id,
            position=number,
            question=item.example.question,
            context=" ".join(item.example.context),
            gold=golds[pk],
            people=percent(human.get(pk, nothing)[0]),
            people_answers=human.get(pk, nothing)[1],
            systems=percent(machine.get(pk, nothing)[0]),
            systems_answers=machine.get(pk, nothing)[1],
        )
        for number, (pk, item) in enumerate(reversed(first.items()), start=1)
    ]


def task_cells(
    task: Task, studies: Iterable[Study], reader: CellReader
) -> tuple[list[Cell], list[Cell]]:
    """The cells of people, and of systems, on one task."""
    kinds = [False, True] if reader.choices.simulated else [False]
    people = [
        cell
        for study in studies
        for simulated in kinds
        for cell in reader.people(study, simulated=simulated, task=task)
    ]
    return people, reader.systems(task)


def given_answers(
    example: Example, people: Sequence[Cell], systems: Sequence[Cell]
) -> list[GivenAnswer]:
    """What every annotator and run of these cells answered, worst first."""
    answers: list[GivenAnswer] = []
    for cell in people:
        given = judged_answers([member.pk for member in cell.members], example.pk)
        answers += _answers(example, cell, given)
    for cell in systems:
        given = predicted_answers([member.pk for member in cell.members], example.pk)
        answers += _answers(example, cell, given)
    return sorted(answers, key=lambda answer: (answer.score, answer.who))


def _answers(example: Example, cell: Cell, given: Mapping[int, Answers]) -> list[GivenAnswer]:
    gold = _golds([cell]).get(example.pk)
    if gold is None:
        return []
    return [
        GivenAnswer(
            who=member.annotator.pseudonym if isinstance(member, Assignment) else cell.system,
            method=method_label(cell.method),
            study=cell.study.slug if cell.study else "",
            shots=cell.shots,
            split=member.batch.split if isinstance(member, Assignment) else member.split,
            answer=tuple(given[member.pk][example.pk]),
            score=100
            * score_one(
                normalised(given[member.pk][example.pk], cell.normalisation),
                normalised_golds(gold, cell.normalisation),
                references=cell.references,
            ),
            is_simulated=cell.simulated,
        )
        for member in cell.members
        if example.pk in given[member.pk]
    ]


def _means(cells: Iterable[Cell]) -> dict[int, tuple[float, int]]:
    """By example, the mean over all answers and their number."""
    sums: dict[int, tuple[float, int]] = {}
    for cell in cells:
        seen = ~np.isnan(cell.matrix)
        totals = np.where(seen, cell.matrix, 0).sum(axis=0)
        counts = seen.sum(axis=0)
        for pk, total, count in zip(cell.example_ids, totals, counts, strict=True):
            before = sums.get(pk, (0.0, 0))
            sums[pk] = (before[0] + float(total), before[1] + int(count))
    return {pk: (total / count, count) for pk, (total, count) in sums.items() if count}


def _golds(cells: Iterable[Cell]) -> dict[int, tuple[tuple[str, ...], ...]]:
    return {
        pk: gold
        for cell in cells
        for vector in cell.vectors
        for pk, gold in zip(vector.items.example_ids, vector.items.golds, strict=True)
    }

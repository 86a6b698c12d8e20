"""Learning curves over the training items: S1 by position in the shot set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import Assignment, Judgement, Study
from scoring.cells.cells import CellReader, cell_order, shots_of_batch
from scoring.cells.rows import percent
from scoring.core.learning import learning_curve
from scoring.core.normalisation import normalised
from scoring.core.s1 import score_one

POINTS = 5


@dataclass(frozen=True)
class Point:
    """Positions first to last, counted from 1. mean is over the answers as they are;
    adjusted takes out which items happened to stand there, since orders differ, and is kept within
    0 and 100."""

    first: int
    last: int
    answers: int
    mean: float | None
    adjusted: float | None
    se: float | None


@dataclass(frozen=True)
class Curve:
    """Of everybody who finished the training of a cell, screened out or not: leaving out the
    screened-out would show selection as learning."""

    study: str
    simulated: bool
    task: str
    shots: int | str
    references: str
    normalisation: str
    gold_version: int
    annotators: int
    points: tuple[Point, ...]
    # By pseudonym, the mean in the same blocks.
    by_annotator: Mapping[str, Sequence[float | None]]


def curves(study: Study, reader: CellReader, *, simulated: bool = False) -> list[Curve]:
    """One curve for each cell of a study that has training."""
    assignments = Assignment.objects.filter(
        study=study, training_ended_at__isnull=False
    ).select_related("annotator", "batch__task", "batch__training_set", "batch__test_set")
    assignments = assignments.simulated() if simulated else assignments.of_people()
    if not reader.choices.with_excluded:
        assignments = assignments.filter(exclusion__isnull=True)
    cells: dict[tuple[str, int | str], list[Assignment]] = {}
    for assignment in assignments.order_by("pk"):
        shots = shots_of_batch(assignment.batch)
        if shots:
            cells.setdefault((assignment.batch.task.slug, shots), []).append(assignment)
    return [
        _curve(study, those, reader, simulated=simulated)
        for _, those in sorted(cells.items(), key=cell_order)
    ]


def _curve(
    study: Study, members: list[Assignment], reader: CellReader, *, simulated: bool
) -> Curve:
    batch = members[0].batch
    rows = _scored_judgements(members, reader)
    positions = {position for _, _, position, _ in rows}
    learning = learning_curve(
        *zip(*rows, strict=True), block=max(1, round(len(positions) / POINTS))
    )
    return Curve(
        study=study.slug,
        simulated=simulated,
        task=batch.task.slug,
        shots=shots_of_batch(batch),
        references=reader.policy(batch.task),
        normalisation=batch.task.normalisation,
        gold_version=reader.gold_version(batch.task),
        annotators=len(members),
        points=tuple(
            Point(
                point.first,
                point.last,
                point.n,
                percent(point.mean),
                percent(float(np.clip(point.adjusted, 0, 1))),
                percent(point.se),
            )
            for point in learning.points
        ),
        by_annotator={
            str(name): tuple(percent(mean) for mean in means)
            for name, means in learning.by_annotator.items()
        },
    )


def _scored_judgements(
    members: list[Assignment], reader: CellReader
) -> list[tuple[str, int, int, float]]:
    """Every training judgement: by whom, of which example, at which position from 1, its S1."""
    task = members[0].batch.task
    names = {member.pk: member.annotator.pseudonym for member in members}
    golds: dict[int, list[list[str]]] = {}
    sets = {member.batch.training_set for member in members}
    for training_set in filter(None, sets):
        items = reader.items(task, training_set)
        golds |= dict(zip(items.example_ids, items.compared, strict=True))
    judgements = Judgement.objects.of_training().filter(assignment_id__in=names).order_by("pk")
    return [
        (
            names[owner],
            example,
            step + 1,
            score_one(
                normalised(answer, task.normalisation),
                golds[example],
                references=reader.policy(task),
            ),
        )
        for owner, example, step, answer in judgements.values_list(
            "assignment_id", "example_id", "step", "answer"
        )
    ]

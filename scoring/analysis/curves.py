"""Learning curves over the training items: S1 by position in the shot set."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from annotation.models import Assignment, Judgement, Study
from scoring.cells.cells import CellReader, cell_order, percent, shots_of_batch
from scoring.core.learning import learning_curve
from scoring.core.normalisation import normalised
from scoring.core.s1 import score_one
from scoring.tables.table import Column, points

POINTS = 5
ANNOTATORS = Column("annotators", "Annotators", "Those who finished the training of the cell.")
OF_POINT = (
    Column("first", "From position", "The first training item of the block, from 1."),
    Column("last", "To position", "The last training item of the block."),
    Column("answers", "Answers", "Answers at these positions."),
    points("mean", "Mean", "Mean S1 of these answers in percent, not adjusted."),
    points(
        "adjusted",
        "Adjusted",
        "Mean S1 in percent, corrected for which items stood at these positions.",
    ),
    points("se", "SE of adjusted", "Standard error of that mean, in percent points."),
)
# Where it belongs and how many annotators it is of; its `points`, each with the columns above; and
# `by_annotator`, by pseudonym the mean in the same blocks.
Curve = Mapping[str, Any]


def curves(study: Study, reader: CellReader, *, simulated: bool = False) -> list[Curve]:
    """One curve for each cell of a study that has training: of everybody who finished it, screened
    out or not. Leaving out the screened-out would show selection as learning."""
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
        {
            "study": study.slug,
            "simulated": simulated,
            "task": task,
            "shots": shots,
            **reader.scored_under(those[0].batch.task),
            "annotators": len(those),
            **_learned(those, reader),
        }
        for (task, shots), those in sorted(cells.items(), key=cell_order)
    ]


def _learned(members: Sequence[Assignment], reader: CellReader) -> dict[str, Any]:
    rows = _scored_judgements(members, reader)
    positions = {position for _, _, position, _ in rows}
    learning = learning_curve(
        *zip(*rows, strict=True), block=max(1, round(len(positions) / POINTS))
    )
    return {
        "points": [
            {
                "first": point.first,
                "last": point.last,
                "answers": point.n,
                "mean": percent(point.mean),
                "adjusted": percent(float(np.clip(point.adjusted, 0, 1))),
                "se": percent(point.se),
            }
            for point in learning.points
        ],
        "by_annotator": {
            str(name): [percent(mean) for mean in means]
            for name, means in learning.by_annotator.items()
        },
    }


def _scored_judgements(
    members: Sequence[Assignment], reader: CellReader
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

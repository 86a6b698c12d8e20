"""What a pilot, which is any cell of a study, tells a planner: how scores vary, how long answers
take, what an hour costs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from django.db.models import Count, Sum

from annotation.models import CHECK, Assignment, Judgement, Role, Study
from annotation.models.errors import BadInput
from scoring.cells.cells import Cell, CellReader
from scoring.cells.scope import Choices
from scoring.core.intervals import cluster_scores
from scoring.core.variance import Components, variance_components

# Two of either give a variance; with so few it is little more than a guess.
FEWEST = 2
DOUBTFUL_BELOW = 5


@dataclass(frozen=True)
class Pilot:
    """Items are clusters of the statistics: the questions about one context count as one."""

    study: Study
    cell: Cell
    annotators: int
    questions_per_item: float
    # The fields of `Assumptions` that it knows.
    tells: Mapping[str, Any]

    @property
    def says(self) -> str:
        cell = self.cell
        people = "simulated annotators" if cell.simulated else "annotators"
        return (
            f"{self.annotators} {people} of the study {self.study} on {cell.task}, "
            f"{cell.shots} shots"
        )

    @property
    def notes(self) -> list[str]:
        notes = []
        if self.annotators < DOUBTFUL_BELOW:
            notes.append(
                f"The pilot has {self.annotators} annotators: from so few, how much annotators "
                "differ is little more than a guess."
            )
        if self.questions_per_item > 1:
            notes.append(
                f"An item here is a context with its {self.questions_per_item:.2g} questions."
            )
        return notes


def read_pilot(
    study: Study,
    *,
    task: str = "",
    shots: int | None = None,
    pool: str | None = None,
    simulated: bool = False,
) -> Pilot:
    """The cell that this names. Raises BadInput for none, several, or one that holds too little."""
    if study.source:
        raise BadInput(f"Nobody here knows how long the people of {study.slug} took: no pilot.")
    cell = _the_cell(study, task, shots, pool, simulated)
    scores = cluster_scores(cell.scores, cell.clusters)
    if min(scores.shape) < FEWEST:
        raise BadInput(
            f"The pilot {study.slug} has {scores.shape[0]} annotators on {scores.shape[1]} items "
            "here; how scores vary can be estimated only from two or more of each."
        )
    clusters = [len(set(vector.items.clusters)) for vector in cell.vectors]
    questions = sum(len(vector.items) for vector in cell.vectors) / sum(clusters)
    # Half an answer from the ends: that all were right says nothing of how answers vary.
    half = 0.5 / np.count_nonzero(~np.isnan(scores))
    mean = float(np.clip(np.nanmean(scores), half, 1 - half))
    parts = _possible(variance_components(scores), mean)
    seconds = _seconds(cell.annotators)
    tells = {
        "rate": float(study.hourly_rate),
        "currency": study.currency,
        "mean": mean,
        "shots": cell.shots,
        "max_items": min(clusters),
        **{f"{name}_var": value for name, value in asdict(parts).items()},
        **seconds,
        "item_s": seconds["item_s"] * questions,
    }
    if study.platform_fee:
        tells["fee"] = float(study.platform_fee) / 100
    return Pilot(study, cell, scores.shape[0], questions, tells)


def _possible(parts: Components, mean: float) -> Components:
    """Scaled down to what scores in [0, 1] of this mean can vary by, which estimates may exceed; a
    hundredth of it is left to chance, of which a few alike answers show none."""
    most = mean * (1 - mean)
    residual = max(parts.residual, most / 100)
    total = parts.annotator + parts.item + residual
    scale = min(1.0, most / total) if total else 1.0
    return Components(scale * parts.annotator, scale * parts.item, scale * residual)


def _the_cell(
    study: Study, task: str, shots: int | None, pool: str | None, simulated: bool
) -> Cell:
    cells = [
        cell
        for cell in CellReader(Choices()).people(study, simulated=simulated)
        if task in ("", cell.task.slug)
        and shots in (None, cell.shots)
        and pool in (None, cell.pool)
    ]
    if len(cells) == 1:
        return cells[0]
    if not cells:
        raise BadInput(f"No counted annotator has finished such a cell of the study {study.slug}.")
    listed = ", ".join(
        f"{cell.task.slug} with {cell.shots} shots" + (f" ({cell.pool})" if cell.pool else "")
        for cell in cells
    )
    raise BadInput(f"The study {study.slug} has several cells: {listed}. Name one.")


def _seconds(members: Sequence[Assignment]) -> dict[str, float]:
    """Paid seconds before the first item, of a test item, and of a training item with reveal."""
    pks = [member.pk for member in members]
    rows = Judgement.objects.filter(assignment_id__in=pks).order_by().values_list("role")
    sums = rows.annotate(Sum("paid_ms"), Count("pk"))
    by_role = {role: (paid_ms, count) for role, paid_ms, count in sums}
    test_ms, tests = by_role[Role.TEST]
    training_ms, trained = by_role.get(Role.TRAINING, (0, 0))
    check_ms, _checks = by_role.get(CHECK, (0, 0))
    reveal_ms = sum(member.reveal_ms for member in members)
    paid_ms = sum(member.paid_ms for member in members)
    before_ms = paid_ms - check_ms - test_ms - training_ms - reveal_ms
    seconds = {
        "onboarding_s": max(0, before_ms) / len(members) / 1000,
        "item_s": test_ms / tests / 1000,
    }
    if trained:
        seconds["train_s"] = (training_ms + reveal_ms) / trained / 1000
    return seconds

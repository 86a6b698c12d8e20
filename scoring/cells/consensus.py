"""What the annotators of a cell answer together: the answer of more than half of them, scored like
any answer; a row of its own, never mixed with the mean annotator."""

from collections.abc import Sequence

import numpy as np

from scoring.cells.cells import Cell
from scoring.cells.rows import CONSENSUS, SIMULATED_CONSENSUS, Row, RowKind, percent
from scoring.cells.vectors import Floats, judged_answers
from scoring.core.bootstrap import consensus_interval
from scoring.core.normalisation import normalised
from scoring.core.s1 import consensus, score_many

BOOTSTRAP = "bootstrap"
FEWEST_CONTEXTS = 2
Units = Sequence[Sequence[Sequence[str] | None]]
# S1 of the items that anybody answered, and their contexts.
ConsensusScores = tuple[Floats, tuple[str, ...]]


def answers_by_item(cell: Cell) -> Units:
    """By item, what every annotator answered, as S1 compares it; None where one did not see
    it."""
    given = judged_answers([member.pk for member in cell.members]).values()
    compared = [
        {pk: normalised(answer, cell.normalisation) for pk, answer in answers.items()}
        for answers in given
    ]
    return [[answers.get(pk) for answers in compared] for pk in cell.example_ids]


def consensus_scores(cell: Cell) -> ConsensusScores:
    golds = {
        pk: gold
        for vector in cell.vectors
        for pk, gold in zip(vector.items.example_ids, vector.items.compared, strict=True)
    }
    answered = [
        (pk, context, unit)
        for pk, context, unit in zip(
            cell.example_ids, cell.clusters, answers_by_item(cell), strict=True
        )
        if any(answer is not None for answer in unit)
    ]
    scores = score_many(
        [consensus(unit) for _, _, unit in answered],
        np.arange(len(answered)),
        [golds[pk] for pk, _, _ in answered],
        references=cell.references,
    )
    return scores, tuple(context for _, context, _ in answered)


def consensus_row(cell: Cell, scored: ConsensusScores, *, seed: int) -> Row:
    """Of a cell of several people."""
    scores, contexts = scored
    low, high = consensus_limits([scored], seed=seed) if len(scores) else (None, None)
    has_interval = low is not None
    return Row(
        kind=RowKind.CONSENSUS,
        study=cell.study.slug if cell.study else None,
        system=SIMULATED_CONSENSUS if cell.simulated else CONSENSUS,
        task=cell.task.slug,
        shots=cell.shots,
        mean=percent(float(scores.mean())) if len(scores) else None,
        n=int(cell.answered.sum()),
        m=len(set(contexts)) if has_interval else None,
        ci_low=low,
        ci_high=high,
        ci_method=BOOTSTRAP if has_interval else None,
        estimand="new_items" if has_interval else None,
        references=cell.references,
        normalisation=cell.normalisation,
        gold_version=cell.gold_version,
        coverage=len(scores) / len(cell.example_ids),
        items=len(scores),
    )


def consensus_limits(
    tasks: Sequence[ConsensusScores], *, seed: int
) -> tuple[float | None, float | None]:
    """In percent, of the mean over these tasks; of two contexts or more each. The people are
    fixed: it is for other items like these."""
    if any(len(set(contexts)) < FEWEST_CONTEXTS for _, contexts in tasks):
        return None, None
    low, high = consensus_interval(tasks, rng=np.random.default_rng(seed))
    return percent(low), percent(high)

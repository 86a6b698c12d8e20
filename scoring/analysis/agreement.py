"""How far the annotators of a cell agree."""

from dataclasses import dataclass

import numpy as np

from scoring.cells.cells import Cell
from scoring.cells.consensus import Units, answers_by_item
from scoring.cells.rows import percent
from scoring.core.agreement import Agreement, alpha_interval, pairwise_s1_interval
from scoring.core.s1 import consensus, score_many

# One other person is no consensus.
FEWEST_OTHERS = 2


@dataclass(frozen=True)
class CellAgreement:
    # In percent, each annotator against the consensus of the others in place of the gold; None of
    # two, whose other has no consensus.
    against_others: float | None
    # Alpha with the MASI distance; nominal alpha on empty against non-empty; mean S1 of
    # pairs. On the scale of [-1, 1] and [0, 1]; intervals by bootstrap over contexts.
    masi: Agreement
    empty: Agreement
    pairwise_s1: Agreement


def cell_agreement(cell: Cell, *, seed: int) -> CellAgreement:
    """Of a cell of people."""
    units = answers_by_item(cell)

    def chance() -> np.random.Generator:
        return np.random.default_rng(seed)

    return CellAgreement(
        against_others=_against_others(units, cell.references),
        masi=alpha_interval(units, cell.clusters, distance="masi", rng=chance()),
        empty=alpha_interval(units, cell.clusters, distance="empty", rng=chance()),
        pairwise_s1=pairwise_s1_interval(units, cell.clusters, rng=chance()),
    )


def _against_others(units: Units, references: str) -> float | None:
    """What people reach against one another bounds what can be told apart from noise in the labels:
    whoever exceeds it by the gold may have learned the noise."""
    answers, golds = [], []
    for unit in units:
        for k, answer in enumerate(unit):
            others = [other for other in (*unit[:k], *unit[k + 1 :]) if other is not None]
            if answer is not None and len(others) >= FEWEST_OTHERS:
                answers.append(answer)
                golds.append([consensus(others)])
    if not answers:
        return None
    scores = score_many(answers, np.arange(len(answers)), golds, references=references)
    return percent(float(scores.mean()))

"""How far the annotators of a cell agree, and what they answer together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from scoring.comparison.cells import Cell
from scoring.comparison.matrices import Floats, judged_answers
from scoring.comparison.rows import CONSENSUS, SIMULATED_CONSENSUS, Row, percent
from scoring.core.agreement import (
    Agreement,
    alpha_interval,
    consensus,
    pairwise_s1_interval,
)
from scoring.core.consensus_intervals import consensus_interval
from scoring.core.normalisation import normalised
from scoring.core.s1 import score_many

BOOTSTRAP = "bootstrap"
FEWEST_CONTEXTS = 2
# One other person is no consensus.
FEWEST_OTHERS = 2
Units = Sequence[Sequence[Sequence[str] | None]]


@dataclass(frozen=True)
class Consensus:
    """The answer of more than half of the annotators, scored like any answer: a row of its
    own, never mixed with the mean annotator."""

    mean: float | None
    items: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class ConsensusScores:
    """S1 of the items that anybody answered, and their contexts."""

    scores: Floats
    contexts: tuple[str, ...]


@dataclass(frozen=True)
class Accord:
    consensus: Consensus
    # In percent, each annotator against the consensus of the others in place of the gold; None of
    # two, whose other has no consensus.
    against_others: float | None
    # Alpha with the MASI distance; nominal alpha on empty against non-empty; mean S1 of
    # pairs. On the scale of [-1, 1] and [0, 1]; intervals by bootstrap over contexts.
    masi: Agreement
    empty: Agreement
    pairwise_s1: Agreement


def accord_of_plain(kept: Mapping[str, Any]) -> Accord:
    """As a kept analysis holds it (to_json.py)."""
    return Accord(
        consensus=Consensus(**kept["consensus"]),
        against_others=kept["against_others"],
        masi=_agreement_of_plain(kept["masi"]),
        empty=_agreement_of_plain(kept["empty"]),
        pairwise_s1=_agreement_of_plain(kept["pairwise_s1"]),
    )


def _agreement_of_plain(kept: Mapping[str, Any]) -> Agreement:
    known: dict[str, Any] = {key: nan if value is None else value for key, value in kept.items()}
    return Agreement(**known)


def accord(cell: Cell, *, seed: int) -> Accord:
    """Of a cell of people."""
    units = _units(cell)

    def chance() -> np.random.Generator:
        return np.random.default_rng(seed)

    return Accord(
        consensus=_consensus(_consensus_scores(cell, units), seed),
        against_others=_against_others(units, cell.references),
        masi=alpha_interval(units, cell.clusters, distance="masi", rng=chance()),
        empty=alpha_interval(units, cell.clusters, distance="empty", rng=chance()),
        pairwise_s1=pairwise_s1_interval(units, cell.clusters, rng=chance()),
    )


def consensus_row(cell: Cell, scored: ConsensusScores, *, seed: int) -> Row:
    """Of a cell of several people."""
    majority = _consensus(scored, seed)
    return Row(
        kind="consensus",
        study=cell.study.slug if cell.study else None,
        system=SIMULATED_CONSENSUS if cell.simulated else CONSENSUS,
        task=cell.task.slug,
        shots=cell.shots,
        mean=majority.mean,
        n=int(cell.answered.sum()),
        m=len(set(scored.contexts)) if majority.low is not None else None,
        ci_low=majority.low,
        ci_high=majority.high,
        ci_method=BOOTSTRAP if majority.low is not None else None,
        estimand="new_items" if majority.low is not None else None,
        references=cell.references,
        normalisation=cell.normalisation,
        gold_version=cell.gold_version,
        coverage=majority.items / len(cell.example_ids),
    )


def consensus_scores(cell: Cell) -> ConsensusScores:
    return _consensus_scores(cell, _units(cell))


def consensus_limits(
    tasks: Sequence[ConsensusScores], *, seed: int
) -> tuple[float | None, float | None]:
    """In percent, of the mean over these tasks; of two contexts or more each. The people are
    fixed: it is for other items like these."""
    if any(len(set(scored.contexts)) < FEWEST_CONTEXTS for scored in tasks):
        return None, None
    interval = consensus_interval(
        [(scored.scores, scored.contexts) for scored in tasks], rng=np.random.default_rng(seed)
    )
    return percent(interval.low), percent(interval.high)


def _units(cell: Cell) -> Units:
    """By item, what every annotator answered, as S1 compares it; None where one did not see
    it."""
    given = judged_answers([member.pk for member in cell.members]).values()
    compared = [
        {pk: normalised(answer, cell.normalisation) for pk, answer in answers.items()}
        for answers in given
    ]
    return [[answers.get(pk) for answers in compared] for pk in cell.example_ids]


def _consensus(scored: ConsensusScores, seed: int) -> Consensus:
    if not len(scored.scores):
        return Consensus(None, 0)
    mean = percent(float(scored.scores.mean()))
    return Consensus(mean, len(scored.scores), *consensus_limits([scored], seed=seed))


def _consensus_scores(cell: Cell, units: Units) -> ConsensusScores:
    golds = {
        pk: gold
        for vector in cell.vectors
        for pk, gold in zip(vector.items.example_ids, vector.items.compared, strict=True)
    }
    answered = [
        (pk, context, unit)
        for pk, context, unit in zip(cell.example_ids, cell.clusters, units, strict=True)
        if any(answer is not None for answer in unit)
    ]
    scores = score_many(
        [consensus(unit) for _, _, unit in answered],
        np.arange(len(answered)),
        [golds[pk] for pk, _, _ in answered],
        references=cell.references,
    )
    return ConsensusScores(scores, tuple(context for _, context, _ in answered))


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

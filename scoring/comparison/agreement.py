"""How far the annotators of a cell agree, and what they answer together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from scoring.comparison.cells import Cell
from scoring.comparison.matrices import judged_answers
from scoring.comparison.rows import CONSENSUS, SIMULATED_CONSENSUS, Row, percent
from scoring.core.agreement import (
    Agreement,
    alpha_interval,
    consensus,
    pairwise_s1_interval,
)
from scoring.core.s1 import score_many

Units = Sequence[Sequence[Sequence[str] | None]]


@dataclass(frozen=True)
class Consensus:
    """The answer of more than half of the annotators, scored like any answer: a row of its
    own, never mixed with the mean annotator."""

    mean: float | None
    items: int


@dataclass(frozen=True)
class Accord:
    consensus: Consensus
    # Alpha with the MASI distance; nominal alpha on empty against non-empty; mean S1 of
    # pairs. On the scale of [-1, 1] and [0, 1]; intervals by bootstrap over contexts.
    masi: Agreement
    empty: Agreement
    pairwise_s1: Agreement


def accord_of_plain(kept: Mapping[str, Any]) -> Accord:
    """As a kept analysis holds it (to_json.py)."""
    return Accord(
        consensus=Consensus(**kept["consensus"]),
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
        consensus=_consensus(cell, units),
        masi=alpha_interval(units, cell.clusters, distance="masi", rng=chance()),
        empty=alpha_interval(units, cell.clusters, distance="empty", rng=chance()),
        pairwise_s1=pairwise_s1_interval(units, cell.clusters, rng=chance()),
    )


def consensus_row(cell: Cell) -> Row:
    """Of a cell of several people."""
    found = _consensus(cell, _units(cell))
    return Row(
        kind="consensus",
        study=cell.study.slug if cell.study else None,
        system=SIMULATED_CONSENSUS if cell.simulated else CONSENSUS,
        task=cell.task.slug,
        shots=cell.shots,
        mean=found.mean,
        n=int(cell.answered.sum()),
        references=cell.references,
        gold_version=cell.gold_version,
        coverage=found.items / len(cell.example_ids),
    )


def _units(cell: Cell) -> Units:
    """By item, each annotator's answer; None where they did not see it."""
    given = judged_answers([member.pk for member in cell.members])
    return [[answers.get(pk) for answers in given.values()] for pk in cell.example_ids]


def _consensus(cell: Cell, units: Units) -> Consensus:
    golds = {
        pk: gold
        for vector in cell.vectors
        for pk, gold in zip(vector.items.example_ids, vector.items.golds, strict=True)
    }
    answered = [
        (pk, unit)
        for pk, unit in zip(cell.example_ids, units, strict=True)
        if any(answer is not None for answer in unit)
    ]
    scores = score_many(
        [consensus(unit) for _, unit in answered],
        np.arange(len(answered)),
        [golds[pk] for pk, _ in answered],
        references=cell.references,
    )
    return Consensus(percent(scores.mean()) if len(scores) else None, len(scores))

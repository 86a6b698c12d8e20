"""One row of a comparison, and the figures in it: scores in percent, unrounded."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from math import isnan
from typing import Any

import numpy as np

from scoring.core.intervals import CellInterval, cluster_scores
from scoring.core.splits import split_interval
from scoring.matrices import Floats, ScoredItems, side_by_side

KINDS = ("human", "annotator", "run", "reported", "simulated")
NOT_EXPORTED = {"exported": False}


@dataclass(frozen=True)
class Row:
    """The exported columns, in their order, None where a thing does not apply; then what
    the tables say beside them."""

    kind: str
    study: str | None = None
    system: str | None = None
    method: str | None = None
    task: str = ""
    shots: int | str | None = None
    split: int | None = None
    mean: float | None = None
    sd: float | None = None
    n: int | None = None
    m: int | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    ci_method: str | None = None
    estimand: str | None = None
    references: str | None = None
    gold_version: int | None = None
    coverage: float | None = None
    parameters: str = field(default="", metadata=NOT_EXPORTED)
    source: str = field(default="", metadata=NOT_EXPORTED)
    single: bool = field(default=False, metadata=NOT_EXPORTED)  # one person, not a cell


COLUMNS = tuple(each.name for each in fields(Row) if each.metadata.get("exported", True))


def as_plain(row: Row) -> dict[str, Any]:
    return {column: getattr(row, column) for column in COLUMNS}


@dataclass(frozen=True)
class Vector:
    """The scores of one assignment or run on one test set, and the unit they are nested in."""

    items: ScoredItems
    scores: Floats
    split: object


def cell_row(row: Row, vectors: Sequence[Vector], *, estimand: str, seed: int) -> Row:
    """The row with the figures of one cell: several people or runs on the same task."""
    matrix, _, clusters = side_by_side([(vector.items, vector.scores) for vector in vectors])
    coverage = covered(vectors)
    answered = matrix[~np.isnan(matrix).all(axis=1)]
    if not len(answered):
        return replace(row, n=len(vectors), coverage=coverage, estimand=estimand)
    kept = [v.split for v, line in zip(vectors, matrix, strict=True) if not np.isnan(line).all()]
    figures = split_interval(
        cluster_scores(answered, clusters),
        [str(split) for split in kept],
        estimand=estimand,
        rng=np.random.default_rng(seed),
    )
    has_interval = figures.cell.method != "none"
    return replace(
        row,
        mean=percent(figures.cell.mean),
        sd=percent(figures.annotator_sd),
        n=figures.annotators,
        m=figures.cell.m if has_interval else None,
        ci_low=percent(figures.cell.low),
        ci_high=percent(figures.cell.high),
        ci_method=_method(figures.cell, figures.annotators) if has_interval else None,
        estimand=estimand if has_interval else None,
        coverage=coverage,
    )


def single_row(row: Row, vector: Vector) -> Row:
    """The row with the figures of one person: mean and SD over the items, no interval."""
    scores = vector.scores[~np.isnan(vector.scores)]
    return replace(
        row,
        mean=percent(scores.mean()) if len(scores) else None,
        sd=percent(scores.std(ddof=1)) if len(scores) > 1 else None,
        n=len(scores),
        coverage=covered([vector]),
        single=True,
    )


def covered(vectors: Sequence[Vector]) -> float:
    """The share of the items of their test sets that have an answer."""
    answered = sum(int((~np.isnan(vector.scores)).sum()) for vector in vectors)
    return answered / sum(len(vector.items) for vector in vectors)


def percent(score: float) -> float | None:
    return None if isnan(score) else 100 * float(score)


def _method(cell: CellInterval, annotators: int) -> str:
    """The interval's method; where several annotators share a split, the split is its unit."""
    return cell.method if cell.n == annotators else f"{cell.method} over {cell.n} splits"

"""One row of a comparison, and the figures in it: scores in percent, unrounded."""

from dataclasses import dataclass, field, fields, replace
from math import isnan
from typing import Any

import numpy as np

from scoring.comparison.cells import Cell, Choices, Vector
from scoring.core.episodes import episode_score
from scoring.core.intervals import (
    EXPLORATORY_BELOW,
    CellInterval,
    cluster_scores,
    guard_band,
)
from scoring.core.normalisation import NONE
from scoring.core.splits import SplitInterval, split_interval

PEOPLE = "Human"
SIMULATED = "Simulated annotators"
CONSENSUS = "Consensus"
SIMULATED_CONSENSUS = "Consensus, simulated"
EPISODE_BOOTSTRAP = "episode-bootstrap"
NOT_EXPORTED = {"exported": False}


@dataclass(frozen=True)
class Row:
    """The exported columns, in their order, None where a thing does not apply; then what
    the tables say beside them."""

    kind: str  # human, annotator, run, reported or simulated
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
    # None of a published figure, which does not say.
    normalisation: str | None = None
    parameters: str = field(default="", metadata=NOT_EXPORTED)
    source: str = field(default="", metadata=NOT_EXPORTED)
    # Beside the interval of a small group, on the plain scale: not wider at each of its ends.
    guard_low: float | None = field(default=None, metadata=NOT_EXPORTED)
    guard_high: float | None = field(default=None, metadata=NOT_EXPORTED)
    single: bool = field(default=False, metadata=NOT_EXPORTED)  # one person, not a cell
    # What the interval is over: annotators, or splits where several annotators share one.
    units: int | None = field(default=None, metadata=NOT_EXPORTED)

    @property
    def scored_under(self) -> str:
        """The reference policy, and the normalisation where there is any."""
        return scored_under(self.references, self.normalisation)

    @property
    def is_exploratory(self) -> bool:
        """Of people: too few for a claim of better or worse, by the unit of their interval."""
        units = self.units or self.n
        return units is not None and 1 < units < EXPLORATORY_BELOW


def scored_under(references: str | None, normalisation: str | None) -> str:
    """Such as “any” or “any, squad-normalised”."""
    named = f"{normalisation}-normalised" if normalisation not in (None, NONE) else ""
    return ", ".join(filter(None, [references, named]))


COLUMNS = tuple(each.name for each in fields(Row) if each.metadata.get("exported", True))


def as_plain(row: Row) -> dict[str, Any]:
    return {column: getattr(row, column) for column in COLUMNS}


def cell_row(cell: Cell, choices: Choices) -> Row:
    """The figures of one cell: several people or runs on the same task."""
    row = _described(cell)
    if not cell.answered.any():
        return replace(row, n=len(cell.members))
    if cell.is_of_episodes:
        return replace(row, **_over_episodes(cell, choices))
    figures = cell_figures(cell, choices)
    has_interval = figures.cell.method != "none"
    # People are counted one by one, a system by its splits.
    sd, n = figures.annotator_sd, figures.annotators
    if cell.study is None:
        sd, n = figures.cell.sd, figures.cell.n
    return replace(
        row,
        mean=percent(figures.cell.mean),
        sd=percent(sd),
        n=n,
        m=figures.cell.m if has_interval else None,
        ci_low=percent(figures.cell.low),
        ci_high=percent(figures.cell.high),
        ci_method=_method(figures.cell, n) if has_interval else None,
        estimand=choices.estimand if has_interval else None,
        units=figures.cell.n,
        **_guard(cell, figures.cell, choices),
    )


def cell_figures(cell: Cell, choices: Choices) -> SplitInterval:
    return split_interval(
        cluster_scores(cell.scores, cell.clusters),
        cell.splits,
        estimand=choices.estimand,
        rng=np.random.default_rng(choices.seed),
    )


def annotator_rows(cell: Cell) -> list[Row]:
    """Each person of a cell: mean and SD over the items, no interval."""
    row = _described(cell)
    kind = "simulated" if cell.simulated else "annotator"
    return [
        replace(
            row,
            kind=kind,
            system=member.annotator.pseudonym,
            split=member.batch.split,
            single=True,
            **_over_items(vector),
        )
        for member, vector in zip(cell.members, cell.vectors, strict=True)
    ]


def percent(score: float) -> float | None:
    return None if isnan(score) else 100 * float(score)


def _over_episodes(cell: Cell, choices: Choices) -> dict[str, Any]:
    """As FLEX reports it: mean and SD (ddof 0) over episodes, and the percentile bootstrap over
    them. Which episodes come is what varies, so there is no interval for just these items."""
    by_episode: dict[str, list[float]] = {}
    for split, scores in zip(cell.splits, cell.scores, strict=True):
        by_episode.setdefault(split, []).append(float(np.nanmean(scores)))
    found = episode_score(
        [np.mean(those) for those in by_episode.values()], rng=np.random.default_rng(choices.seed)
    )
    figures = {"mean": percent(found.mean), "sd": percent(found.sd), "units": found.episodes}
    figures["n"] = found.episodes if cell.study is None else len(cell.splits)
    if found.episodes < 2 or choices.estimand != "new_items":
        return figures
    return figures | {
        "m": found.episodes,
        "ci_low": percent(found.low),
        "ci_high": percent(found.high),
        "ci_method": EPISODE_BOOTSTRAP,
        "estimand": choices.estimand,
    }


def _guard(cell: Cell, figures: CellInterval, choices: Choices) -> dict[str, float | None]:
    if cell.study is None or not figures.exploratory or figures.estimand != "new_items":
        return {}
    units = cluster_scores(cell.units, cell.clusters)
    band = guard_band(units, rng=np.random.default_rng(choices.seed))
    if band.method != "guard":  # nothing varies, or one annotator
        return {}
    return {"guard_low": percent(band.low), "guard_high": percent(band.high)}


def _described(cell: Cell) -> Row:
    kind = "run" if cell.study is None else "simulated" if cell.simulated else "human"
    people = SIMULATED if cell.simulated else PEOPLE
    return Row(
        kind=kind,
        study=cell.study.slug if cell.study else None,
        system=cell.system or people,
        method=cell.method or None,
        task=cell.task.slug,
        shots=cell.shots,
        references=cell.references,
        normalisation=cell.normalisation,
        gold_version=cell.gold_version,
        coverage=cell.coverage,
        parameters=cell.parameters,
    )


def _over_items(vector: Vector) -> dict[str, Any]:
    scores = vector.scores[~np.isnan(vector.scores)]
    return {
        "mean": percent(scores.mean()) if len(scores) else None,
        "sd": percent(scores.std(ddof=1)) if len(scores) > 1 else None,
        "n": len(scores),
        "coverage": len(scores) / len(vector.items),
    }


def _method(cell: CellInterval, n: int) -> str:
    """The interval's method; where several annotators share a split, the split is its unit."""
    return cell.method if cell.n == n else f"{cell.method} over {cell.n} splits"

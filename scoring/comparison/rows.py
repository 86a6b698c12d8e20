"""One row of a comparison, and the figures in it: scores in percent, unrounded."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan
from statistics import median
from typing import Any

import numpy as np
from django.utils.translation import gettext_lazy as _

from scoring.comparison.cells import Cell, Choices, Vector
from scoring.core.episodes import episode_score
from scoring.core.intervals import (
    EXPLORATORY_BELOW,
    CellInterval,
    cluster_scores,
    guard_band,
)
from scoring.core.splits import SplitInterval, split_interval
from scoring.tables.table import Column

PEOPLE = "Human"
SIMULATED = "Simulated annotators"
CONSENSUS = "Consensus"
SIMULATED_CONSENSUS = "Consensus, simulated"
EPISODE_BOOTSTRAP = "episode-bootstrap"


@dataclass(frozen=True)
class Row:
    """The exported columns in order, None where something does not apply; then what the tables show
    beside them."""

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
    median_item_s: float | None = None
    parameters: str = ""
    source: str = ""
    # Beside the interval of a small group, on the plain scale: not necessarily wider at either end.
    guard_low: float | None = None
    guard_high: float | None = None
    single: bool = False  # one person, not a cell
    # What the interval is over: annotators, or splits where several annotators share one.
    units: int | None = None

    @property
    def is_exploratory(self) -> bool:
        """For people: too few for a claim of better or worse, by the unit of their interval."""
        units = self.units or self.n
        return units is not None and 1 < units < EXPLORATORY_BELOW


# The headings are those of the table of annotators. What has its own unit is also given beneath the
# score of people.
COLUMNS = (
    Column(
        "kind",
        _("Kind"),
        "human: a cell of a study (task × shots); annotator: one person in it; run: a system "
        "over its splits; reported: a figure known only as published; simulated: a cell of "
        "simulated annotators, or one of them by pseudonym; consensus (on a sheet of its own): "
        "what more than half of a cell's annotators chose, scored like one answer.",
        is_number=False,
    ),
    Column(
        "study",
        _("Study"),
        "The study's slug; empty for runs and published figures.",
        is_number=False,
    ),
    Column(
        "system",
        _("Annotator"),
        "The system's name; for an annotator the pseudonym; for people Human.",
        is_number=False,
        is_name=True,
    ),
    Column(
        "method",
        _("Method"),
        "FT, PT, ICL or another way of adapting a system; empty for people.",
        is_number=False,
    ),
    Column("task", _("Task"), "The task's slug.", is_number=False),
    Column(
        "shots",
        _("Shots"),
        "Number of training examples; 0 is zero-shot, all is fully supervised; few: episodes "
        "that have any.",
    ),
    Column(
        "split",
        _("Split"),
        "The training split of one annotator; empty for a figure over splits.",
    ),
    Column(
        "mean",
        _("Mean S1, %"),
        "Mean S1 in percent, every item counting equally; for a cell, the mean over its "
        "annotators.",
        digits=1,
    ),
    Column(
        "sd",
        _("SD over items"),
        "Sample SD (ddof 1) in percent points: over annotators (human), over splits (run), over "
        "items (annotator); as published (reported). For episodes, the SD (ddof 0) over them.",
        digits=1,
    ),
    Column(
        "n",
        _("Items"),
        "Annotators (human), splits (run), items with an answer (annotator), as published "
        "(reported).",
    ),
    Column(
        "m",
        "m",
        "Item clusters behind the interval: items that share a context count as one. For episodes, "
        "their number.",
    ),
    Column("ci_low", _("95 % low"), "Lower limit of the 95 % interval, in percent.", digits=1),
    Column("ci_high", _("95 % high"), "Upper limit of the 95 % interval, in percent.", digits=1),
    Column(
        "ci_method",
        _("Method"),
        "How the interval was computed; with several annotators in a split it is over splits.",
        is_number=False,
    ),
    Column(
        "estimand",
        _("Interval for"),
        "new_items: how other people would do on other items like these; these_items: on exactly "
        "this test set.",
        is_number=False,
    ),
    Column(
        "references",
        _("References"),
        "How several reference answers count: set (their union), any (the best one), unknown (a "
        "published figure that does not say).",
        is_number=False,
    ),
    Column(
        "gold_version",
        _("Gold version"),
        "The version of the task's reference answers that was scored against.",
    ),
    Column(
        "coverage",
        _("Coverage"),
        "Share of the items that have an answer, in [0, 1]; the mean is over these only.",
        digits=3,
    ),
    Column(
        "median_item_s",
        _("Median time"),
        "For people (human, annotator, simulated), the median over their test answers of the "
        "seconds from showing the item to storing the answer, by the server's clock and without "
        "the cap on pay: a cap would hide slow items, and a median tolerates a long pause.",
        unit=_("s per item"),
        digits=1,
    ),
)
KEYS = tuple(column.key for column in COLUMNS)


def as_plain(row: Row) -> dict[str, Any]:
    return {key: getattr(row, key) for key in KEYS}


def cell_row(cell: Cell, choices: Choices) -> Row:
    """The figures of one cell: several people or runs on the same task."""
    seconds = [each for member in cell.item_seconds for each in member]
    row = replace(_described(cell), median_item_s=_median(seconds))
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
    """Each person in a cell: mean and SD over the items, no interval."""
    row = _described(cell)
    kind = "simulated" if cell.simulated else "annotator"
    return [
        replace(
            row,
            kind=kind,
            system=member.annotator.pseudonym,
            split=member.batch.split,
            single=True,
            median_item_s=_median(seconds),
            **_over_items(vector),
        )
        for member, vector, seconds in zip(
            cell.annotators, cell.vectors, cell.item_seconds, strict=True
        )
    ]


def percent(score: float) -> float | None:
    return None if isnan(score) else 100 * float(score)


def _median(seconds: Sequence[float]) -> float | None:
    return median(seconds) if seconds else None


def _over_episodes(cell: Cell, choices: Choices) -> dict[str, Any]:
    """As FLEX reports it: mean and SD (ddof 0) over episodes, and the percentile bootstrap over
    them. What varies is which episodes are drawn, so there is no interval for just these items."""
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


def _guard(cell: Cell, figures: CellInterval, choices: Choices) -> dict[str, Any]:
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

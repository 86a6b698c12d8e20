"""How sure the figures of a cell are: both intervals, the guard band, where scores vary; what its
annotators answer together, and how far they agree. Each column stands beside what fills it."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from scoring.cells.cell_rows import Units, answers_by_item, cell_figures
from scoring.cells.cells import Cell, known, percent
from scoring.cells.rows import BY_KEY, Row
from scoring.cells.scope import Choices
from scoring.core.agreement import Agreement, alpha_interval, pairwise_s1_interval
from scoring.core.intervals import NO_INTERVAL, PAIR, CellInterval, guard_band
from scoring.core.s1 import consensus, score_many
from scoring.core.variance import variance_components
from scoring.tables.table import Column, points, words

# A line of a table, by the keys of its columns, as it is kept.
Record = Mapping[str, Any]
_variance = partial(Column, digits=4)
# One other person is no consensus.
FEWEST_OTHERS = 2

_NEW = "The 95 % interval for other people on other items like these, in percent."
_THESE = "The 95 % interval for other people on exactly this test set, in percent."
_GUARD = "The guard band, in percent; of two people, in place of the interval."
UNCERTAINTY = (
    points("mean", "Mean", "Mean S1 in percent over the cell's annotators."),
    points("sd", "SD", "Sample SD (ddof 1) over annotators, in percent points."),
    points(
        "sd_ddof0", "SD (ddof 0)", "SD over annotators with n instead of n – 1, in percent points."
    ),
    Column("n", "n", "Annotators in the cell."),
    Column("m", "m", "Item clusters: items that share a context count as one."),
    points("new_items_low", "New items, low", _NEW),
    points("new_items_high", "New items, high", _NEW),
    points("new_items_df", "df", "Degrees of freedom of the interval for new items."),
    words("new_items_method", "New items, method", "How the interval for new items was computed."),
    points("guard_low", "Guard band, low", _GUARD),
    points("guard_high", "Guard band, high", _GUARD),
    points("these_items_low", "These items, low", _THESE),
    points("these_items_high", "These items, high", _THESE),
    words(
        "these_items_method",
        "These items, method",
        "How the interval for these items was computed.",
    ),
    _variance(
        "annotator_var",
        "Annotator variance",
        "How much annotators differ, as a variance of scores in [0, 1].",
    ),
    _variance(
        "item_var", "Item variance", "How much item clusters differ in difficulty, as a variance."
    ),
    _variance(
        "residual_var",
        "Residual variance",
        "The variance that neither annotators nor item clusters explain.",
    ),
    BY_KEY["without_low"],
    BY_KEY["without_high"],
    BY_KEY["flagged"],
    Column("splits", "Splits", "Training sets that the annotators learned from."),
    BY_KEY["shot_sets"],
    _variance(
        "split_var",
        "Variance between splits",
        "How much the splits differ; empty for a single one.",
    ),
    _variance(
        "within_split_var",
        "Variance within splits",
        "How much annotators of one split differ; empty if nobody shares one.",
    ),
    BY_KEY["notes"],
)


def uncertainty(cell: Cell, choices: Choices) -> Record:
    """Of a cell in which somebody answered something."""
    new, these = (
        cell_figures(cell, replace(choices, estimand=estimand))
        for estimand in ("new_items", "these_items")
    )
    parts = variance_components(cell.clustered)
    means = np.nanmean(cell.scores, axis=1)
    without = cell.without_each
    return {
        "mean": percent(new.cell.mean),
        "sd": percent(float(means.std(ddof=1))) if len(means) > 1 else None,
        "sd_ddof0": percent(float(means.std())) if len(means) > 1 else None,
        "n": new.annotators,
        "m": new.cell.m,
        # Of two people, the guard band stands in place of the interval for new items.
        **_interval("new_items", None if new.cell.n == PAIR else new.cell),
        **_interval("these_items", these.cell),
        **_interval("guard", guard_band(cell.clustered) if new.cell.n == PAIR else None),
        "without_low": percent(without.low),
        "without_high": percent(without.high),
        "flagged": without.flagged,
        "annotator_var": known(parts.annotator),
        "item_var": known(parts.item),
        "residual_var": known(parts.residual),
        "splits": len(set(cell.splits)),
        "shot_sets": new.shot_sets if new.splits > 1 else None,
        "split_var": known(new.split_var),
        "within_split_var": known(new.annotator_var),
        "notes": " ".join(dict.fromkeys((*new.cell.notes, *these.cell.notes))),
    }


def _interval(name: str, interval: CellInterval | None) -> Record:
    """In percent; None where undefined."""
    if interval is None:
        return {f"{name}_method": NO_INTERVAL}
    return {
        f"{name}_low": percent(interval.low),
        f"{name}_high": percent(interval.high),
        f"{name}_df": known(interval.df),
        f"{name}_method": interval.method,
    }


_LIMIT = "A limit of its 95 % interval, by bootstrap over contexts."
_CONSENSUS = "Its 95 % interval by bootstrap over contexts: these people, other items."
AGREEMENT = (
    points(
        "consensus",
        "Consensus S1, %",
        "Mean S1 in percent of what more than half of the annotators chose.",
    ),
    points("consensus_low", "Consensus, low", _CONSENSUS),
    points("consensus_high", "Consensus, high", _CONSENSUS),
    Column("n", "n", "Annotators in the cell."),
    Column("items", "Items", "Items that anybody answered."),
    points(
        "against_others",
        "Against the others",
        "Mean S1 in percent of each annotator against the consensus of the others, in "
        "place of the gold: what lies above it may be noise in the labels. Three "
        "annotators or more.",
    ),
    # Krippendorff's and the like, each with its interval.
    *(
        Column(f"{name}{end}", f"{title}{limit}", _LIMIT if limit else meaning, digits=2)
        for name, title, meaning in (
            (
                "masi",
                "α, MASI",
                "Krippendorff's α with the MASI distance between two answers: 1 is full "
                "agreement, 0 what chance gives.",
            ),
            (
                "pairwise_s1",
                "S1 of pairs",
                "Mean S1 of two annotators' answers against each other, from 0 to 1.",
            ),
            ("nominal", "α, nominal", "Krippendorff's α on whether two answers are the same set."),
        )
        for end, limit in (("", ""), ("_low", ", 95 % low"), ("_high", ", 95 % high"))
    ),
)


def agreement(cell: Cell, together: Row | None, *, seed: int) -> Record:
    """Of a cell of two people or more, with the row of what they answer together."""
    units = answers_by_item(cell)

    def chance() -> np.random.Generator:
        return np.random.default_rng(seed)

    return {
        "consensus": together.mean if together else None,
        "consensus_low": together.ci_low if together else None,
        "consensus_high": together.ci_high if together else None,
        "n": len(cell.scores),
        "items": together.items if together else None,
        "against_others": _against_others(units, cell.references),
        **_limits("masi", alpha_interval(units, cell.clusters, distance="masi", rng=chance())),
        **_limits("pairwise_s1", pairwise_s1_interval(units, cell.clusters, rng=chance())),
        **_limits(
            "nominal", alpha_interval(units, cell.clusters, distance="nominal", rng=chance())
        ),
    }


def _limits(name: str, found: Agreement) -> Record:
    return {
        name: known(found.value),
        f"{name}_low": known(found.low),
        f"{name}_high": known(found.high),
    }


def _against_others(units: Units, references: str) -> float | None:
    """In percent; None of two, whose other has no consensus. Whoever exceeds by the gold what
    people reach against one another may have learned the noise of the labels."""
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

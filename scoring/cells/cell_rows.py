"""The rows of a comparison, in percent and unrounded: those of cells, of each of their annotators,
of what more than half of these answer, and of what was published. Beside them, what no skill earns.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from math import nan
from statistics import median
from typing import Any

import numpy as np

from annotation.benchmarks.material import TestMaterial, ceiling_score, floor_scores, floors_of
from annotation.models import Benchmark, Task
from scoring.cells.cells import Cell, Vector, known, percent
from scoring.cells.rows import (
    CEILING,
    CONSENSUS,
    EPISODE_BOOTSTRAP,
    MEASURED,
    OTHER,
    SIMULATED_CONSENSUS,
    Bound,
    Row,
    RowKind,
    released,
)
from scoring.cells.scope import Choices
from scoring.cells.vectors import Floats, is_well_formed, judged_answers
from scoring.core import bootstrap, intervals
from scoring.core.comparison import FEWEST_RUNS
from scoring.core.normalisation import normalised
from scoring.core.s1 import consensus, score_many
from scoring.models import ReportedScore, shots_label
from scoring.models.run import shows_no_skill


def cell_row(cell: Cell, choices: Choices, *, matched: bool = False) -> Row:
    """The figures of one cell: several people or runs on the same task. `matched` says that a
    system's figures rest on the people's items and shot sets, as people's own do."""
    seconds = [item_s for member in cell.item_seconds for item_s in member]
    row = replace(
        _described(cell),
        group=choices.items or None,
        matched=matched or cell.study is not None,
        median_item_s=median(seconds) if seconds else None,
        released=_released(cell, choices, matched=matched) if cell.study is None else None,
    )
    if not cell.answered.any():
        return replace(row, n=len(cell.members))
    if cell.is_of_episodes:
        return replace(row, **_over_episodes(cell, choices), **_answers_per_item(cell))
    figures = cell_figures(cell, choices)
    interval = _interval_shown(cell, figures, choices)
    has_interval = interval is not None and interval.method != intervals.NO_INTERVAL
    return replace(
        row,
        mean=percent(figures.cell.mean),
        sd=percent(_sd(cell.scores)),
        n=len(cell.scores),
        m=figures.cell.m,
        ci_low=percent(interval.low) if interval else None,
        ci_high=percent(interval.high) if interval else None,
        ci_method=interval.method if interval and has_interval else None,
        estimand=choices.estimand if has_interval else None,
        se=percent(figures.cell.se),
        df=known(figures.cell.df),
        **_of_people(cell, figures),
    )


def _interval_shown(
    cell: Cell, figures: intervals.SplitInterval, choices: Choices
) -> intervals.CellInterval | None:
    """The interval that the row shows; None for a system with too few runs."""
    if cell.study is None:
        return figures.cell if len(cell.scores) >= FEWEST_RUNS else None
    if figures.cell.n == intervals.PAIR and choices.estimand == "new_items":
        # One answer of two people can move a limit by 40 points.
        return intervals.guard_band(cell.scores, clusters=cell.clusters)
    return figures.cell


def cell_figures(cell: Cell, choices: Choices) -> intervals.SplitInterval:
    """Compute the interval of a cell: over its people, for these shot sets or for new ones as well,
    or over a system's runs. With too few splits there is no interval for new shot sets, and a note
    says so."""
    sets = choices.shot_sets if cell.study is not None else "these"
    about: Any = {"clusters": cell.clusters, "estimand": choices.estimand}
    try:
        return intervals.split_interval(cell.scores, cell.splits, shot_sets=sets, **about)
    except ValueError as error:
        # The splits are what it refuses: the scores of a cell have been checked before.
        if sets == "these":
            raise
        figures = intervals.split_interval(cell.scores, cell.splits, **about)
        nothing: Any = dict.fromkeys(("low", "high", "se", "df"), nan)
        cell_alone = replace(
            figures.cell, **nothing, method=intervals.NO_INTERVAL, notes=(str(error),)
        )
        return replace(figures, cell=cell_alone, shot_sets="new")


def annotator_rows(cell: Cell) -> list[Row]:
    """Each person in a cell: mean and SD over the items, no interval."""
    row = _described(cell)
    kind = RowKind.ANNOTATOR if cell.kind == RowKind.HUMAN else cell.kind
    is_flagged = _who_is_flagged(cell)
    return [
        replace(
            row,
            kind=kind,
            system=member.annotator.pseudonym,
            split=member.batch.split,
            single=True,
            matched=True,
            median_item_s=median(seconds) if seconds else None,
            flagged=1 if apart else None,
            **_over_items(cell, vector),
        )
        for member, vector, seconds, apart in zip(
            cell.annotators, cell.vectors, cell.item_seconds, is_flagged, strict=True
        )
    ]


def _who_is_flagged(cell: Cell) -> list[bool]:
    """Whether each annotator of a cell differs much from the others. Over episodes nobody is
    compared, nor is who answered nothing, or has no others beside them."""
    is_flagged = np.zeros(len(cell.answered), dtype=bool)
    if cell.answered.sum() > 1 and not cell.is_of_episodes:
        compared = cell.without_each.annotators
        is_flagged[cell.answered] = [annotator.flagged for annotator in compared]
    return list(is_flagged)


def _over_episodes(cell: Cell, choices: Choices) -> dict[str, Any]:
    """FLEX's figures: mean and SD (ddof 0) over episodes, and the percentile bootstrap over them.
    What varies is which episodes are drawn, so there is no interval for just these items."""
    by_episode: dict[str, list[float]] = {}
    for split, scores in zip(cell.splits, cell.scores, strict=True):
        by_episode.setdefault(split, []).append(float(np.nanmean(scores)))
    score = bootstrap.episode_score(
        [np.mean(of_episode) for of_episode in by_episode.values()],
        rng=np.random.default_rng(choices.seed),
    )
    figures = {"mean": percent(score.mean), "sd": percent(score.sd), "m": score.episodes}
    figures["n"] = score.episodes if cell.study is None else len(cell.splits)
    if score.episodes < 2 or choices.estimand != "new_items":
        return figures
    return figures | {
        "ci_low": percent(score.low),
        "ci_high": percent(score.high),
        "ci_method": EPISODE_BOOTSTRAP,
        "estimand": choices.estimand,
        "notes": bootstrap.COVERS_LESS if score.episodes < bootstrap.ENOUGH_EPISODES else None,
    }


def _of_people(cell: Cell, figures: intervals.SplitInterval) -> dict[str, Any]:
    if cell.study is None:
        return {}
    without = cell.without_each
    checked = f"No zero-shot cell: {cell.after_checks}." if cell.after_checks else ""
    # A mean over splits of unequal size differs from that over people: each split weighs alike.
    has_other_mean = abs(figures.cell.mean - float(np.nanmean(cell.scores, axis=0).mean())) > 1e-9
    by_split = "The mean is that of the splits' means." if has_other_mean else ""
    notes = [*figures.cell.notes, checked, by_split]
    return {
        **_answers_per_item(cell),
        "after_checks": cell.after_checks,
        "notes": " ".join(filter(None, notes)) or None,
        "items": len(cell.seen),
        "splits": figures.splits,
        "shot_sets": figures.shot_sets if figures.splits > 1 else None,
        "without_low": percent(without.low),
        "without_high": percent(without.high),
        "flagged": without.flagged or None,
    }


def _answers_per_item(cell: Cell) -> dict[str, Any]:
    if cell.study is None:
        return {}
    answers = (~np.isnan(cell.scores)).sum(axis=0)
    return {"answers_an_item": (int(answers.min()), int(answers.max()))}


def _released(cell: Cell, choices: Choices, *, matched: bool) -> dict[str, Any] | None:
    """A system for whoever may not see the gold: mean and SD over what each run shows by itself.
    Another policy or version of the gold would be a second figure of the same answers."""
    is_own = cell.references == cell.task.reference_policy and choices.are_own
    if not is_own or not all(map(is_well_formed, cell.runs)):
        return None
    if any(np.isnan(vector.scores).any() for vector in cell.vectors):
        return None
    is_whole = all(len(vector.items) == len(cell.example_ids) for vector in cell.vectors)
    means = [released(100 * float(vector.scores.mean())) for vector in cell.vectors]
    return {
        "mean": released(float(np.mean(means))),
        "sd": released(float(np.std(means, ddof=1))) if len(means) > 1 else None,
        "n": len(means),
        "m": len({cluster for vector in cell.vectors for cluster in vector.items.clusters}),
        "matched": matched and is_whole,
    }


def _sd(scores: Floats) -> float:
    """Over the rows' means, which count every item alike."""
    means = np.nanmean(scores, axis=1)
    return float(means.std(ddof=1)) if len(means) > 1 else np.nan


def _described(cell: Cell) -> Row:
    return Row(
        kind=cell.kind,
        study=cell.study.slug if cell.study else None,
        system=cell.system or MEASURED[cell.kind],
        method=cell.method or None,
        task=cell.task.slug,
        shots=cell.shots,
        pool=cell.pool or None,
        references=cell.references,
        normalisation=cell.task.normalisation,
        gold_version=cell.gold_version,
        coverage=cell.coverage,
        parameters=cell.parameters,
        source=cell.study.source if cell.study else "",
        is_of_episodes=cell.is_of_episodes,
        shows_no_skill=any(shows_no_skill(run.report) for run in cell.runs),
        was_to_reason=any(run.was_to_reason for run in cell.runs),
    )


def _over_items(cell: Cell, vector: Vector) -> dict[str, Any]:
    is_in_scope = [cell.only is None or pk in cell.only for pk in vector.items.example_ids]
    is_answered = ~np.isnan(vector.scores) & is_in_scope
    scores = vector.scores[is_answered]
    answered = compress(vector.items.clusters, is_answered)
    return {
        "mean": percent(scores.mean()) if len(scores) else None,
        "sd": percent(scores.std(ddof=1)) if len(scores) > 1 else None,
        "n": len(scores),
        "m": len(set(answered)),
        "coverage": len(scores) / max(sum(is_in_scope), 1),
    }


BOOTSTRAP = "bootstrap"
FEWEST_CONTEXTS = 2
AnswersByItem = Sequence[Sequence[Sequence[str] | None]]
# S1 of the items that anybody answered, and their contexts.
ConsensusScores = tuple[Floats, tuple[str, ...]]


def answers_by_item(cell: Cell) -> AnswersByItem:
    """What every annotator answered, by item, as S1 compares it; None where one did not see it."""
    judged = judged_answers([member.pk for member in cell.members]).values()
    compared = [
        {pk: normalised(answer, cell.task.normalisation) for pk, answer in answers.items()}
        for answers in judged
    ]
    return [[answers.get(pk) for answers in compared] for pk in cell.example_ids]


def consensus_scores(cell: Cell) -> ConsensusScores:
    """Score what more than half of those answered who saw an item, item by item."""
    golds = {
        pk: gold
        for vector in cell.vectors
        for pk, gold in zip(vector.items.example_ids, vector.items.compared, strict=True)
    }
    answered = [
        (pk, context, answers)
        for pk, context, answers in zip(
            cell.example_ids, cell.clusters, answers_by_item(cell), strict=True
        )
        if any(answer is not None for answer in answers)
    ]
    scores = score_many(
        [consensus(answers) for _, _, answers in answered],
        np.arange(len(answered)),
        [golds[pk] for pk, _, _ in answered],
        references=cell.references,
    )
    return scores, tuple(context for _, context, _ in answered)


def consensus_row(cell: Cell, scored: ConsensusScores, *, seed: int) -> Row:
    """The row of what several people of a cell answer together."""
    scores, contexts = scored
    low, high = consensus_limits([scored], seed=seed) if len(scores) else (None, None)
    has_interval = low is not None
    return replace(
        _described(cell),
        kind=RowKind.CONSENSUS,
        system=SIMULATED_CONSENSUS if cell.simulated else CONSENSUS,
        is_of_episodes=False,
        mean=percent(float(scores.mean())) if len(scores) else None,
        n=int(cell.answered.sum()),
        m=len(set(contexts)),
        matched=True,
        ci_low=low,
        ci_high=high,
        ci_method=BOOTSTRAP if has_interval else None,
        estimand="new_items" if has_interval else None,
        coverage=len(scores) / len(cell.example_ids),
        items=len(scores),
    )


def consensus_limits(
    tasks: Sequence[ConsensusScores], *, seed: int
) -> tuple[float | None, float | None]:
    """The limits, in percent, of the mean over these tasks, for other items like these: the people
    are fixed. There are none where a task has fewer than two contexts."""
    if any(len(set(contexts)) < FEWEST_CONTEXTS for _, contexts in tasks):
        return None, None
    low, high = bootstrap.consensus_interval(tasks, rng=np.random.default_rng(seed))
    return percent(low), percent(high)


def bounds(
    task: Task, references: str, gold_version: int, only: Collection[int] | None = None
) -> list[Bound]:
    """The floors and the ceiling of a task, over these examples or all of the test set."""
    material = TestMaterial(task, gold_version, only)
    if not material.test:
        return []
    bound = partial(
        Bound,
        task=task.slug,
        references=references,
        gold_version=gold_version,
        normalisation=task.normalisation,
    )
    scores = floor_scores(material, references)
    floors = [
        bound(
            rule=floor.rule,
            score=scores[floor.rule],
            label=floor.label,
            in_words=floor.in_words,
            is_floor=floor.is_allowed,
        )
        for floor in floors_of(material)
    ]
    return [*floors, bound(rule=CEILING, score=ceiling_score(material, references))]


def reported_rows(benchmark: Benchmark, tasks: Sequence[str] | None = None) -> list[Row]:
    """The published figures, as they were published, of all tasks or of these. In the table of a
    study, which names its tasks, they rest on other items than its people."""
    scores = ReportedScore.objects.filter(benchmark=benchmark)
    if tasks is not None:
        scores = scores.filter(task__in=tasks)
    return [
        Row(
            kind=RowKind.REPORTED,
            system=score.system,
            method=score.method or None,
            task=score.task,
            shots=shots_label(score.shots),
            mean=score.mean,
            sd=score.sd,
            n=score.n,
            references=score.references,
            parameters=score.parameters,
            source=score.source,
            matched=False,
            block="" if tasks is None else OTHER,
        )
        for score in scores.order_by("pk")
    ]

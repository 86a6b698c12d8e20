"""What may be said of differences between people and a system: ahead, behind, as good, or not
decided; and figures over tasks, each of which has people and items of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from scoring.core.comparison import PairedDifference, t_test
from scoring.core.intervals import CellInterval, check_level
from scoring.core.variance import NOTHING, Floats, t_chance, t_quantile, wilson_limits


@dataclass(frozen=True)
class TaskAggregate:
    """Over T tasks: the mean of their means, and the SD of that mean, √(Σ sd²)/T.

    root_sum_sd is √(Σ sd²), which the CLUES leaderboard prints in its place.
    """

    mean: float
    sd: float
    root_sum_sd: float
    tasks: int


def over_tasks(means: ArrayLike, sds: ArrayLike) -> TaskAggregate:
    """Combine one mean and one SD for each task; NaN wherever one of them is NaN."""
    mean, sd = np.asarray(means, float), np.asarray(sds, float)
    if mean.ndim != 1 or mean.shape != sd.shape or not mean.size:
        raise ValueError(f"There are {mean.size} means and {sd.size} SDs; give one pair per task.")
    root_sum = float(np.sqrt((sd**2).sum()))
    return TaskAggregate(float(mean.mean()), root_sum / len(sd), root_sum, len(sd))


@dataclass(frozen=True)
class AverageInterval:
    """The mean of the task means, for new people and new items, on the scale of the scores.

    se, df, low and high are NaN where a task has no interval. exploratory: a task has fewer than
    five annotators.
    """

    mean: float
    se: float
    df: float
    effective: float
    low: float
    high: float
    tasks: int
    exploratory: bool
    level: float


@dataclass(frozen=True)
class AverageDifference:
    """The mean of the tasks' differences; the other fields as in `AverageInterval`, t and p of the
    two-sided test. Takes a verdict as a `PairedDifference` does."""

    difference: float
    se: float
    df: float
    t: float
    p: float
    low: float
    high: float
    tasks: int
    exploratory: bool
    level: float


def average_interval(cells: Sequence[CellInterval], *, level: float = 0.95) -> AverageInterval:
    """Wilson's interval around the mean of these cells' means, one cell a task, people of its own.

    SE = √(Σ se²)/T over the cells' SEs with one more item; Satterthwaite's degrees of freedom over
    them; the effective number of answers from the mean of their means with one more item. Raises
    ValueError without a cell, or for cells whose intervals are for these items.
    """
    check_level(level)
    if not cells or any(cell.estimand != "new_items" for cell in cells):
        raise ValueError("An average needs cells whose intervals are for new items.")
    mean = float(np.mean([cell.mean for cell in cells]))
    se, df = _spread([cell.se for cell in cells], [cell.df for cell in cells])
    longer = float(np.mean([cell.mean_with_one_more for cell in cells]))
    effective = longer * (1 - longer) / se**2
    low, high = map(float, wilson_limits(mean, effective, t_quantile(df, level)))
    exploratory = any(cell.exploratory for cell in cells)
    return AverageInterval(mean, se, df, effective, low, high, len(cells), exploratory, level)


def average_difference(
    tests: Sequence[PairedDifference], *, level: float = 0.95
) -> AverageDifference:
    """Student's t around the mean of these differences, one a task, people of its own; SE and
    degrees of freedom as in `average_interval`, limits within [−1, 1]. Raises ValueError without a
    test."""
    check_level(level)
    if not tests:
        raise ValueError("An average needs a difference.")
    difference = float(np.mean([test.difference for test in tests]))
    se, df = _spread([test.se for test in tests], [test.df for test in tests])
    t, p, low, high = t_test(difference, se, df, level)
    exploratory = any(test.exploratory for test in tests)
    return AverageDifference(difference, se, df, t, p, low, high, len(tests), exploratory, level)


def _spread(ses: Sequence[float], dfs: Sequence[float]) -> tuple[float, float]:
    """SE and degrees of freedom of a mean of independent figures (Satterthwaite 1946)."""
    squares: Floats = np.square(np.asarray(ses, float))
    total = float(squares.sum())
    df = total**2 / float((squares**2 / np.asarray(dfs, float)).sum())
    return float(np.sqrt(total)) / len(ses), df


AHEAD, BEHIND, SAME = "ahead", "behind", "same"
UNDECIDED, EXPLORATORY, UNTESTED = "undecided", "exploratory", "untested"


class Tested(Protocol):
    """A difference with its SE and degrees of freedom: of one cell, or an average."""

    @property
    def difference(self) -> float: ...
    @property
    def se(self) -> float: ...
    @property
    def df(self) -> float: ...
    @property
    def exploratory(self) -> bool: ...


@dataclass(frozen=True)
class Verdict:
    """outcome: a direction, `undecided`, `exploratory` (fewer than five annotators) or `untested`
    (nothing could be computed). direction: what the data speak for, and p: its raw p. p_holm is
    adjusted over `family` tests; NaN for one that does not belong to them. alone: the interval
    alone would decide, the adjusted p does not."""

    outcome: str
    direction: str
    p: float
    p_holm: float
    family: int
    alone: bool = False


def likeliest(test: Tested, *, margin: float = 0.0) -> tuple[str, float]:
    """The most likely direction, and its p before any adjustment: ahead or behind by more than the
    margin (on the scale of the scores, from 0), or within it.

    p_ahead = 2P(T > (D−Δ)/se), p_behind = 2P(T > (−Δ−D)/se) and p_same = 2·max(P(T > (Δ−D)/se),
    P(T > (Δ+D)/se)); the smallest, at most 1. It is at most 1 − level exactly where the interval at
    that level lies wholly above Δ, below −Δ, or within ±Δ; of equal ones, which never are that
    small, the first is named. NaN without a test. Raises ValueError on a negative margin.
    """
    if not margin >= 0:
        raise ValueError(f"The margin is {margin}; it must be 0 or more.")
    if np.isnan(test.se):
        return "", np.nan
    d, se, df = test.difference, test.se, test.df

    def beyond(distance: float) -> float:
        return t_chance(distance / se, df)

    found = {
        AHEAD: beyond(d - margin),
        BEHIND: beyond(-margin - d),
        SAME: max(beyond(margin - d), beyond(margin + d)),
    }
    least = min(found.values()) + NOTHING
    direction = next(name for name, p in found.items() if p <= least)
    return direction, min(1.0, found[direction])


def verdicts(
    tests: Sequence[Tested], *, margin: float = 0.0, level: float = 0.95
) -> tuple[Verdict, ...]:
    """One for each test, in order. Those that allow a claim (five annotators or more) are one
    family, whose p values Holm adjusts; the direction holds where the adjusted one is at most
    1 − level. Pass the tests of one comparison together, and its averages over tasks together."""
    check_level(level)
    directions = [likeliest(test, margin=margin) for test in tests]
    p = [
        np.nan if test.exploratory else own
        for test, (_, own) in zip(tests, directions, strict=True)
    ]
    family = int(np.sum(~np.isnan(p)))
    return tuple(
        Verdict(
            _outcome(test, direction, own, adjusted, level),
            direction,
            own,
            adjusted,
            family,
            alone=own <= _most(level) < adjusted,
        )
        for test, (direction, own), adjusted in zip(
            tests, directions, holm(p).tolist(), strict=True
        )
    )


def is_fragile(
    place: int,
    tests: Sequence[Tested],
    without: Sequence[Tested],
    *,
    margin: float = 0.0,
    level: float = 0.95,
) -> bool:
    """Whether the verdict on the test at this place is another one when some annotator is left out.

    without: that test without each annotator in turn (`paired_without_each`). The other tests of
    the family stay as they are. What was no direction is not fragile.
    """
    whole = verdicts(tests, margin=margin, level=level)[place]
    if whole.outcome not in (AHEAD, BEHIND, SAME):
        return False
    allowed = [k for k, test in enumerate(tests) if not test.exploratory]
    p = np.array([likeliest(tests[k], margin=margin)[1] for k in allowed])
    for test in without:
        direction, p[allowed.index(place)] = likeliest(test, margin=margin)
        adjusted = holm(p)[allowed.index(place)]
        if direction != whole.outcome or not adjusted <= _most(level):
            return True
    return False


def _outcome(test: Tested, direction: str, p: float, adjusted: float, level: float) -> str:
    if np.isnan(p):
        return UNTESTED
    if test.exploratory:
        return EXPLORATORY
    return direction if adjusted <= _most(level) else UNDECIDED


def _most(level: float) -> float:
    """The largest p that decides; 1 − .95 is a hair above .05."""
    return 1 - level


def holm(p_values: ArrayLike) -> Floats:
    """Holm's adjusted p, in the order given. A NaN stays NaN and does not belong to the family."""
    p = np.asarray(p_values, float)
    if p.ndim != 1 or ((p < 0) | (p > 1)).any():
        raise ValueError("The p values must be one row of numbers between 0 and 1.")
    adjusted = np.full(len(p), np.nan)
    order = np.argsort(p, kind="stable")[: int((~np.isnan(p)).sum())]
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1)
    return adjusted

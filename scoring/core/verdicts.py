"""What may be said of a difference: who is ahead, behind or as good, and how sure that is. And
figures over tasks, each of which has people and items of its own."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from scoring.core.comparison import PairedDifference, t_test
from scoring.core.intervals import EXPLORATORY_BELOW, FEWEST_FOR_SURE
from scoring.core.variance import Floats, mean_with_one_more, t_chance, t_quantile, wilson_limits


def over_tasks(means: ArrayLike, sds: ArrayLike) -> tuple[float, float, float]:
    """Average one mean and one SD for each of T tasks: the mean of the means, its SD √(Σ sd²)/T,
    and √(Σ sd²), which the CLUES leaderboard prints in its place. NaN wherever one is NaN."""
    mean, sd = np.asarray(means, float), np.asarray(sds, float)
    if mean.ndim != 1 or mean.shape != sd.shape or not mean.size:
        raise ValueError(f"There are {mean.size} means and {sd.size} SDs; give one pair per task.")
    root_sum = float(np.sqrt((sd**2).sum()))
    return float(mean.mean()), root_sum / len(sd), root_sum


@dataclass(frozen=True)
class AverageInterval:
    """The mean of the task means, for new people and new items, on the scale of the scores. NaN
    where a task has no interval."""

    mean: float
    se: float
    df: float
    effective: float
    low: float
    high: float


@dataclass(frozen=True)
class AverageDifference:
    """The mean of the tasks' differences; the other fields as in `AverageInterval`, t and p of the
    two-sided test. people: of the task with the fewest."""

    difference: float
    se: float
    df: float
    t: float
    p: float
    low: float
    high: float
    people: int | None


def average_interval(
    means: ArrayLike, ses: ArrayLike, dfs: ArrayLike, items: Sequence[int]
) -> AverageInterval:
    """Wilson's interval around the mean of T cells, one a task, people of its own: their means, the
    SE and degrees of freedom of their intervals for new items, and their item clusters.

    SE = √(Σ se²)/T; Satterthwaite's degrees of freedom; the effective number of answers from the
    mean of their means with one more item. Raises ValueError without a cell."""
    cells = np.asarray(means, float)
    if cells.ndim != 1 or not cells.size:
        raise ValueError("An average needs the mean of a task.")
    mean = float(cells.mean())
    se, df = _spread(ses, dfs)
    longer = float(np.mean([mean_with_one_more(*cell) for cell in zip(cells, items, strict=True)]))
    effective = longer * (1 - longer) / se**2
    low, high = map(float, wilson_limits(mean, effective, t_quantile(df, LEVEL)))
    return AverageInterval(mean, se, df, effective, low, high)


def average_difference(tests: Sequence[PairedDifference]) -> AverageDifference:
    """Student's t around the mean of these differences, one a task, people of its own; SE and df as
    in `average_interval`, limits within [−1, 1]. Raises ValueError without a test."""
    if not tests:
        raise ValueError("An average needs a difference.")
    difference = float(np.mean([test.difference for test in tests]))
    se, df = _spread([test.se for test in tests], [test.df for test in tests])
    t, p, low, high = t_test(difference, se, df, LEVEL)
    people = min((test.people for test in tests if test.people is not None), default=None)
    return AverageDifference(difference, se, df, t, p, low, high, people)


def averages_without_each(
    tests: Sequence[PairedDifference], without: Sequence[Sequence[PairedDifference]]
) -> list[AverageDifference]:
    """The average without any one annotator of any one task, whose tests these are."""
    return [
        average_difference([*tests[:place], test, *tests[place + 1 :]])
        for place, task_tests in enumerate(without)
        for test in task_tests
    ]


def _spread(ses: ArrayLike, dfs: ArrayLike) -> tuple[float, float]:
    """SE and degrees of freedom of a mean of independent figures (Satterthwaite 1946)."""
    squares: Floats = np.square(np.asarray(ses, float))
    total = float(squares.sum())
    df = total**2 / float((squares**2 / np.asarray(dfs, float)).sum())
    return float(np.sqrt(total)) / len(squares), df


LEVEL = 0.95
MOST = 1 - LEVEL
"""The largest p that decides; 1 − .95 is a hair above .05."""
CERTAIN = 1 - 1e-9
"""Above this p nothing points anywhere: which direction rounding gave says nothing."""
AHEAD, BEHIND, SAME = "ahead", "behind", "same"
OPEN, TOO_FEW = "open", "too_few"
SURE, PROBABLE = "sure", "probable"

# Of one cell, or an average; of systems alone it has no people.
Tested = PairedDifference | AverageDifference


@dataclass(frozen=True)
class Verdict:
    """outcome: `ahead`, `behind` or `same` of the first side; `open`; or `too_few` people.

    certainty: `sure` or `probable`, None of an outcome that is neither direction. direction: what
    the data speak for ("" for nothing), and p: its raw p. p_holm is adjusted over `family` tests;
    NaN for one that is not among them. reasons: why it is not sure, in words. holds: of a claim,
    whether direction and p ≤ .05 hold without any one annotator.
    """

    outcome: str
    certainty: str | None
    direction: str
    p: float
    p_holm: float
    family: int
    reasons: tuple[str, ...] = ()
    holds: bool = False


def likeliest(test: Tested, *, margin: float = 0.0) -> tuple[str, float]:
    """The direction in which the difference lies (ahead or behind by more than the margin, on the
    scale of the scores, from 0; or within it), and its p before any adjustment.

    p_ahead = 2P(T > (D−Δ)/se), p_behind = 2P(T > (−Δ−D)/se) and p_same = 2·max(P(T > (Δ−D)/se),
    P(T > (Δ+D)/se)); the smallest, at most 1. It is at most 1 − level exactly where the interval at
    that level lies wholly above Δ, below −Δ, or within ±Δ. NaN without a test, and no direction
    where p is 1. Raises ValueError on a negative margin.
    """
    if not margin >= 0:
        raise ValueError(f"The margin is {margin}; it must be 0 or more.")
    if np.isnan(test.se):
        return "", np.nan
    d, se, df = test.difference, test.se, test.df

    def beyond(distance: float) -> float:
        return t_chance(distance / se, df)

    same = max(beyond(margin - d), beyond(margin + d))
    p = min(1.0, beyond(d - margin), beyond(-margin - d), same)
    direction = AHEAD if d > margin else BEHIND if d < -margin else SAME
    return (direction if p <= CERTAIN else ""), p


def holds_without_each(test: Tested, without: Iterable[Tested], *, margin: float = 0.0) -> bool:
    """Whether the direction and p ≤ 1 − level are the same in each of the tests without one."""
    direction, p = likeliest(test, margin=margin)
    if not p <= MOST:
        return False
    left = (likeliest(test, margin=margin) for test in without)
    return all(other == direction and other_p <= MOST for other, other_p in left)


@dataclass(frozen=True)
class Member:
    """A test among those that are judged together. without: gives the same test without each
    annotator in turn, once it is asked. with_excluded: the same with the excluded counted, where
    there are any. lacks: why it is not sure, whatever it shows; exploratory: why it is no member of
    the family, "" if it is."""

    test: Tested
    without: Callable[[], Iterable[Tested]] = tuple
    lacks: tuple[str, ...] = ()
    exploratory: str = ""
    with_excluded: Tested | None = None

    @property
    def people(self) -> float:
        """How many people it rests on; of systems there are never too few."""
        return np.inf if self.test.people is None else self.test.people


def verdicts(members: Sequence[Member], *, margin: float = 0.0) -> tuple[Verdict, ...]:
    """One for each test, in order. Those of five people or more that are not exploratory are one
    family, whose p values Holm adjusts. Sure is a direction whose adjusted p is at most 1 − level,
    with the excluded counted as well, that holds without any one annotator, of eight people, that
    lacks nothing and is not exploratory; probable one with that raw p that lacks any of these."""
    counted = _adjusted(members, [member.test for member in members], margin)
    with_all = _adjusted(members, [one.with_excluded or one.test for one in members], margin)
    family = int(np.sum([not np.isnan(adjusted) for _, _, adjusted in counted]))
    every = zip(members, counted, with_all, strict=True)
    return tuple(_verdict(*each, family, margin) for each in every)


# A direction, its p, and that adjusted.
Adjusted = tuple[str, float, float]


def _adjusted(members: Sequence[Member], tests: Sequence[Tested], margin: float) -> list[Adjusted]:
    """The direction of each test, its p, and that adjusted over those of the family."""
    directions = [likeliest(test, margin=margin) for test in tests]
    p = [
        np.nan if member.people < EXPLORATORY_BELOW or member.exploratory else raw_p
        for member, (_, raw_p) in zip(members, directions, strict=True)
    ]
    return [(*pair, adjusted) for pair, adjusted in zip(directions, holm(p).tolist(), strict=True)]


def _verdict(
    member: Member, counted: Adjusted, including: Adjusted, family: int, margin: float
) -> Verdict:
    direction, p, adjusted = counted
    has_too_few = member.people < EXPLORATORY_BELOW
    if has_too_few or not p <= MOST:
        outcome = TOO_FEW if has_too_few else OPEN
        return Verdict(outcome, None, direction, p, adjusted, family)
    holds = holds_without_each(member.test, member.without(), margin=margin)
    with_excluded = including[0] == direction and not (including[2] > MOST >= adjusted)
    lacks = {
        f"sure by itself, not after correcting for {family} comparisons": adjusted > MOST,
        "fewer than eight people": member.people < FEWEST_FOR_SURE,
        "falls without one annotator": not holds,
        "falls with the excluded": not with_excluded,
        **dict.fromkeys(member.lacks, True),
        member.exploratory: True,
    }
    reasons = tuple(words for words, applies in lacks.items() if words and applies)
    certainty = PROBABLE if reasons else SURE
    return Verdict(direction, certainty, direction, p, adjusted, family, reasons, holds=holds)


def holm(p_values: ArrayLike) -> Floats:
    """Holm's adjusted p, in the order given. A NaN stays NaN and does not belong to the family."""
    p = np.asarray(p_values, float)
    if p.ndim != 1 or ((p < 0) | (p > 1)).any():
        raise ValueError("The p values must be one row of numbers between 0 and 1.")
    adjusted = np.full(len(p), np.nan)
    order = np.argsort(p, kind="stable")[: int((~np.isnan(p)).sum())]
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1)
    return adjusted

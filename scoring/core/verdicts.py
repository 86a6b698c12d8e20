"""What a comparison of people with a system may say: ahead, behind, as good, or not decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from scoring.core.intervals import check_level
from scoring.core.variance import NOTHING, Floats
from scoring.core.wilson import t_chance

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
class Likeliest:
    """The most likely of the three directions, and its p before any adjustment."""

    direction: str
    p: float


@dataclass(frozen=True)
class Verdict:
    """outcome: a direction, `undecided`, `exploratory` (fewer than five annotators) or `untested`
    (nothing could be computed). likeliest: the direction that the data speak for, with its raw p.
    p_holm is adjusted over `family` tests; NaN for one that does not belong to them. alone: the
    interval alone would decide, the adjusted p does not."""

    outcome: str
    likeliest: Likeliest
    p_holm: float
    family: int
    alone: bool = False


def likeliest(test: Tested, *, margin: float = 0.0) -> Likeliest:
    """Ahead or behind by more than the margin (on the scale of the scores, from 0), or within it.

    p_ahead = 2P(T > (D−Δ)/se), p_behind = 2P(T > (−Δ−D)/se) and p_same = 2·max(P(T > (Δ−D)/se),
    P(T > (Δ+D)/se)); the smallest, at most 1. It is at most 1 − level exactly where the interval at
    that level lies wholly above Δ, below −Δ, or within ±Δ; of equal ones, which never are that
    small, the first is named. NaN without a test. Raises ValueError on a negative margin.
    """
    if not margin >= 0:
        raise ValueError(f"The margin is {margin}; it must be 0 or more.")
    if np.isnan(test.se):
        return Likeliest("", np.nan)
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
    return Likeliest(direction, min(1.0, found[direction]))


def verdicts(
    tests: Sequence[Tested], *, margin: float = 0.0, level: float = 0.95
) -> tuple[Verdict, ...]:
    """One for each test, in order. Those that allow a claim (five annotators or more) are one
    family, whose p values Holm adjusts; the direction holds where the adjusted one is at most
    1 − level. Pass the tests of one comparison together, and its averages over tasks together."""
    check_level(level)
    directions = [likeliest(test, margin=margin) for test in tests]
    p = [
        np.nan if test.exploratory else likely.p
        for test, likely in zip(tests, directions, strict=True)
    ]
    family = int(np.sum(~np.isnan(p)))
    return tuple(
        Verdict(
            outcome=_outcome(test, likely, adjusted, level),
            likeliest=likely,
            p_holm=adjusted,
            family=family,
            alone=likely.p <= _most(level) < adjusted,
        )
        for test, likely, adjusted in zip(tests, directions, holm(p).tolist(), strict=True)
    )


def falls(
    place: int,
    tests: Sequence[Tested],
    without: Sequence[Tested],
    *,
    margin: float = 0.0,
    level: float = 0.95,
) -> bool:
    """Whether the verdict on the test at this place is another one when some annotator is left out.

    without: that test without each annotator in turn (`paired_without_each`). The other tests of
    the family stay as they are. What was no direction cannot fall.
    """
    whole = verdicts(tests, margin=margin, level=level)[place]
    if whole.outcome not in (AHEAD, BEHIND, SAME):
        return False
    allowed = [k for k, test in enumerate(tests) if not test.exploratory]
    p = np.array([likeliest(tests[k], margin=margin).p for k in allowed])
    for test in without:
        likely = likeliest(test, margin=margin)
        p[allowed.index(place)] = likely.p
        adjusted = holm(p)[allowed.index(place)]
        if likely.direction != whole.outcome or not adjusted <= _most(level):
            return True
    return False


def _outcome(test: Tested, likely: Likeliest, adjusted: float, level: float) -> str:
    if np.isnan(likely.p):
        return UNTESTED
    if test.exploratory:
        return EXPLORATORY
    return likely.direction if adjusted <= _most(level) else UNDECIDED


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

"""People against a system on the same items, several tests at once, and figures over tasks."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from scoring.core.bootstrap import generator
from scoring.core.intervals import EXPLORATORY_BELOW, check_level, cluster_scores
from scoring.core.variance import (
    NOTHING,
    Floats,
    MeanSquares,
    mean_squares,
    satterthwaite,
    score_matrix,
    within,
)

EXACT_CLUSTERS = 18
"""Up to here the sign-flip test goes through every way to flip; beyond, it samples some."""


@dataclass(frozen=True)
class PairedDifference:
    """People's mean less the system's, over new people, new runs and new items.

    p is two-sided; low and high are the limits of the difference. sign_flip_p is about these people
    and these runs only. left_out counts the items that one side did not answer in full. Whatever
    cannot be computed is NaN: all but the difference and sign_flip_p for one annotator or where
    nothing varies, those too without two common items.
    """

    difference: float
    se: float
    df: float
    t: float
    p: float
    low: float
    high: float
    n: int
    r: int
    m: int
    left_out: int
    sign_flip_p: float
    level: float
    notes: tuple[str, ...]
    both_people: bool = False

    @property
    def exploratory(self) -> bool:
        """Below this many annotators nobody is called better."""
        return _fewest(self.n, self.r, self.both_people) < EXPLORATORY_BELOW


def paired_difference(
    people: ArrayLike,
    system: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    rng: np.random.Generator | None = None,
    both_people: bool = False,
) -> PairedDifference:
    """Test n × m scores of people against r × m scores of a system's runs, column by column.

    An item with a NaN on either side is left out here, before `clusters` (one label per column) are
    put together by `cluster_scores`; without labels every column is its own cluster. With one run
    (r = 1) there is no run term; where the second side are people too (`both_people`), a single
    one of them makes no more of a test than a single one of the first.
    V = MSA_h/(nm) + MSR/(rm) + S²d/m − MSE_h/(nm) − MSE_m/(rm), at least the first two together
    and at least the third; Satterthwaite's degrees of freedom over all five within
    [min(n, r) − 1, m − 1]. `rng` serves the sign-flip test, which is exact up to 18 clusters.
    Raises ValueError on other shapes, infinite values or a level outside (0, 1).
    """
    check_level(level)
    h, s, left_out = _common(people, system, clusters)
    n, r, m = len(h), len(s), h.shape[1]
    d = h.mean(axis=0) - s.mean(axis=0) if m else np.empty(0)
    difference = float(d.mean()) if m else np.nan
    se, df = np.nan, np.nan
    if _fewest(n, r, both_people) > 1 and m > 1:
        se, df = paired_spread(mean_squares(h), mean_squares(s), float(d.var(ddof=1)))
    known = bool(se > NOTHING)
    t = difference / se if known else np.nan
    half = float(stats.t.ppf((1 + level) / 2, df)) * se if known else np.nan
    return PairedDifference(
        difference=difference,
        se=se,
        df=df,
        t=t,
        p=float(2 * stats.t.sf(abs(t), df)),
        low=difference - half,
        high=difference + half,
        n=n,
        r=r,
        m=m,
        left_out=left_out,
        sign_flip_p=sign_flip_p(d, rng=rng),
        level=level,
        notes=_notes(n, r, m, left_out, known, both_people),
        both_people=both_people,
    )


def paired_spread(
    people: MeanSquares, runs: MeanSquares, item_differences: float
) -> tuple[float, float]:
    """SE and degrees of freedom of a paired difference, from both sides' mean squares and the
    variance of the items' differences; formula in `paired_difference`."""
    n, r, m = people.n, runs.n, people.m
    terms = [
        (float(people.annotator) / (n * m), n - 1),
        (float(runs.annotator) / (r * m) if r > 1 else 0.0, r - 1),
        (item_differences / m, m - 1),
        (float(people.residual) / (n * m), (n - 1) * (m - 1)),
        (float(runs.residual) / (r * m) if r > 1 else 0.0, (r - 1) * (m - 1)),
    ]
    between, run, items, noise, run_noise = (term for term, _ in terms)
    variance = max(between + run + items - noise - run_noise, between + run, items)
    df = within(satterthwaite(variance, *terms), min(n, r) - 1, m - 1)
    return float(np.sqrt(variance)), float(df)


def common_items(people: ArrayLike, system: ArrayLike) -> NDArray[np.bool_]:
    """For each column, whether everybody on both sides answered it."""
    h, s = np.asarray(people, float), np.asarray(system, float)
    if h.ndim != 2 or s.ndim != 2 or h.shape[1] != s.shape[1] or not len(h) or not len(s):
        raise ValueError(
            f"People's scores have shape {h.shape} and the system's {s.shape}; "
            "give two matrices with the same items as columns."
        )
    return np.asarray(~np.isnan(h).any(axis=0) & ~np.isnan(s).any(axis=0))


def sign_flip_p(differences: ArrayLike, *, rng: np.random.Generator | None = None) -> float:
    """Two-sided p that the mean of these differences is 0, by flipping their signs.

    Exact for up to 18 non-zero differences; beyond that 20,000 draws from `rng` (a fixed seed
    without one), counted with the observed one. NaN for fewer than two differences.
    """
    d = np.asarray(differences, float)
    if len(d) < 2:
        return np.nan
    moving = d[np.abs(d) > NOTHING]
    observed = abs(moving.sum()) - NOTHING
    if len(moving) <= EXACT_CLUSTERS:
        return float(np.mean(np.abs(_all_flips(moving)) >= observed))
    sums = _some_flips(moving, 20_000, generator(rng))
    return float((1 + np.sum(np.abs(sums) >= observed)) / (1 + len(sums)))


def holm(p_values: ArrayLike) -> Floats:
    """Holm's adjusted p, in the order given. A NaN stays NaN and does not belong to the family."""
    return _adjust(p_values, lambda p: np.maximum.accumulate(p * np.arange(len(p), 0, -1)))


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Benjamini and Hochberg's adjusted p, in the order given; NaN as in `holm`."""

    def step_up(p: Floats) -> Floats:
        scaled = p * len(p) / np.arange(1, len(p) + 1)
        return np.asarray(np.minimum.accumulate(scaled[::-1])[::-1])

    return _adjust(p_values, step_up)


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


def _common(
    people: ArrayLike, system: ArrayLike, clusters: ArrayLike | None
) -> tuple[Floats, Floats, int]:
    keep = common_items(people, system)
    h = np.asarray(people, float)[:, keep]
    s = np.asarray(system, float)[:, keep]
    left_out = int((~keep).sum())
    if not keep.any():
        return h, s, left_out
    h, s = score_matrix(h, name="people's scores"), score_matrix(s, name="system's scores")
    if clusters is None:
        return h, s, left_out
    labels = np.asarray(clusters)
    if labels.shape != keep.shape:
        raise ValueError(f"There are {len(keep)} items but cluster labels of {labels.shape}.")
    return cluster_scores(h, labels[keep]), cluster_scores(s, labels[keep]), left_out


def _fewest(n: int, r: int, both_people: bool) -> int:
    """Annotators on the smaller side: runs are not annotators."""
    return min(n, r) if both_people else n


def _notes(
    n: int, r: int, m: int, left_out: int, known: bool, both_people: bool
) -> tuple[str, ...]:
    fewest = _fewest(n, r, both_people)
    notes = {
        "A single run: how much runs differ is not known and not counted.": r == 1
        and not both_people,
        "A single annotator: there is no test over people.": fewest == 1,
        f"Fewer than {EXPLORATORY_BELOW} annotators: exploratory.": 1 < fewest < EXPLORATORY_BELOW,
        "Fewer than two items that both sides answered: there is no test.": m < 2,
        "Nothing varies: there is no test.": fewest > 1 and m > 1 and not known,
        f"{left_out} items left out that one side did not answer.": left_out > 0,
    }
    return tuple(note for note, applies in notes.items() if applies)


def _all_flips(moving: Floats) -> Floats:
    """The sums of every way to flip, up to the sign of the whole."""
    sums = moving[:1].sum(keepdims=True)
    for value in moving[1:]:
        sums = np.concatenate([sums + value, sums - value])
    return np.asarray(sums)


def _some_flips(moving: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Drawn in blocks of a thousand, so that many clusters do not fill the memory."""
    signs = (rng.integers(0, 2, (1000, len(moving)), np.int8) for _ in range(draws // 1000))
    return np.asarray(np.concatenate([(2.0 * block - 1) @ moving for block in signs]))


def _adjust(p_values: ArrayLike, rule: Callable[[Floats], Floats]) -> Floats:
    """Apply a rule on ascending p to the known ones, and put them back in place."""
    p = np.asarray(p_values, float)
    if p.ndim != 1 or ((p < 0) | (p > 1)).any():
        raise ValueError("The p values must be one row of numbers between 0 and 1.")
    adjusted = np.full(len(p), np.nan)
    order = np.argsort(p, kind="stable")[: int((~np.isnan(p)).sum())]
    adjusted[order] = np.minimum(rule(p[order]), 1)
    return adjusted

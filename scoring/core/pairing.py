"""People and a system side by side: which annotators, runs and items can be compared."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.core.gaps import item_means
from scoring.core.intervals import cluster_scores
from scoring.core.variance import NOTHING, Floats, Groups, nested_groups

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Pair:
    """Both sides over the compared items, or over their clusters; NaN only where an annotator did
    not see one. The groups are the splits within which a side's variance is pooled.

    above: annotators who score higher than the system on what they saw. splits: how many the sides
    are paired by, 0 where they are not; unpaired: people have several, and the system shares fewer
    than two of them. Left out are items, and the rows of other splits or without a compared item.
    """

    people: Floats
    system: Floats
    people_groups: Groups | None
    system_groups: Groups | None
    above: int
    splits: int
    unpaired: bool
    left_out: int
    people_left_out: int
    runs_left_out: int

    @property
    def differences(self) -> Floats:
        """By item or cluster, people less the system."""
        if not self.people.shape[1]:
            return np.empty(0)
        return item_means(self.people) - item_means(self.system)

    @property
    def has_gaps(self) -> bool:
        return bool(np.isnan(self.people).any() or np.isnan(self.system).any())


def common_items(people: ArrayLike, system: ArrayLike) -> Bools:
    """For each column, whether everybody on both sides answered it."""
    h, s = _two_sides(people, system)
    return np.asarray(~np.isnan(h).any(axis=0) & ~np.isnan(s).any(axis=0))


def pair_up(
    people: ArrayLike,
    system: ArrayLike,
    clusters: ArrayLike | None = None,
    splits: ArrayLike | None = None,
    system_splits: ArrayLike | None = None,
    *,
    both_people: bool = False,
) -> Pair:
    """By the rules of `paired_difference`, whose arguments and errors these are."""
    h, s = _two_sides(people, system)
    labels = _labels(splits, len(h)), _labels(system_splits, len(s))
    shared = set[object]() if both_people else _shared(*labels)
    ours, theirs = _of_splits(labels[0], shared, len(h)), _of_splits(labels[1], shared, len(s))
    columns = _compared_items(h[ours], s[theirs], both_people=both_people)
    if columns.any():
        ours &= ~np.isnan(h[:, columns]).all(axis=1)
        theirs &= ~np.isnan(s[:, columns]).all(axis=1)
    h, s = h[ours][:, columns], s[theirs][:, columns]
    above = _above(h, s)
    if clusters is not None:
        h, s = _clustered(h, s, np.asarray(clusters), columns)
    pooled = shared or both_people
    return Pair(
        people=h,
        system=s,
        people_groups=_groups(labels[0], ours) if pooled else None,
        system_groups=_groups(labels[1], theirs) if both_people else None,
        above=above,
        splits=len(shared),
        unpaired=not pooled and len(set(labels[0] or [])) > 1 and labels[1] is not None,
        left_out=int((~columns).sum()),
        people_left_out=int((~ours).sum()),
        runs_left_out=int((~theirs).sum()),
    )


def _two_sides(people: ArrayLike, system: ArrayLike) -> tuple[Floats, Floats]:
    h, s = np.asarray(people, float), np.asarray(system, float)
    if h.ndim != 2 or s.ndim != 2 or h.shape[1] != s.shape[1] or not len(h) or not len(s):
        raise ValueError(
            f"People's scores have shape {h.shape} and the system's {s.shape}; "
            "give two matrices with the same items as columns."
        )
    for name, side in (("people's", h), ("system's", s)):
        if np.isinf(side).any():
            raise ValueError(f"The {name} scores hold an infinite value.")
    return h, s


def _labels(splits: ArrayLike | None, rows: int) -> list[object] | None:
    if splits is None:
        return None
    labels = np.asarray(splits)
    if labels.shape != (rows,):
        raise ValueError(f"There are {rows} rows of scores but splits of shape {labels.shape}.")
    return list(labels.tolist())


def _shared(splits: list[object] | None, system_splits: list[object] | None) -> set[object]:
    """The splits to pair the two sides by: none unless there are two or more."""
    shared = set(splits or []) & set(system_splits or [])
    return shared if len(shared) > 1 else set()


def _compared_items(h: Floats, s: Floats, *, both_people: bool) -> Bools:
    """Every run must have answered an item, but only one of several people."""
    ours = ~np.isnan(h).all(axis=0)
    theirs = ~np.isnan(s).all(axis=0) if both_people else ~np.isnan(s).any(axis=0)
    return np.asarray(ours & theirs)


def _of_splits(splits: list[object] | None, shared: set[object], rows: int) -> Bools:
    if splits is None or not shared:
        return np.ones(rows, bool)
    return np.array([split in shared for split in splits])


def _above(h: Floats, s: Floats) -> int:
    if not h.size:
        return 0
    own = np.nanmean(h - item_means(s), axis=1)
    return int((own > NOTHING).sum())


def _clustered(
    h: Floats, s: Floats, clusters: NDArray[np.generic], columns: Bools
) -> tuple[Floats, Floats]:
    if clusters.shape != columns.shape:
        raise ValueError(f"There are {len(columns)} items but cluster labels of {clusters.shape}.")
    if not h.size or not s.size:
        return h, s
    return cluster_scores(h, clusters[columns]), cluster_scores(s, clusters[columns])


def _groups(splits: list[object] | None, rows: Bools) -> Groups | None:
    if splits is None:
        return None
    kept = [split for split, stays in zip(splits, rows, strict=True) if stays]
    return nested_groups(np.array(kept), len(kept))

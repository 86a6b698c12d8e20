"""Differences on the same items: people against systems, and people with more examples against
people with fewer; several tests at once, so with adjusted p values."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from annotation.models import Study, Task
from scoring.comparison.cells import Cell
from scoring.comparison.matrices import Floats
from scoring.comparison.rows import percent
from scoring.core.comparison import benjamini_hochberg, holm, paired_difference
from scoring.models import shots_order


@dataclass(frozen=True)
class Difference:
    """Percent points. n and r count the units of the two sides: annotators or runs, or
    splits where several share one. p_holm holds over the family of one comparison, p_bh is
    for exploring."""

    study: str
    simulated: bool
    task: str
    shots: int | str
    # The other side: a system, or the same study's people with other shots.
    system: str
    method: str
    parameters: str
    other_shots: int | str
    mean: float | None
    other_mean: float | None
    difference: float | None
    low: float | None
    high: float | None
    se: float | None
    df: float
    t: float
    p: float
    p_holm: float
    p_bh: float
    sign_flip_p: float
    n: int
    r: int
    m: int
    left_out: int
    exploratory: bool
    references: str
    gold_version: int
    notes: tuple[str, ...]


def against_systems(
    people: Iterable[Cell], systems: Sequence[Cell], *, seed: int
) -> list[Difference]:
    """Every cell of people against every system with the same task and shots. Those on episodes
    are tested over episodes, on their own board."""
    pairs = [
        (cell, system)
        for cell in people
        for system in systems
        if not cell.is_of_episodes and (system.task.pk, system.shots) == (cell.task.pk, cell.shots)
    ]
    return _adjusted([difference(cell, system, seed=seed) for cell, system in pairs])


def between_shots(people: Sequence[Cell], *, seed: int) -> list[Difference]:
    """Each number of shots of a study against the next lower, and the most against the
    fewest. Different people, the same items."""
    pairs: list[tuple[Cell, Cell]] = []
    for cells in _by_task([cell for cell in people if not cell.is_of_episodes]):
        pairs += [(more, fewer) for fewer, more in pairwise(cells)]
        if len(cells) > 2:
            pairs.append((cells[-1], cells[0]))
    return _adjusted([difference(more, fewer, seed=seed) for more, fewer in pairs])


def difference(cell: Cell, other: Cell, *, seed: int) -> Difference:
    """One cell's mean less another's, on the items that both sides answered in full."""
    ours, theirs, clusters = _aligned(cell, other)
    found = paired_difference(
        ours,
        theirs,
        clusters=clusters,
        rng=np.random.default_rng(seed),
        both_people=other.study is not None,
    )
    return Difference(
        study=cell.study.slug if cell.study else "",
        simulated=cell.simulated,
        task=cell.task.slug,
        shots=cell.shots,
        system=other.system or "Human",
        method=other.method,
        parameters=other.parameters,
        other_shots=other.shots,
        mean=percent(float(np.nanmean(cell.scores, axis=1).mean())),
        other_mean=percent(float(np.nanmean(other.scores, axis=1).mean())),
        difference=percent(found.difference),
        low=percent(found.low),
        high=percent(found.high),
        se=percent(found.se),
        df=found.df,
        t=found.t,
        p=found.p,
        p_holm=np.nan,
        p_bh=np.nan,
        sign_flip_p=found.sign_flip_p,
        n=found.n,
        r=found.r,
        m=found.m,
        left_out=found.left_out,
        exploratory=found.exploratory,
        references=cell.references,
        gold_version=cell.gold_version,
        notes=found.notes,
    )


def _aligned(cell: Cell, other: Cell) -> tuple[Floats, Floats, list[str]]:
    """Both sides' units over the items of either, column by column."""
    clusters = dict(zip(other.example_ids, other.clusters, strict=True))
    clusters |= dict(zip(cell.example_ids, cell.clusters, strict=True))
    return _over(cell, clusters), _over(other, clusters), list(clusters.values())


def _over(cell: Cell, columns: Iterable[int]) -> Floats:
    place = {pk: number for number, pk in enumerate(columns)}
    matrix = np.full((len(cell.units), len(place)), np.nan)
    matrix[:, [place[pk] for pk in cell.example_ids]] = cell.units
    return matrix


def _adjusted(differences: Sequence[Difference]) -> list[Difference]:
    """Simulated annotators are a family of their own: they do not affect people's p values."""
    adjusted: list[Difference] = []
    for simulated in (False, True):
        family = [each for each in differences if each.simulated == simulated]
        p = [each.p for each in family]
        rows = zip(family, holm(p), benjamini_hochberg(p), strict=True)
        adjusted += [replace(each, p_holm=float(h), p_bh=float(b)) for each, h, b in rows]
    return adjusted


def _by_task(people: Sequence[Cell]) -> Iterable[list[Cell]]:
    groups: dict[tuple[Study | None, bool, Task], list[Cell]] = {}
    for cell in people:
        groups.setdefault((cell.study, cell.simulated, cell.task), []).append(cell)
    return (sorted(cells, key=lambda cell: shots_order(cell.shots)) for cells in groups.values())

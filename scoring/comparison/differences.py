"""Differences on the same items: people against systems, people with more examples against people
with fewer, and systems against systems; several tests at once, so with adjusted p values."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise
from math import nan
from typing import Any

import numpy as np

from annotation.models import Assignment, Study, Task
from scoring.comparison.cells import Cell
from scoring.comparison.matrices import Floats
from scoring.comparison.rows import percent
from scoring.core.adjusting import benjamini_hochberg, holm
from scoring.core.comparison import PairedDifference, paired_difference
from scoring.core.leave_one_out import paired_without_each
from scoring.core.pairing import pair_up
from scoring.core.power import ComparisonDesign, observed_design
from scoring.models import Run, shots_order


@dataclass(frozen=True)
class Difference:
    """Percent points; the means are those over the compared items. n and r count the annotators,
    or a system's splits, on the two sides. p_holm holds over the family of one comparison, p_bh is
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
    normalisation: str
    gold_version: int
    notes: tuple[str, ...]
    # How many rows of other splits were not compared.
    people_left_out: int = 0
    runs_left_out: int = 0
    # The first side, where it is a system too.
    first: str = ""
    first_method: str = ""
    first_parameters: str = ""
    # What may be said (verdicts.py), by the p of its direction; "" of people against people.
    outcome: str = ""
    direction: str = ""
    p_direction: float | None = None
    margin: float | None = None
    family: int | None = None
    detectable: float | None = None
    above: int | None = None
    falls: bool | None = None


@dataclass(frozen=True)
class Pairing:
    """Two cells side by side: the rows of each over the items of either, and what these are nested
    in."""

    cell: Cell
    other: Cell
    ours: Floats
    theirs: Floats
    clusters: list[str]
    splits: list[str]
    other_splits: list[str]

    def tested(self, *, seed: int | None = None) -> PairedDifference:
        """One cell's mean less the other's, on the items that the system and somebody answered;
        with the sign-flip test where there is a seed."""
        return paired_difference(
            self.ours,
            self.theirs,
            splits=self.splits,
            sign_flips=seed is not None,
            rng=np.random.default_rng(seed),
            **self._options,
        )

    def without_each(self) -> tuple[PairedDifference, ...]:
        """The test without each annotator in turn."""
        return paired_without_each(self.ours, self.theirs, splits=self.splits, **self._options)

    @cached_property
    def design(self) -> ComparisonDesign:
        """What another comparison like this one could show."""
        return observed_design(
            pair_up(self.ours, self.theirs, self.clusters, self.splits, self.other_splits)
        )

    @property
    def _options(self) -> dict[str, Any]:
        return {
            "clusters": self.clusters,
            "system_splits": self.other_splits,
            "both_people": self.cell.study is not None and self.other.study is not None,
            "both_systems": self.cell.study is None,
        }


def side_by_side(cell: Cell, other: Cell) -> Pairing:
    clusters = dict(zip(other.example_ids, other.clusters, strict=True))
    clusters |= dict(zip(cell.example_ids, cell.clusters, strict=True))
    return Pairing(
        cell=cell,
        other=other,
        ours=_over(cell, clusters),
        theirs=_over(other, clusters),
        clusters=list(clusters.values()),
        splits=_splits(cell),
        other_splits=_splits(other),
    )


def people_and_systems(people: Iterable[Cell], systems: Sequence[Cell]) -> list[Pairing]:
    """Every cell of people beside every system with the same task and shots. Those on episodes are
    tested over episodes, on their own board."""
    return [
        side_by_side(cell, system)
        for cell in people
        for system in systems
        if not cell.is_of_episodes and (system.task.pk, system.shots) == (cell.task.pk, cell.shots)
    ]


def against_systems(
    people: Iterable[Cell], systems: Sequence[Cell], *, seed: int
) -> list[Difference]:
    return _adjusted([difference(pair, seed=seed) for pair in people_and_systems(people, systems)])


def between_shots(people: Sequence[Cell], *, seed: int) -> list[Difference]:
    """Each number of shots of a study against the next lower, and the most against the
    fewest. Different people, the same items."""
    pairs: list[tuple[Cell, Cell]] = []
    for cells in _by_task([cell for cell in people if not cell.is_of_episodes]):
        pairs += [(more, fewer) for fewer, more in pairwise(cells)]
        if len(cells) > 2:
            pairs.append((cells[-1], cells[0]))
    return _adjusted([difference(side_by_side(*pair), seed=seed) for pair in pairs])


def systems_and_systems(systems: Sequence[Cell]) -> list[Pairing]:
    """Every two systems with the same task and shots."""
    return [
        side_by_side(one, other)
        for one, other in combinations([cell for cell in systems if not cell.is_of_episodes], 2)
        if (one.task.pk, one.shots) == (other.task.pk, other.shots)
    ]


def difference(pair: Pairing, *, seed: int) -> Difference:
    return difference_of(pair, pair.tested(seed=seed))


def difference_of(pair: Pairing, test: PairedDifference) -> Difference:
    cell, other = pair.cell, pair.other
    return Difference(
        study=cell.study.slug if cell.study else "",
        simulated=cell.simulated,
        task=cell.task.slug,
        shots=cell.shots,
        system=other.system or "Human",
        method=other.method,
        parameters=other.parameters,
        other_shots=other.shots,
        mean=percent(test.people_mean),
        other_mean=percent(test.system_mean),
        difference=percent(test.difference),
        low=percent(test.low),
        high=percent(test.high),
        se=percent(test.se),
        df=test.df,
        t=test.t,
        p=test.p,
        p_holm=np.nan,
        p_bh=np.nan,
        sign_flip_p=test.sign_flip_p,
        n=test.n,
        r=test.r,
        m=test.m,
        left_out=test.left_out,
        exploratory=test.exploratory,
        references=cell.references,
        normalisation=cell.normalisation,
        gold_version=cell.gold_version,
        notes=test.notes,
        people_left_out=test.people_left_out,
        runs_left_out=test.runs_left_out,
        first=cell.system,
        first_method=cell.method,
        first_parameters=cell.parameters,
    )


def _over(cell: Cell, columns: Iterable[int]) -> Floats:
    position = {pk: number for number, pk in enumerate(columns)}
    rows = _rows(cell)
    matrix = np.full((len(rows), len(position)), np.nan)
    matrix[:, [position[pk] for pk in cell.example_ids]] = rows
    return matrix


def _rows(cell: Cell) -> Floats:
    """People one by one, a system by its splits."""
    return cell.units if cell.study is None else cell.scores


def _splits(cell: Cell) -> list[str]:
    """The split of each row, by its number where it has one: people's and runs' are the same."""
    members: tuple[Assignment | Run, ...] = cell.members
    splits = [
        _split(member) for member, answers in zip(members, cell.answered, strict=True) if answers
    ]
    return splits if len(_rows(cell)) == len(splits) else list(dict.fromkeys(splits))


def _split(member: Assignment | Run) -> str:
    if isinstance(member, Run):
        return f"run {member.checksum}" if member.split is None else str(member.split)
    learned = member.batch.training_set
    if learned is None:
        return ""
    return learned.name if learned.split is None else str(learned.split)


def _adjusted(differences: Sequence[Difference]) -> list[Difference]:
    """Each study is a family of its own, and so are its simulated annotators: they do not affect
    people's p values. Holm's are of the tests that allow a claim, with five annotators or more."""
    families: dict[tuple[bool, str], list[Difference]] = {}
    for test in differences:
        families.setdefault((test.simulated, test.study), []).append(test)
    adjusted: list[Difference] = []
    for family in families.values():
        p = [test.p for test in family]
        allowed = [nan if test.exploratory else test.p for test in family]
        rows = zip(family, holm(allowed), benjamini_hochberg(p), strict=True)
        adjusted += [replace(test, p_holm=float(h), p_bh=float(b)) for test, h, b in rows]
    return adjusted


def _by_task(people: Sequence[Cell]) -> Iterable[list[Cell]]:
    groups: dict[tuple[Study | None, bool, Task], list[Cell]] = {}
    for cell in people:
        groups.setdefault((cell.study, cell.simulated, cell.task), []).append(cell)
    return (sorted(cells, key=lambda cell: shots_order(cell.shots)) for cells in groups.values())

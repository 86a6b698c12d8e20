"""Differences on the same items, each tested once: people against systems, people with more
examples against people with fewer, and systems against systems."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np

from annotation.models import Study, Task
from scoring.cells.cells import OTHER_SHOT_SETS, Cell, known, percent
from scoring.cells.disputed import disputed_items
from scoring.cells.vectors import Floats
from scoring.contrasts.difference import Difference
from scoring.core.comparison import (
    PEOPLE,
    SYSTEMS,
    PairedDifference,
    compared_sides,
    paired_difference,
    paired_without_each,
)
from scoring.core.verdicts import Member, Tested
from scoring.models import FULLY_SUPERVISED, shots_order

SUPPLEMENT = "a supplement"
FEWEST_UNDISPUTED = 10


@dataclass(frozen=True)
class Pairing:
    """Two cells side by side. exploratory: why it is outside every family, if so; supplement: the
    day of the system's latest run, of one that came later."""

    cell: Cell
    other: Cell
    exploratory: str = ""
    runs_left_out: int = 0
    supplement: str | None = None

    @property
    def sides(self) -> str:
        if self.cell.study is None:
            return SYSTEMS
        return PEOPLE if self.other.study is not None else ""

    @cached_property
    def test(self) -> PairedDifference:
        """One cell's mean less the other's, on the items that the system and somebody answered."""
        return paired_difference(**self._options)

    @cached_property
    def without_each(self) -> tuple[PairedDifference, ...]:
        """The test without each annotator in turn; of systems alone there is none."""
        return () if self.sides == SYSTEMS else paired_without_each(**self._options)

    @property
    def compared(self) -> tuple[Floats, Floats]:
        """The scores of both sides on which it rests, one column a cluster."""
        return compared_sides(**self._options)

    @property
    def member(self) -> Member:
        lacks: list[str] = []
        if self.sides != SYSTEMS:
            lacks += [*self.cell.lacks, *self.other.lacks]
            lacks += [] if self.supplement is None else [SUPPLEMENT]
        without, excluded = (lambda: self.without_each), self.with_excluded
        return Member(self.test, without, tuple(dict.fromkeys(lacks)), self.exploratory, excluded)

    @cached_property
    def with_excluded(self) -> PairedDifference | None:
        """The test with the excluded counted, on the same items and runs; None without any."""
        return self.including.test if self.including else None

    @cached_property
    def including(self) -> "Pairing | None":
        one, other = self.cell.including or self.cell, self.other.including or self.other
        return None if (one, other) == (self.cell, self.other) else Pairing(one, other)

    @cached_property
    def disputed(self) -> frozenset[int]:
        people = [cell for cell in (self.cell, self.other) if cell.study is not None]
        return disputed_items([asked for cell in people for asked in cell.asked])

    @property
    def is_left_enough(self) -> bool:
        """Whether items enough are not disputed."""
        return len({*self.cell.seen} & {*self.other.seen} - self.disputed) >= FEWEST_UNDISPUTED

    @property
    def undisputed(self) -> "Pairing":
        """The same without its disputed items; as it is, where too few others are left."""
        if not self.disputed or not self.is_left_enough:
            return self
        cell, other = (side.without_items(self.disputed) for side in (self.cell, self.other))
        return replace(self, cell=cell, other=other)

    @cached_property
    def _options(self) -> dict[str, Any]:
        clusters = dict(zip(self.other.example_ids, self.other.clusters, strict=True))
        clusters |= dict(zip(self.cell.example_ids, self.cell.clusters, strict=True))
        return {
            "people": _over(self.cell, clusters),
            "system": _over(self.other, clusters),
            "clusters": list(clusters.values()),
            "sides": self.sides,
        }

    @property
    def named(self) -> dict[str, Any]:
        of_shots, of_systems = self.sides == PEOPLE, self.sides == SYSTEMS
        system = self.cell if of_systems else self.other
        named = {
            "study": self.cell.study.slug if self.cell.study else None,
            "pool": self.cell.pool or None,
            "simulated": self.cell.simulated,
            "shots": self.cell.shots,
            "system": None if of_shots else system.system,
            "method": None if of_shots else system.method,
            "parameters": system.parameters,
            "other_shots": self.other.shots if of_shots else None,
        }
        about = ("system", "method", "parameters") if of_systems else ()
        return named | {f"other_{name}": getattr(self.other, name) for name in about}


def people_and_systems(
    people: Iterable[Cell], systems: Sequence[Cell], *, is_later: bool = False
) -> list[Pairing]:
    """Every cell of people beside every system with the same task and shots. Those on episodes are
    tested over episodes, on their own board."""
    pairs = []
    for cell, system in product(people, systems):
        if not cell.is_of_episodes and (system.task.pk, system.shots) == (cell.task.pk, cell.shots):
            other, why = system.beside(cell)
            left_out = len(system.members) - len(other.members)
            latest = system.latest_day if is_later else None
            pairs.append(Pairing(cell, other, why, left_out, latest))
    return pairs


def systems_and_systems(systems: Sequence[Cell]) -> list[Pairing]:
    """Every two systems with the same task and shots, by their runs on splits that both have; by
    all of them where there are none, or where all learned from nothing or from everything."""
    return [
        _on_common_splits(one, other)
        for one, other in combinations([cell for cell in systems if not cell.is_of_episodes], 2)
        if (one.task.pk, one.shots) == (other.task.pk, other.shots)
    ]


def _on_common_splits(one: Cell, other: Cell) -> Pairing:
    if one.shots in (0, FULLY_SUPERVISED):
        return Pairing(one, other)
    common = set(one.splits) & set(other.splits)
    if not common:
        return Pairing(one, other, OTHER_SHOT_SETS)
    ours, theirs = (
        cell.keeping([vector.split in common for vector in cell.vectors]) for cell in (one, other)
    )
    kept = len(ours.members) + len(theirs.members)
    return Pairing(ours, theirs, "", len(one.members) + len(other.members) - kept)


def more_and_fewer_shots(people: Sequence[Cell]) -> list[Pairing]:
    """Each number of shots of a study beside the next lower, and the most beside the fewest."""
    groups: dict[tuple[Study | None, str, bool, Task], list[Cell]] = {}
    for cell in people:
        if not cell.is_of_episodes:
            of = cell.study, cell.pool, cell.simulated, cell.task
            groups.setdefault(of, []).append(cell)
    pairs: list[Pairing] = []
    for of_people in groups.values():
        cells = sorted(of_people, key=lambda cell: shots_order(cell.shots))
        pairs += [Pairing(more, fewer) for fewer, more in pairwise(cells)]
        if len(cells) > 2:
            pairs.append(Pairing(cells[-1], cells[0]))
    return pairs


def difference_of(pair: Pairing, **said: Any) -> Difference:
    cell, test = pair.cell, pair.test
    # Of two systems those of the one with fewer.
    runs = {PEOPLE: None, SYSTEMS: min(test.n, test.r)}.get(pair.sides, test.r)
    return Difference(
        **pair.named,
        **in_percent(test),
        **said,
        task=cell.task.slug,
        mean=percent(test.people_mean),
        other_mean=percent(test.system_mean),
        n=None if pair.sides == SYSTEMS else test.n,
        other_n=test.r if pair.sides == PEOPLE else None,
        runs=runs,
        m=test.m,
        above=test.above if not pair.sides else None,
        left_out=test.left_out,
        runs_left_out=pair.runs_left_out,
        references=cell.references,
        normalisation=cell.task.normalisation,
        gold_version=cell.gold_version,
        notes=" ".join(test.notes),
    )


def in_percent(test: Tested) -> dict[str, Any]:
    points = {name: percent(getattr(test, name)) for name in ("difference", "low", "high", "se")}
    return {**points, "df": known(test.df)}


def _over(cell: Cell, columns: Iterable[int]) -> Floats:
    position = {pk: number for number, pk in enumerate(columns)}
    matrix = np.full((len(cell.scores), len(position)), np.nan)
    matrix[:, [position[pk] for pk in cell.example_ids]] = cell.scores
    return matrix

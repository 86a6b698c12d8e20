"""Differences on the same items, each tested once: people against systems, people with more
examples against people with fewer, and systems against systems."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from annotation.models import Assignment, Study, Task
from scoring.cells.cells import Cell
from scoring.cells.rows import PEOPLE, Row, known, percent
from scoring.cells.vectors import Floats
from scoring.core.comparison import (
    PairedDifference,
    pair_up,
    paired_difference,
    paired_without_each,
)
from scoring.core.power import ComparisonDesign, observed_design
from scoring.core.verdicts import AHEAD, BEHIND, AverageDifference
from scoring.models import Run, shots_order

MIRRORED = {AHEAD: BEHIND, BEHIND: AHEAD}


@dataclass(frozen=True)
class Difference:
    """One side less the other, in percent points, and what may be said of it; None where something
    does not apply. n and r count the annotators, or a system's splits, on the two sides; the means
    are those over the compared items. p is of the difference, p_direction of its direction, p_holm
    is adjusted over `family` tests.

    outcome: ahead, behind, same, undecided, exploratory or untested, as the first side stands to
    the second; "" of people against people. direction: what the data speak for before p is
    adjusted; "" where nothing was tested. detectable: where not decided, the smallest true
    difference that a comparison like this one finds to exceed the margin, by itself, with a chance
    of 80 %. above: how many of the n annotators score higher than the system. fragile: it is
    another verdict without some annotator. is_reported: a published figure has no items, so its
    distance is all there is.
    """

    study: str
    simulated: bool
    # None of the mean of several tasks' differences.
    task: str | None
    shots: int | str
    # The other side: a system, or the same study's people with other shots.
    system: str
    method: str
    parameters: str
    difference: float | None
    tasks: tuple[str, ...] = ()
    other_shots: int | str | None = None
    # The first side, where it is a system too.
    first: str = ""
    first_method: str = ""
    first_parameters: str = ""
    mean: float | None = None
    other_mean: float | None = None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    df: float | None = None
    p: float | None = None
    p_holm: float | None = None
    p_direction: float | None = None
    n: int | None = None
    r: int | None = None
    m: int | None = None
    left_out: int = 0
    # Rows of other splits, which were not compared.
    people_left_out: int = 0
    runs_left_out: int = 0
    exploratory: bool = False
    outcome: str = ""
    direction: str = ""
    margin: float | None = None
    family: int | None = None
    detectable: float | None = None
    above: int | None = None
    fragile: bool | None = None
    # None of an average.
    is_reported: bool | None = None
    source: str = ""
    references: str | None = None
    normalisation: str | None = None
    gold_version: int | None = None
    notes: str = ""

    @property
    def of_system(self) -> str:
        """The outcome from the system's side."""
        return MIRRORED.get(self.outcome, self.outcome)

    def is_beside(self, row: Row) -> bool:
        """Whether the people's side is of the same study as this row, with as many shots."""
        whose = self.study, self.simulated, str(self.shots)
        return whose == (row.study or "", row.is_simulated, str(row.shots))


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

    @cached_property
    def test(self) -> PairedDifference:
        """One cell's mean less the other's, on the items that the system and somebody answered."""
        return paired_difference(self.ours, self.theirs, splits=self.splits, **self._options)

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

    @property
    def sides(self) -> dict[str, Any]:
        """Whose the two are, and with how many shots."""
        return {
            **people_of(self.cell),
            "system": self.other.system or PEOPLE,
            "method": self.other.method,
            "parameters": self.other.parameters,
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


def systems_and_systems(systems: Sequence[Cell]) -> list[Pairing]:
    """Every two systems with the same task and shots."""
    return [
        side_by_side(one, other)
        for one, other in combinations([cell for cell in systems if not cell.is_of_episodes], 2)
        if (one.task.pk, one.shots) == (other.task.pk, other.shots)
    ]


def more_and_fewer_shots(people: Sequence[Cell]) -> list[Pairing]:
    """Each number of shots of a study beside the next lower, and the most beside the fewest.
    Different people, the same items."""
    groups: dict[tuple[Study | None, bool, Task], list[Cell]] = {}
    for cell in people:
        if not cell.is_of_episodes:
            groups.setdefault((cell.study, cell.simulated, cell.task), []).append(cell)
    pairs: list[tuple[Cell, Cell]] = []
    for those in groups.values():
        cells = sorted(those, key=lambda cell: shots_order(cell.shots))
        pairs += [(more, fewer) for fewer, more in pairwise(cells)]
        if len(cells) > 2:
            pairs.append((cells[-1], cells[0]))
    return [side_by_side(*pair) for pair in pairs]


def difference_of(pair: Pairing, **said: Any) -> Difference:
    """The test of two cells, with what is said of it."""
    cell, test = pair.cell, pair.test
    return Difference(
        **pair.sides,
        **in_percent(test),
        task=cell.task.slug,
        other_shots=pair.other.shots,
        first=cell.system,
        first_method=cell.method,
        first_parameters=cell.parameters,
        mean=percent(test.people_mean),
        other_mean=percent(test.system_mean),
        n=test.n,
        r=test.r,
        m=test.m,
        left_out=test.left_out,
        people_left_out=test.people_left_out,
        runs_left_out=test.runs_left_out,
        references=cell.references,
        normalisation=cell.normalisation,
        gold_version=cell.gold_version,
        notes=" ".join(test.notes),
        **said,
    )


def in_percent(test: PairedDifference | AverageDifference) -> dict[str, Any]:
    points = {name: percent(getattr(test, name)) for name in ("difference", "low", "high", "se")}
    return {**points, "df": known(test.df), "p": known(test.p), "exploratory": test.exploratory}


def people_of(cell: Cell) -> dict[str, Any]:
    study = cell.study.slug if cell.study else ""
    return {"study": study, "simulated": cell.simulated, "shots": cell.shots}


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

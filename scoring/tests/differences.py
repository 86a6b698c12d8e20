"""Differences on the same items, each tested once: people against systems, people with more
examples against people with fewer, and systems against systems."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from annotation.models import Study, Task
from scoring.cells.cells import OTHER_SHOT_SETS, Cell, known, percent
from scoring.cells.rows import BY_KEY, Row, RowKind
from scoring.cells.vectors import Floats
from scoring.core.comparison import (
    FEWEST_RUNS,
    PEOPLE,
    SYSTEMS,
    PairedDifference,
    paired_difference,
    paired_without_each,
)
from scoring.core.verdicts import Member, Tested
from scoring.models import FULLY_SUPERVISED, shots_order
from scoring.tables.table import REQUIRED, as_in, columns_of, described

points = partial(described, digits=1)
words = partial(described, is_number=False)
p_value = partial(described, digits=3, least=0.001)


@dataclass(frozen=True)
class Difference:
    """One side less the other, in percent points, and what may be said of it; None where something
    does not apply. The outcome is that of the first side: people, or the first of two systems. All
    of it follows from single items: nothing is for readers who may not see the gold."""

    # None of systems.
    study: str | None = as_in(BY_KEY["study"])
    simulated: bool = words("Simulated", "Whether the annotators are simulated.", default=REQUIRED)
    # None of the mean of several tasks' differences.
    task: str | None = as_in(BY_KEY["task"])
    shots: int | str = as_in(BY_KEY["shots"])
    # None between two numbers of shots.
    system: str | None = words("System", "The system's name.", default=REQUIRED)
    method: str | None = as_in(BY_KEY["method"])
    parameters: str = words(
        "Parameters", "The system's size, as its submitter states it.", default=""
    )
    other_shots: int | str | None = described(
        "Against shots", "The smaller number of training examples, which the other annotators had."
    )
    other_system: str | None = words("Other system", "The second of two systems.")
    other_method: str | None = words("Other method", "How the second system was adapted.")
    other_parameters: str = words("Other parameters", "The second system's size.", default="")
    tasks: tuple[str, ...] = words("Tasks", "The tasks that the mean is over.", default=())
    outcome: str = words(
        "Outcome",
        "What may be said of people (of two systems, the first) beside the other side: ahead, "
        "behind, same (as good within the margin), open; too_few below five people.",
        default="",
    )
    certainty: str | None = words(
        "Certainty", "sure or probable; empty where the outcome is open or people are too few."
    )
    reasons: tuple[str, ...] = words("Reasons", "Why it is not sure.", default=())
    exploratory: bool = words(
        "Exploratory",
        "Whether it rests on other shot sets or items than the people's, outside every family.",
        default=False,
    )
    interim: bool = words("Interim", "Whether the study is still running.", default=False)
    frozen_at: str | None = words("Frozen", "The day on which the study's verdicts were frozen.")
    supplement: str | None = words(
        "Supplement", "Of a system that came later: the day of its latest run."
    )
    pool: str | None = as_in(BY_KEY["pool"], default=None)
    group: str | None = as_in(BY_KEY["group"], default=None)
    difference: float | None = points(
        "Difference",
        "The first side less the second, in percent points, on the items that the system and "
        "somebody answered; the two means are over these items, so that they subtract.",
    )
    low: float | None = points(
        "Difference, 95 % low", "Lower limit of the difference's 95 % interval."
    )
    high: float | None = points(
        "Difference, 95 % high", "Upper limit of the difference's 95 % interval."
    )
    p: float | None = p_value("p", "Its p value, with the margin; not adjusted.")
    p_holm: float | None = p_value(
        "p, Holm", "The p value adjusted by Holm's method over the family; empty outside it."
    )
    family: int | None = described("Family", "How many comparisons Holm's p is adjusted over.")
    in_family: bool = words("In the family", "Whether it is one of them.", default=False)
    margin: float | None = points("Margin", "The margin, in points, set before the start.")
    fragile: bool | None = words(
        "Fragile", "Whether the claim falls without some one annotator; empty without a claim."
    )
    runs: int | None = described("Runs", "The system's runs that were compared.")
    m: int | None = described(
        "m", "Item clusters of the test: items that share a context count as one."
    )
    n: int | None = described("n", "Annotators of the first side that were compared.")
    other_n: int | None = described("Others", "Annotators with fewer shots that were compared.")
    mean: float | None = points("People", "People's mean S1 in percent on the compared items.")
    other_mean: float | None = points(
        "System's mean", "The system's mean S1 in percent on the compared items."
    )
    se: float | None = points("SE", "Standard error of the difference, in percent points.")
    df: float | None = points("df", "Satterthwaite's degrees of freedom.")
    above: int | None = described(
        "Above", "How many of the n annotators score higher than the system."
    )
    left_out: int = described("Items left out", "Items that one side did not answer.", default=0)
    runs_left_out: int = described(
        "Runs left out", "Runs on shot sets that people do not have.", default=0
    )
    references: str | None = as_in(BY_KEY["references"], default=None)
    normalisation: str | None = as_in(BY_KEY["normalisation"], default=None)
    gold_version: int | None = as_in(BY_KEY["gold_version"], default=None)
    notes: str = words("Notes", "What limits the test, in words.", default="")

    def is_beside(self, row: Row) -> bool:
        """Whether its people are of the same study and pool as this row, with as many shots."""
        whose = self.study, self.pool, self.simulated, str(self.shots)
        return whose == (row.study, row.pool, row.kind == RowKind.SIMULATED, str(row.shots))


COLUMNS = columns_of(Difference)


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
    def member(self) -> Member:
        no_floor = next((cell.no_floor for cell in (self.cell, self.other) if cell.no_floor), "")
        return Member(self.test, lambda: self.without_each, no_floor, self.exploratory)

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
    return [
        _beside(cell, system, is_later=is_later)
        for cell in people
        for system in systems
        if not cell.is_of_episodes and (system.task.pk, system.shots) == (cell.task.pk, cell.shots)
    ]


def _beside(cell: Cell, system: Cell, *, is_later: bool) -> Pairing:
    other, why = system.beside(cell)
    left_out = len(system.members) - len(other.members)
    return Pairing(cell, other, why, left_out, system.latest_day if is_later else None)


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
    for those in groups.values():
        cells = sorted(those, key=lambda cell: shots_order(cell.shots))
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


def runs_text(runs: int | None) -> str:
    """What a figure of so few runs says of itself; nothing of a sample of the system."""
    if runs is None or runs >= FEWEST_RUNS:
        return ""
    return "1 run" if runs == 1 else f"{runs} runs"


def in_percent(test: Tested) -> dict[str, Any]:
    points = {name: percent(getattr(test, name)) for name in ("difference", "low", "high", "se")}
    return {**points, "df": known(test.df)}


def _over(cell: Cell, columns: Iterable[int]) -> Floats:
    position = {pk: number for number, pk in enumerate(columns)}
    matrix = np.full((len(cell.scores), len(position)), np.nan)
    matrix[:, [position[pk] for pk in cell.example_ids]] = cell.scores
    return matrix

"""Differences on the same items, each tested once: people against systems, people with more
examples against people with fewer, and systems against systems."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from annotation.models import Study, Task
from scoring.cells.cells import Cell, known, percent
from scoring.cells.rows import BY_KEY, PEOPLE, Row, RowKind
from scoring.cells.vectors import Floats
from scoring.core.comparison import (
    PairedDifference,
    paired_difference,
    paired_without_each,
)
from scoring.core.verdicts import (
    AHEAD,
    BEHIND,
    AverageDifference,
    ComparisonDesign,
    observed_design,
)
from scoring.models import shots_order
from scoring.tables.table import REQUIRED, as_in, columns_of, described

MIRRORED = {AHEAD: BEHIND, BEHIND: AHEAD}
# What a test does not compare.
LEFT_OUT = ("left_out", "people_left_out", "runs_left_out")

points = partial(described, digits=1)
words = partial(described, is_number=False)
p_value = partial(described, digits=3, least=0.001)


@dataclass(frozen=True)
class Difference:
    """One side less the other, in percent points, and what may be said of it; None where something
    does not apply. The means are those over the compared items. outcome and direction are those of
    the first side; "" where nothing is said.

    All of it follows from single items: nothing is for readers who may not see the gold.
    """

    study: str = as_in(BY_KEY["study"])
    simulated: bool = words("Simulated", "Whether the annotators are simulated.", default=REQUIRED)
    # None of the mean of several tasks' differences.
    task: str | None = as_in(BY_KEY["task"])
    shots: int | str = as_in(BY_KEY["shots"])
    # The other side: a system, or the same study's people with other shots.
    system: str = words("System", "The system's name.", default=REQUIRED)
    method: str = as_in(BY_KEY["method"])
    parameters: str = words(
        "Parameters", "The system's size, as its submitter states it.", default=REQUIRED
    )
    difference: float | None = points(
        "Difference",
        "The first side less the second, in percent points, on the items that the system and "
        "somebody answered; the two means are over these items, so that they subtract.",
    )
    tasks: tuple[str, ...] = words("Tasks", "The tasks that the mean is over.", default=())
    other_shots: int | str | None = described(
        "Against shots", "The smaller number of training examples, which the other annotators had."
    )
    # The first side, where it is a system too.
    first: str = words("First", "The first system's name.", default="")
    first_method: str = words("Method", "How the first system was adapted.", default="")
    first_parameters: str = words("Parameters", "The first system's size.", default="")
    mean: float | None = points("People", "People's mean S1 in percent on the compared items.")
    other_mean: float | None = points(
        "System's mean", "The system's mean S1 in percent on the compared items."
    )
    low: float | None = points("95 % low", "Lower limit of the difference's 95 % interval.")
    high: float | None = points("95 % high", "Upper limit of the difference's 95 % interval.")
    se: float | None = points("SE", "Standard error of the difference, in percent points.")
    df: float | None = points("df", "Satterthwaite's degrees of freedom.")
    p: float | None = p_value("p", "Two-sided p value of the difference, not adjusted.")
    p_holm: float | None = p_value(
        "p, Holm",
        "The p value adjusted by Holm's method over the tests of one study's people that allow "
        "a claim (five annotators or more); simulated annotators by themselves.",
    )
    p_direction: float | None = p_value("p of the direction", "Its p value, with the margin; raw.")
    n: int | None = described("n", "Annotators of the first side that were compared.")
    r: int | None = described("r", "Annotators of the second side, or a system's splits.")
    m: int | None = described(
        "m", "Item clusters of the test: items that share a context count as one."
    )
    left_out: int = described("Items left out", "Items that one side did not answer.", default=0)
    people_left_out: int = described(
        "People left out",
        "Annotators of splits that the system does not have, or without a compared item.",
        default=0,
    )
    runs_left_out: int = described(
        "Runs left out", "Runs of splits that people do not have.", default=0
    )
    exploratory: bool = False
    outcome: str = words(
        "Outcome",
        "What may be said of the first side, with the margin and after Holm: ahead, behind, "
        "same (as good within the margin), undecided; exploratory below five annotators; "
        "untested where nothing could be computed.",
        default="",
    )
    direction: str = words(
        "Direction", "What the data speak for, before p is adjusted.", default=""
    )
    margin: float | None = points("Margin", "The margin, in points, set before the start.")
    family: int | None = described("Family", "How many tests Holm's p is adjusted over.")
    detectable: float | None = points(
        "Detectable",
        "Where nothing was decided: the smallest true difference, in points, that a comparison "
        "like this one finds to exceed the margin, by itself, four times out of five.",
    )
    above: int | None = described(
        "Above", "How many of the n annotators score higher than the system."
    )
    fragile: bool | None = words(
        "Fragile", "Whether it is another verdict without some one annotator."
    )
    # A published figure has no items, so its distance is all there is. None of an average.
    is_reported: bool | None = words("Published", "Whether the system's figure is published.")
    source: str = ""
    references: str | None = as_in(BY_KEY["references"], default=None)
    normalisation: str | None = as_in(BY_KEY["normalisation"], default=None)
    gold_version: int | None = as_in(BY_KEY["gold_version"], default=None)
    notes: str = words("Notes", "What limits the test, in words.", default="")

    @property
    def of_system(self) -> str:
        """The outcome from the system's side."""
        return MIRRORED.get(self.outcome, self.outcome)

    def is_beside(self, row: Row) -> bool:
        """Whether the people's side is of the same study as this row, with as many shots."""
        whose = self.study, self.simulated, str(self.shots)
        return whose == (row.study or "", row.kind == RowKind.SIMULATED, str(row.shots))


COLUMNS = columns_of(Difference)


@dataclass(frozen=True)
class Pairing:
    """Two cells side by side, over the items of either."""

    cell: Cell
    other: Cell

    @cached_property
    def test(self) -> PairedDifference:
        """One cell's mean less the other's, on the items that the system and somebody answered."""
        return paired_difference(**self._options)

    def without_each(self) -> tuple[PairedDifference, ...]:
        """The test without each annotator in turn."""
        return paired_without_each(**self._options)

    @cached_property
    def design(self) -> ComparisonDesign:
        """What another comparison like this one could show."""
        return observed_design(self.test.pair)

    @cached_property
    def _options(self) -> dict[str, Any]:
        clusters = dict(zip(self.other.example_ids, self.other.clusters, strict=True))
        clusters |= dict(zip(self.cell.example_ids, self.cell.clusters, strict=True))
        return {
            "people": _over(self.cell, clusters),
            "system": _over(self.other, clusters),
            "clusters": list(clusters.values()),
            "splits": self.cell.splits_of_rows,
            "system_splits": self.other.splits_of_rows,
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


def people_and_systems(people: Iterable[Cell], systems: Sequence[Cell]) -> list[Pairing]:
    """Every cell of people beside every system with the same task and shots. Those on episodes are
    tested over episodes, on their own board."""
    return [
        Pairing(cell, system)
        for cell in people
        for system in systems
        if not cell.is_of_episodes and (system.task.pk, system.shots) == (cell.task.pk, cell.shots)
    ]


def systems_and_systems(systems: Sequence[Cell]) -> list[Pairing]:
    """Every two systems with the same task and shots."""
    return [
        Pairing(one, other)
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
    pairs: list[Pairing] = []
    for those in groups.values():
        cells = sorted(those, key=lambda cell: shots_order(cell.shots))
        pairs += [Pairing(more, fewer) for fewer, more in pairwise(cells)]
        if len(cells) > 2:
            pairs.append(Pairing(cells[-1], cells[0]))
    return pairs


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
        **{name: getattr(test.pair, name) for name in LEFT_OUT},
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
    matrix = np.full((len(cell.rows), len(position)), np.nan)
    matrix[:, [position[pk] for pk in cell.example_ids]] = cell.rows
    return matrix

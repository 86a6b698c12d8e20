"""One tested difference, as it is kept, exported and told: of what it is, its figures, and what may
be said of it."""

from dataclasses import dataclass, fields
from enum import StrEnum

from scoring.cells.rows import BY_KEY, Row, RowKind
from scoring.core.comparison import FEWEST_RUNS
from scoring.models import method_label
from scoring.tables.table import columns_in


class Sort(StrEnum):
    """Which two sides are compared."""

    TASK = "people and a system on one task"
    TASKS = "people and a system over several tasks"
    SHOTS = "people with more examples and people with fewer"
    SYSTEMS = "two systems"


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """Both sides of a difference; None where something does not apply."""

    # None of systems.
    study: str | None
    pool: str | None = None
    group: str | None = None
    simulated: bool
    # None of the mean of several tasks' differences, which names them.
    task: str | None
    tasks: tuple[str, ...] = ()
    shots: int | str
    # None between two numbers of shots.
    system: str | None
    method: str | None
    parameters: str = ""
    other_shots: int | str | None = None
    other_system: str | None = None
    other_method: str | None = None
    other_parameters: str = ""
    exploratory: bool = False

    @property
    def sort(self) -> Sort:
        if self.other_system is not None:
            return Sort.SYSTEMS
        if self.system is None:
            return Sort.SHOTS
        return Sort.TASKS if self.task is None else Sort.TASK

    def is_beside(self, row: Row) -> bool:
        """Whether its people are of the same study and pool as this row, with as many shots."""
        whose = self.study, self.pool, self.simulated, str(self.shots)
        return whose == (row.study, row.pool, row.kind == RowKind.SIMULATED, str(row.shots))


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The first side minus the other, in percent points, with what it rests on."""

    difference: float | None = None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    df: float | None = None
    mean: float | None = None
    other_mean: float | None = None
    n: int | None = None
    other_n: int | None = None
    runs: int | None = None
    m: int | None = None
    above: int | None = None
    left_out: int = 0
    runs_left_out: int = 0
    references: str | None = None
    normalisation: str | None = None
    gold_version: int | None = None
    notes: str = ""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What may be said of a difference, from its first side: people, or the first system."""

    outcome: str = ""
    certainty: str | None = None
    reasons: tuple[str, ...] = ()
    p: float | None = None
    p_holm: float | None = None
    family: int | None = None
    in_family: bool = False
    margin: float | None = None
    fragile: bool | None = None
    supplement: str | None = None
    frozen_at: str | None = None
    # What becomes of it without the items whose gold people dispute; empty without any.
    disputed: str = ""


@dataclass(frozen=True, kw_only=True)
class Difference(Judgement, Figures, Contrast):
    """All of it follows from single items: nothing is for readers who may not see the gold. What
    is kept and exported has these fields side by side."""


_OWN = columns_in(__file__, "difference")
COLUMNS = {field.name: _OWN.get(field.name) or BY_KEY[field.name] for field in fields(Difference)}


def runs_text(runs: int | None) -> str:
    """What a figure of so few runs says of itself; nothing of a sample of the system."""
    if runs is None or runs >= FEWEST_RUNS:
        return ""
    return "1 run" if runs == 1 else f"{runs} runs"


def name_of(system: Contrast | Row) -> str:
    return " ".join(filter(None, [system.system, method_label(system.method)]))

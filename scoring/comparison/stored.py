"""What is kept of a comparison, part by part, and its shape: a program version whose figures have
other fields does not read what was kept before."""

from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from functools import cache
from typing import Any, TypedDict, get_args, get_type_hints, is_typeddict

from scoring.comparison.agreement import Accord
from scoring.comparison.curves import Curve
from scoring.comparison.differences import Difference
from scoring.comparison.floors import Bound
from scoring.comparison.over_tasks import Aggregate
from scoring.comparison.pooled import PooledTask
from scoring.comparison.rows import Row
from scoring.comparison.uncertainty import Uncertainty
from scoring.comparison.verdicts import AverageVerdict, Verdicts
from scoring.models import Part


@dataclass(frozen=True)
class StoredTable:
    rows: tuple[Row, ...]
    # What more than half of a cell's annotators chose.
    consensus: tuple[Row, ...]
    bounds: tuple[Bound, ...]
    verdicts: Verdicts
    # Over all tasks.
    averages: tuple[Aggregate, ...]


@dataclass(frozen=True)
class AnalysedCell:
    study: str | None
    simulated: bool
    task: str
    shots: int | str
    references: str
    normalisation: str
    gold_version: int
    uncertainty: Uncertainty
    accord: Accord | None


# A cell without and with its excluded annotators; an empty side is left out.
Sides = TypedDict(
    "Sides",
    {
        "study": str,
        "simulated": bool,
        "task": str,
        "shots": int | str,
        "without": Row,
        "with": Row,
    },
    total=False,
)


@dataclass(frozen=True)
class Analysis:
    cells: tuple[AnalysedCell, ...]
    tests: tuple[Difference, ...]
    systems: tuple[Difference, ...]
    changes: tuple[Difference, ...]
    curves: tuple[Curve, ...]
    aggregates: tuple[Aggregate, ...]
    averages: tuple[AverageVerdict, ...]
    excluded: tuple[Sides, ...]
    pooled: tuple[PooledTask, ...]


STORED: dict[Part, type] = {Part.TABLE: StoredTable, Part.ANALYSIS: Analysis}


@cache
def shape(kind: type) -> list[Any]:
    """The names and types of all fields, recursively."""
    return [
        [name, str(hint), [shape(part) for part in _parts(hint)]]
        for name, hint in get_type_hints(kind).items()
    ]


def _parts(hint: Any) -> Iterator[type]:
    """The types with fields of their own that a type is made of."""
    if is_dataclass(hint) or is_typeddict(hint):
        yield hint
    for argument in get_args(hint):
        yield from _parts(argument)

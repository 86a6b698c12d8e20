"""One figure over all tasks, for whoever has all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import nan

from scoring.comparison.policies import first_policies, policy_of
from scoring.comparison.rows import Row
from scoring.core.comparison import over_tasks


@dataclass(frozen=True)
class Aggregate:
    """In percent. sd is of the mean, √(Σ sd²)/T; clues_sd is √(Σ sd²), which the CLUES
    leaderboard prints. Both are None where a task's SD is not known."""

    kind: str
    study: str | None
    system: str | None
    method: str | None
    parameters: str
    shots: int | str | None
    source: str
    mean: float
    sd: float | None
    clues_sd: float | None
    tasks: tuple[str, ...]
    # The policies that its tasks were scored under, each once.
    references: tuple[str, ...]


def aggregates(rows: Iterable[Row], tasks: Sequence[str]) -> list[Aggregate]:
    """The mean of the task means of everybody who has a figure for each of the tasks. Figures under
    another policy than their task's scored ones are left out."""
    found = list(rows)
    first = first_policies(found)
    groups: dict[tuple[object, ...], dict[str, Row]] = {}
    for row in found:
        if policy_of(row, first) != first[row.task]:
            continue
        if not row.single and row.mean is not None and not _partial(row):
            key = (row.kind, row.study, row.system, row.method, row.parameters, row.shots)
            groups.setdefault(key, {}).setdefault(row.task, row)
    return [
        _aggregate([by_task[task] for task in tasks])
        for by_task in groups.values()
        if tasks and all(task in by_task for task in tasks)
    ]


def _aggregate(rows: Sequence[Row]) -> Aggregate:
    found = over_tasks([_or_nan(row.mean) for row in rows], [_or_nan(row.sd) for row in rows])
    first = rows[0]
    known = found.sd == found.sd
    return Aggregate(
        kind=first.kind,
        study=first.study,
        system=first.system,
        method=first.method,
        parameters=first.parameters,
        shots=first.shots,
        source="; ".join(dict.fromkeys(row.source for row in rows if row.source)),
        mean=found.mean,
        sd=found.sd if known else None,
        clues_sd=found.root_sum_sd if known else None,
        tasks=tuple(row.task for row in rows),
        references=tuple(dict.fromkeys(row.references or "" for row in rows)),
    )


def _or_nan(figure: float | None) -> float:
    return nan if figure is None else figure


def _partial(row: Row) -> bool:
    return row.coverage is not None and row.coverage < 1

"""What a benchmark has of each system: its runs by task, shots and split, and how whole they
are."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from annotation.models import Task
from scoring.models import Run, shots_label
from scoring.models.run import method_label, shots_order, shots_text

EPISODES = "episodes"
# Of more runs in a cell their number is shown.
MOST_SHOWN = 12


class Line(NamedTuple):
    """The runs of a system on a task, by the columns of the table."""

    task: Task
    cells: list[list[Run]]
    # The least part of the test set that one of them answers, in percent.
    share: float | None
    latest: datetime
    owners: list[str]


class System(NamedTuple):
    name: str
    method: str
    lines: list[Line]

    @property
    def runs(self) -> list[Run]:
        return [run for line in self.lines for cell in line.cells for run in cell]

    @property
    def partial_runs(self) -> int:
        return sum(run.is_partial for run in self.runs)


def column_of(run: Run) -> str:
    if run.episode is not None:
        return EPISODES
    return shots_text(str(shots_label(run.shots)))


def columns_of(runs: Iterable[Run]) -> list[str]:
    """The headings of the table, by the number of shots; episodes come last."""
    orders = {
        column_of(run): (run.episode is not None, shots_order(shots_label(run.shots)))
        for run in runs
    }
    return sorted(orders, key=orders.__getitem__)


def systems_of(runs: Sequence[Run], columns: Sequence[str]) -> list[System]:
    """The systems in the order of their names; each has a line for each task that it ran on."""
    by_system: dict[tuple[str, str], dict[Task, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        by_system[run.system, method_label(run.method)][run.task].append(run)
    return [
        System(name, method, [_line(task, of_task, columns) for task, of_task in by_task.items()])
        for (name, method), by_task in sorted(by_system.items(), key=lambda pair: pair[0])
    ]


def _line(task: Task, runs: Sequence[Run], columns: Sequence[str]) -> Line:
    by_column: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        by_column[column_of(run)].append(run)
    shares = [run.coverage for run in runs if run.coverage is not None]
    return Line(
        task=task,
        cells=[by_column[column] for column in columns],
        share=100 * min(shares) if shares else None,
        latest=max(run.completed_at or run.created_at for run in runs),
        owners=sorted({str(run.owner or "–") for run in runs}),
    )

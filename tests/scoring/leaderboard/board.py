"""Leaderboards for tests: systems with all the runs that CLUES requires."""

from collections.abc import Collection, Mapping
from typing import Any

from annotation.models import Benchmark, Task
from scoring.leaderboard.board import Board, place_all
from scoring.leaderboard.rules import SHOTS, SPLITS, Ranking
from scoring.models import ReportedScore, Run
from tests.scoring.comparison import measured


def system(
    task: Task,
    name: str = "BERT-Base",
    *,
    wrong: Mapping[int, int] | None = None,
    without: Collection[tuple[int, int]] = (),
    **fields: Any,
) -> list[Run]:
    """A run on every split at every number of shots, except those left out; `wrong` answers by
    split."""
    return [
        measured.run(
            task, system=name, shots=shots, split=split, wrong=(wrong or {}).get(split, 0), **fields
        )
        for shots in SHOTS
        for split in SPLITS
        if (shots, split) not in without
    ]


def published(
    benchmark: Benchmark, task: str, means: Mapping[int | None, float], **fields: Any
) -> list[ReportedScore]:
    """Figures by shots; None is fully supervised."""
    return [
        measured.reported(benchmark, task, shots=shots, mean=mean, **fields)
        for shots, mean in means.items()
    ]


def order(board: Board) -> list[tuple[str, int | None]]:
    """Who is where in the table over tasks."""
    return [(line.entry.name, line.rank) for line in board.over_tasks]


def place_on(benchmark: Benchmark, task: str, name: str, **chosen: Any) -> Ranking:
    placed = place_all(benchmark, **chosen, sees_gold=True)
    [board] = [board for board in placed.by_task if board.task == task]
    [ranking] = [ranking for ranking in board.rankings if ranking.entry.name == name]
    return ranking

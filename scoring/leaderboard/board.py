"""The leaderboard of a benchmark: the entries that appear on it, ranked for one reader."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from annotation.models import Benchmark, ItemSet, Role
from annotation.models.benchmark import names_of
from scoring.cells.cell_rows import reported_rows
from scoring.cells.cells import CellReader
from scoring.cells.rows import RowKind, first_policies, scored_under, withheld_row
from scoring.cells.scope import Choices
from scoring.comparison.paper_tables import task_order
from scoring.leaderboard.entries import SHOWN, kept_entries
from scoring.leaderboard.rules import Entry, Ranking, on_task, over_tasks


@dataclass(frozen=True)
class TaskBoard:
    task: str
    # Empty where nothing says under which policy.
    scored_under: str
    shots: tuple[str, ...]
    rankings: tuple[Ranking, ...]


@dataclass(frozen=True)
class Board:
    benchmark: str
    # All tasks of the benchmark, imported or known from published figures.
    tasks: tuple[str, ...]
    # Those that the reader chose to average over.
    chosen: tuple[str, ...]
    # Published on, but not imported: nothing can be scored there.
    not_imported: tuple[str, ...]
    over_tasks: tuple[Ranking, ...]
    by_task: tuple[TaskBoard, ...]
    # By slug, what is read; a task that is not imported has its slug alone.
    names: Mapping[str, str] = field(default_factory=dict)

    def name(self, task: str) -> str:
        return self.names.get(task, task)

    def named(self, tasks: Sequence[str]) -> list[tuple[str, str]]:
        return [(task, self.name(task)) for task in tasks]

    @property
    def choices(self) -> list[tuple[str, str]]:
        return self.named(self.tasks)

    @property
    def names_not_imported(self) -> list[str]:
        return list(map(self.name, self.not_imported))

    @property
    def entries(self) -> list[Entry]:
        """Everybody who appears in any of the tables."""
        rankings = chain(self.over_tasks, *(board.rankings for board in self.by_task))
        return list({id(ranking.entry): ranking.entry for ranking in rankings}.values())


def place_all(
    benchmark: Benchmark,
    *,
    references: str | None = None,
    tasks: Sequence[str] = (),
    for_researchers: bool = False,
    sees_gold: bool = False,
) -> Board:
    """The board over the chosen tasks, all of them if none is chosen. Researchers see the
    people of running studies too. Whoever may not see the gold gets, and is shown the order by,
    what `withheld_row` leaves."""
    reader = CellReader(Choices(references=references, shots=SHOWN))
    # Episodes have a board of their own: scoring/episodes/board.py.
    whole = ItemSet.objects.filter(role=Role.TEST, episode__isnull=True)
    imported = {task.slug: task for task in benchmark.tasks.filter(item_sets__in=whole).distinct()}
    published = [row for row in reported_rows(benchmark, None) if str(row.shots) in SHOWN]
    # If nothing can be scored, the board has the policy that its figures state.
    policies = first_policies(published) | {
        slug: reader.policy(task) for slug, task in imported.items()
    }
    under = {
        slug: scored_under(policy, imported[slug].normalisation if slug in imported else None)
        for slug, policy in policies.items()
    }
    entries = [
        entry
        for entry in kept_entries(benchmark, reader, list(imported.values()), policies)
        if for_researchers or not entry.is_running
    ]
    if not sees_gold:
        others = {
            slug for slug, task in imported.items() if reader.policy(task) != task.reference_policy
        }
        entries = [_withheld(entry, others) for entry in entries]
    rows = (row for entry in entries for row in entry.rows)
    known = task_order([*rows, *published])
    chosen = tuple(slug for slug in known if slug in tasks) or tuple(known)
    names = names_of(imported.values())
    over = {slug: names.get(slug, slug) for slug in chosen}
    return Board(
        benchmark=benchmark.name,
        tasks=tuple(known),
        chosen=chosen,
        not_imported=tuple(slug for slug in known if slug not in imported),
        over_tasks=tuple(over_tasks(entries, over, in_full=sees_gold)),
        by_task=tuple(_task_board(entries, slug, under.get(slug, "")) for slug in chosen),
        names=names,
    )


def _withheld(entry: Entry, others: Collection[str]) -> Entry:
    """As whoever may not see the gold is shown it; `others` are the tasks that the board scores
    under another policy than their own, where no run shows a mean."""
    rows = tuple(map(withheld_row, entry.rows))
    without = {row.task for row in rows if row.kind == RowKind.RUN and row.task in others}
    because = ("scores of runs are shown under the task’s own reference policy alone",)
    gaps = {task: (*entry.gaps.get(task, ()), *because) for task in without}
    return replace(entry, rows=rows, gaps={**entry.gaps, **gaps})


def _task_board(entries: Sequence[Entry], task: str, under: str) -> TaskBoard:
    there = {str(row.shots) for entry in entries for row in entry.rows if row.task == task}
    shots = tuple(each for each in SHOWN if each in there)
    return TaskBoard(task, under, shots, tuple(on_task(entries, task)))

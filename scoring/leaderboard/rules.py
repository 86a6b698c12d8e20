"""The leaderboard of a benchmark: who is ranked, and by what. By the rules of CLUES:

A system is ranked on a task if its runs cover 10, 20 and 30 shots and all five splits, each
split equally often, with an answer to every item in the form of the task; it is ranked by its mean
at 30 shots. Over tasks it is ranked if it is ranked on each of them. People, and what no skill
earns, appear among the systems in order, without a rank. A benchmark with other numbers of shots is
ranked by the same rules over those that it has, on whichever splits.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from scoring.cells.cells import Cell
from scoring.cells.rows import Row
from scoring.cells.vectors import is_well_formed
from scoring.contrasts.averages import Average, averages

SHOTS = (10, 20, 30)
SPLITS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Rule:
    """The numbers of shots, and the splits, that a system is ranked with; none: any splits."""

    shots: tuple[int, ...] = SHOTS
    splits: tuple[int, ...] = SPLITS
    # Of the numbers of shots the highest that anything has.
    sorted_by: int = SHOTS[-1]


CLUES = Rule()

SYSTEM, PEOPLE, FLOOR = "system", "people", "no_skill"


@dataclass(frozen=True)
class Entry:
    """One line of the board. Without a source its figures were scored here."""

    kind: str
    name: str
    method: str = ""
    parameters: str = ""
    source: str = ""
    citation: str = ""
    url: str = ""
    # None: not stated.
    uses_labelled: bool | None = None
    uses_unlabelled: bool | None = None
    protocol: tuple[str, ...] = ()
    # Its study is still running: only researchers see such a line.
    is_running: bool = False
    # One for each task and number of shots.
    rows: tuple[Row, ...] = ()
    # By task, what keeps a system from its rank.
    gaps: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def is_on(self, task: str) -> bool:
        """A figure that the board cannot show is a gap."""
        return task in self.gaps or any(row.task == task for row in self.rows)

    def row(self, task: str, shots: int | str) -> Row | None:
        return self._by_column.get((task, str(shots)))

    @cached_property
    def _by_column(self) -> dict[tuple[str, str], Row]:
        return {(row.task, str(row.shots)): row for row in self.rows}

    def mean(self, task: str, shots: int) -> float | None:
        row = self.row(task, shots)
        return row.mean if row else None


@dataclass(frozen=True)
class Ranking:
    """An entry's line in one table. Without a mean, or with gaps, it has no rank."""

    entry: Entry
    mean: float | None
    rank: int | None
    gaps: tuple[str, ...]
    # Over tasks, by shots.
    averages: Mapping[int, Average] = field(default_factory=dict)

    @property
    def lacks_nothing(self) -> bool:
        """Whether it lacks nothing for a rank, which only systems have."""
        return self.entry.kind == SYSTEM and self.mean is not None and not self.gaps

    @property
    def is_unranked(self) -> bool:
        """Whether a system has no rank: people and no skill never have one."""
        return self.entry.kind == SYSTEM and self.rank is None


def on_task(entries: Iterable[Entry], task: str, rule: Rule = CLUES) -> list[Ranking]:
    return ranked(
        Ranking(entry, entry.mean(task, rule.sorted_by), None, tuple(entry.gaps.get(task, ())))
        for entry in entries
        if entry.is_on(task)
    )


def over_tasks(
    entries: Sequence[Entry],
    tasks: Mapping[str, str],
    rule: Rule = CLUES,
    *,
    in_full: bool = True,
) -> list[Ranking]:
    """Everybody who has any figure on these tasks, by their slugs with their names; by the mean of
    the task means; rounded, as the task means are then, unless `in_full`."""
    rankings = []
    for entry in entries:
        if any(map(entry.is_on, tasks)):
            of_entry = _averages(entry, list(tasks), in_full=in_full)
            best = of_entry.get(rule.sorted_by)
            gaps = _gaps_over(entry, tasks)
            rankings.append(Ranking(entry, best.mean if best else None, None, gaps, of_entry))
    return ranked(rankings)


def ranked(rankings: Iterable[Ranking]) -> list[Ranking]:
    """Rank by mean, highest first; then the systems without a rank. Equal means share a rank."""
    everybody = list(rankings)
    means = [ranking.mean or 0.0 for ranking in everybody if ranking.lacks_nothing]
    placed = [
        replace(ranking, rank=1 + sum(other > (ranking.mean or 0.0) for other in means))
        if ranking.lacks_nothing
        else ranking
        for ranking in everybody
    ]
    return sorted(placed, key=_order)


def gaps_of_runs(cells: Collection[Cell], rule: Rule = CLUES) -> tuple[str, ...]:
    by_shots = {cell.shots: cell for cell in cells}
    gaps: list[str] = []
    for shots in rule.shots:
        if shots in by_shots:
            gaps += _gaps_in_cell(by_shots[shots], rule.splits)
        else:
            gaps.append(f"{shots} shots: no run")
    return tuple(gaps)


def gaps_of_figures(
    rows: Mapping[str, Row], references: str, rule: Rule = CLUES
) -> tuple[str, ...]:
    """What the published figures of one system on one task lack, by shots; `references` is
    the policy that the task's runs are scored under. People, who have no rank, need no splits."""
    needed = rule.shots if any(row.method for row in rows.values()) else ()
    others = {str(row.references) for row in rows.values()} - {references, "unknown"}
    return (
        *(gap for shots in needed for gap in _gap_of_figure(rows.get(str(shots)), shots, rule)),
        *(f"published under the reference policy “{other}”" for other in sorted(others)),
    )


def _gaps_in_cell(cell: Cell, splits: Sequence[int]) -> Iterable[str]:
    counts = Counter(run.split for run in cell.runs)
    if missing := [split for split in splits if split not in counts]:
        yield f"{cell.shots} shots: no whole run on split {_listed(missing)}"
    if splits and counts.keys() - set(splits):
        yield f"{cell.shots} shots: runs outside the five splits"
    elif not missing and len(set(counts.values())) > 1:
        yield f"{cell.shots} shots: more runs on some splits than on others"
    if cell.coverage < 1:
        yield f"{cell.shots} shots: only {int(1000 * cell.coverage) / 10} % of the items answered"
    if not all(map(is_well_formed, cell.runs)):
        yield f"{cell.shots} shots: answers with more pieces than a right answer could have"


def _gap_of_figure(row: Row | None, shots: int, rule: Rule) -> Iterable[str]:
    if row is None:
        yield f"{shots} shots: no figure"
    elif row.n is None and rule.splits:
        yield f"{shots} shots: number of splits not stated"
    elif (row.n or 0) < len(rule.splits):
        yield f"{shots} shots: over {row.n} splits, not five"


def _averages(entry: Entry, tasks: Sequence[str], *, in_full: bool) -> dict[int, Average]:
    return {
        average.shots: average if in_full else average.without_gold()
        for average in averages(entry.rows, tasks)
        if isinstance(average.shots, int)
    }


def _gaps_over(entry: Entry, tasks: Mapping[str, str]) -> tuple[str, ...]:
    if entry.kind != SYSTEM:
        return ()
    absent = [name for task, name in tasks.items() if not entry.is_on(task)]
    short = [n for task, n in tasks.items() if entry.is_on(task) and entry.gaps.get(task)]
    return (
        *((f"nothing on {_listed(absent)}",) if absent else ()),
        *((f"not ranked on {_listed(short)}",) if short else ()),
    )


def _order(ranking: Ranking) -> tuple[bool, bool, float, str]:
    mean = float("inf") if ranking.mean is None else -ranking.mean
    return ranking.is_unranked, ranking.mean is None, mean, ranking.entry.name


def _listed(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))

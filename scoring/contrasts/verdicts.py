"""What may be said of people and each system: ahead, behind, as good, or open, and how sure that
is; from the people's side, with the margin that the study set before its start.

The tests of one study's people are a family, its simulated annotators' by themselves, and so are
their averages over tasks (of whoever has all of them), more shots against fewer, systems that came
later, and systems against one another.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from statistics import fmean
from typing import Any, TypeVar

from scoring.cells.cell_rows import ConsensusScores, consensus_limits
from scoring.cells.cells import Cell, known, percent
from scoring.cells.rows import (
    BY_KEY,
    MEASURED,
    WHOSE,
    Row,
    RowKind,
    first_policies,
    policy_of,
    released,
    whose,
)
from scoring.cells.vectors import Floats
from scoring.contrasts import differences, outcomes
from scoring.contrasts.differences import COLUMNS as OF_TESTS
from scoring.core import verdicts
from scoring.core.shared import shared_average, shared_difference, shared_without_each
from scoring.tables.table import columns_in, picked

SHARED_PEOPLE = "Who did several of the tasks counts once in the interval of the average."
# A study, its pool, the name of a row and a number of shots.
Sharing = tuple[str | None, str | None, str | None, int | str | None]
NONE: Mapping[Sharing, Sequence[Cell]] = {}


@dataclass(frozen=True)
class Average:
    """The mean of task means, in percent. df is None where there is no interval."""

    kind: RowKind
    study: str | None
    pool: str | None
    system: str | None
    method: str | None
    parameters: str
    shots: int | str | None
    mean: float
    # Where every task has an interval for new items.
    low: float | None = None
    high: float | None = None
    sd: float | None = None
    clues_sd: float | None = None
    tasks: tuple[str, ...] = ()
    has_too_few: bool = False
    notes: str | None = None
    # What its tasks were scored under, each once.
    references: tuple[str, ...] = ()
    normalisations: tuple[str, ...] = ()
    source: str = ""
    df: float | None = None
    # As of its rows.
    block: str = ""
    group: str | None = None

    @property
    def limits(self) -> tuple[float | None, float | None]:
        return self.low, self.high

    def without_gold(self) -> "Average":
        """As whoever may not see the gold is shown it; its parts are withheld already."""
        sd, clues_sd = (None if sd is None else released(sd) for sd in (self.sd, self.clues_sd))
        withheld = replace(self, mean=released(self.mean), sd=sd, clues_sd=clues_sd)
        return replace(withheld, low=None, high=None, df=None)


_COLUMNS = {
    **BY_KEY,
    **{key: OF_TESTS[key] for key in ("system", "parameters", "tasks")},
    **columns_in(__file__, "average"),
    "normalisations": BY_KEY["normalisation"].under("normalisations"),
}
OF_AVERAGES = picked(
    _COLUMNS,
    "kind study pool system method parameters shots mean low high sd clues_sd tasks has_too_few "
    "notes references normalisations source",
)


def averages(
    rows: Collection[Row], tasks: Sequence[str], shared: Mapping[Sharing, Sequence[Cell]] = NONE
) -> list[Average]:
    """The mean of the task means of everybody who has all tasks, under the policy of those scored.
    shared: the cells of whose tasks share people."""
    first = first_policies(rows)
    groups: dict[tuple[object, ...], dict[str, Row]] = {}
    for row in rows:
        is_partial = row.coverage is not None and row.coverage < 1
        if row.single or row.mean is None or is_partial or policy_of(row, first) != first[row.task]:
            continue
        groups.setdefault(whose(row), {}).setdefault(row.task, row)
    return [
        _average_of([by_task[task] for task in tasks], shared)
        for by_task in groups.values()
        if tasks and all(task in by_task for task in tasks)
    ]


def averages_of_consensus(
    together: Sequence[tuple[Row, ConsensusScores]],
    tasks: Sequence[str],
    *,
    seed: int,
) -> list[Average]:
    """With its interval, for these people."""

    def with_limits(average: Average) -> Average:
        own = [
            scored
            for row, scored in together
            if whose(average) == whose(row) and row.task in average.tasks
        ]
        low, high = consensus_limits(own, seed=seed)
        return replace(average, low=low, high=high)

    return list(map(with_limits, averages([row for row, _ in together], tasks)))


def share_people(cells: Iterable[Cell]) -> bool:
    """Whether somebody is in two of these cells: their errors are then not independent."""
    people = [{member.annotator_id for member in cell.annotators} for cell in cells]
    return len(set().union(*people)) < sum(map(len, people))


def sharing(people: Iterable[Cell]) -> dict[Sharing, list[Cell]]:
    """Of a study's cells by shots: those whose tasks share people."""
    groups: dict[Sharing, list[Cell]] = {}
    for cell in people:
        name = MEASURED[cell.kind]
        slug = cell.study.slug if cell.study else None
        groups.setdefault((slug, cell.pool or None, name, cell.shots), []).append(cell)
    return {whose: cells for whose, cells in groups.items() if share_people(cells)}


def _average_of(rows: Sequence[Row], shared: Mapping[Sharing, Sequence[Cell]]) -> Average:
    means, sds = ([_or_nan(getattr(row, name)) for row in rows] for name in ("mean", "sd"))
    mean, sd, clues_sd = verdicts.over_tasks(means, sds)
    first = rows[0]
    cells = shared.get((first.study, first.pool, first.system, first.shots), ())
    low, high, df = _limits(rows, cells)
    return Average(
        **dict(zip(WHOSE, whose(first), strict=True)),
        source="; ".join(dict.fromkeys(row.source for row in rows if row.source)),
        mean=mean,
        sd=known(sd),
        clues_sd=known(clues_sd),
        tasks=tuple(row.task for row in rows),
        references=tuple(dict.fromkeys(row.references or "" for row in rows)),
        normalisations=tuple(dict.fromkeys(row.normalisation or "unknown" for row in rows)),
        low=low,
        high=high,
        df=df,
        has_too_few=any(row.is_exploratory for row in rows if row.is_cell_of_people),
        notes=SHARED_PEOPLE if cells else None,
    )


def _limits(
    rows: Sequence[Row], shared: Sequence[Cell]
) -> tuple[float | None, float | None, float | None]:
    """Low, high and degrees of freedom, of cells whose intervals are for new items; none where a
    task has none. One task is no average: its own limits stand. shared: the cells, where somebody
    is in several."""
    if any(row.ci_low is None or row.estimand != "new_items" for row in rows):
        return None, None, None
    if shared and any(row.shot_sets == "new" or row.group for row in rows):
        return None, None, None
    if len(rows) == 1:
        return rows[0].ci_low, rows[0].ci_high, rows[0].df
    if shared:
        cells = [cell for row in rows for cell in shared if cell.task.slug == row.task]
        if any(one.has_gaps for one in cells):
            return None, None, None
        average = shared_average([one.clustered for one in cells], [one.persons for one in cells])
        return percent(average.low), percent(average.high), known(average.df)
    means, ses = (
        [min(1.0, _or_nan(getattr(row, name)) / 100) for row in rows] for name in ("mean", "se")
    )
    dfs, items = [_or_nan(row.df) for row in rows], [row.m or 0 for row in rows]
    interval = verdicts.average_interval(means, ses, dfs, items)
    return percent(interval.low), percent(interval.high), known(interval.df)


def _or_nan(figure: float | None) -> float:
    return nan if figure is None else figure


Key = TypeVar("Key")
Thing = TypeVar("Thing")


def against_systems(
    pairs: Sequence[differences.Pairing], tasks: Collection[str]
) -> tuple[list[differences.Difference], list[differences.Difference]]:
    """Of every cell of people beside a system; and the averages of those systems that have all the
    tasks."""
    families = _grouped(pairs, _family_of)
    cells = [judged for family in families for judged in _judged(family)]
    return cells, _averages(pairs, tasks)


def between_shots(people: Sequence[Cell]) -> list[differences.Difference]:
    families = _grouped(differences.more_and_fewer_shots(people), _family_of)
    return [judged for family in families for judged in _judged(family)]


def between_systems(
    systems: Sequence[Cell], *, margin: float = 0.0
) -> list[differences.Difference]:
    """Every two systems on the same items and splits, a family of their own. The margin is that of
    the study, if it is one that is compared."""
    return list(_judged(differences.systems_and_systems(systems), margin))


def _judged(
    family: Sequence[differences.Pairing], margin: float | None = None
) -> Iterable[differences.Difference]:
    """The tests of one family; with people the margin is their study's."""
    if not family:
        return
    margin = _margin(family[0].cell) if margin is None else margin
    alone = [[pair] for pair in family]
    found_each = verdicts.verdicts([pair.member for pair in family], margin=margin / 100)
    disputed = _without_disputed(alone, found_each, margin, lambda pairs: pairs[0].member)
    for pair, found, told in zip(family, found_each, disputed, strict=True):
        yield differences.difference_of(pair, **_said(found, [pair], margin), disputed=told)


def _averages(
    pairs: Iterable[differences.Pairing], tasks: Collection[str]
) -> list[differences.Difference]:
    if len(tasks) < 2:
        return []
    complete = []
    for group in _grouped(pairs, lambda pair: (*pair.named.values(), pair.supplement is None)):
        by_task = {pair.cell.task.slug: pair for pair in group}
        if set(by_task) == set(tasks):
            complete.append([by_task[task] for task in tasks])
    families = _grouped(complete, lambda over: _family_of(over[0]))
    return [average for family in families for average in _judged_averages(family)]


def _judged_averages(
    family: Sequence[Sequence[differences.Pairing]],
) -> Iterable[differences.Difference]:
    """Of one study's people, at its margin."""
    margin = _margin(family[0][0].cell)
    members = [_average_member(pairs) for pairs in family]
    found_each = verdicts.verdicts(members, margin=margin / 100)
    disputed = _without_disputed(family, found_each, margin, _average_member)
    for pairs, member, found, told in zip(family, members, found_each, disputed, strict=True):
        has_shared = share_people([pair.cell for pair in pairs])
        yield differences.Difference(
            **pairs[0].named,
            **differences.in_percent(member.test),
            **_said(found, pairs, margin),
            task=None,
            tasks=tuple(pair.cell.task.slug for pair in pairs),
            mean=percent(fmean(pair.test.people_mean for pair in pairs)),
            other_mean=percent(fmean(pair.test.system_mean for pair in pairs)),
            runs=min(pair.test.r for pair in pairs),
            n=min(pair.test.n for pair in pairs),
            m=sum(pair.test.m for pair in pairs),
            runs_left_out=sum(pair.runs_left_out for pair in pairs),
            notes=SHARED_PEOPLE if has_shared else "",
            disputed=told,
        )


def _without_disputed(
    family: Sequence[Sequence[differences.Pairing]],
    found: Sequence[verdicts.Verdict],
    margin: float,
    member_of: Callable[[Sequence[differences.Pairing]], verdicts.Member],
) -> list[str]:
    """What becomes of each verdict of a family when the items that its people dispute are left out
    of all of them; empty for those without any."""
    counts = [sum(len(pair.disputed) for pair in pairs) for pairs in family]
    if not any(counts):
        return [""] * len(family)
    others = [member_of([pair.undisputed for pair in pairs]) for pairs in family]
    again = verdicts.verdicts(others, margin=margin / 100)
    are_enough = [all(pair.is_left_enough for pair in pairs) for pairs in family]
    return [
        outcomes.without_disputed(count, (one.outcome, one.certainty), state) if count else ""
        for count, one, other, is_enough in zip(counts, found, again, are_enough, strict=True)
        for state in [(other.outcome, other.certainty) if is_enough else None]
    ]


def _average_member(pairs: Sequence[differences.Pairing]) -> verdicts.Member:
    tests = [pair.test for pair in pairs]
    average = verdicts.average_difference(tests)
    members = [pair.member for pair in pairs]
    with_all = [pair.with_excluded or pair.test for pair in pairs]
    exploratory = next((member.exploratory for member in members if member.exploratory), "")
    lacks = tuple(dict.fromkeys(reason for member in members for reason in member.lacks))
    if share_people([pair.cell for pair in pairs]):
        including = _sides([pair.including or pair for pair in pairs])
        return verdicts.Member(
            shared_difference(*_sides(pairs)),
            lambda: shared_without_each(*_sides(pairs)),
            lacks,
            exploratory,
            shared_difference(*including) if any(pair.including for pair in pairs) else None,
        )
    return verdicts.Member(
        average,
        lambda: verdicts.averages_without_each(tests, [pair.without_each for pair in pairs]),
        lacks,
        exploratory,
        verdicts.average_difference(with_all),
    )


def _sides(
    pairs: Sequence[differences.Pairing],
) -> tuple[list[Floats], list[Floats], list[list[int]]]:
    """Task by task: people's scores, the system's, and who the people are."""
    people, system = zip(*(pair.compared for pair in pairs), strict=True)
    return list(people), list(system), [pair.cell.persons for pair in pairs]


def _said(
    found: verdicts.Verdict, pairs: Sequence[differences.Pairing], margin: float
) -> dict[str, Any]:
    return {
        "outcome": found.outcome,
        "certainty": found.certainty,
        "reasons": found.reasons,
        "exploratory": any(pair.exploratory for pair in pairs),
        "supplement": max((pair.supplement for pair in pairs if pair.supplement), default=None),
        # Of too few people nothing is tested.
        "p": None if found.outcome == verdicts.TOO_FEW else known(found.p),
        "p_holm": known(found.p_holm),
        "family": None if isnan(found.p_holm) else found.family,
        "in_family": not isnan(found.p_holm),
        "fragile": None if found.certainty is None else not found.holds,
        "margin": margin,
    }


def _family_of(pair: differences.Pairing) -> tuple[object, ...]:
    """One study's people; simulated ones, and those beside later systems, by themselves."""
    return pair.cell.study, pair.cell.simulated, pair.supplement is not None


def _margin(cell: Cell) -> float:
    return cell.study.margin if cell.study else 0.0


def _grouped(things: Iterable[Thing], key: Callable[[Thing], Key]) -> list[list[Thing]]:
    groups: dict[Key, list[Thing]] = defaultdict(list)
    for thing in things:
        groups[key(thing)].append(thing)
    return list(groups.values())

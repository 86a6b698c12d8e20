"""What a comparison found, in a sentence for the study and one for each task: people first, then
who is behind, ahead, as good or not told apart from them. True of the figures below it; as its
templates read it."""

from collections.abc import Iterable, Sequence
from typing import Any

from scoring.cells.rows import Row, RowKind
from scoring.comparison.comparing import Comparison
from scoring.comparison.documents import apart
from scoring.comparison.paper_tables import task_order
from scoring.core.verdicts import AHEAD, BEHIND, EXPLORATORY, SAME, UNDECIDED
from scoring.models import method_label
from scoring.tables.table import limits, rounded
from scoring.tests.differences import Difference
from scoring.tests.verdicts import Average

# Of one kind of verdict: the nearest to people; the table has the others.
MOST_NAMED = 3
# From the side of people.
ENDS: dict[str, str] = {
    AHEAD: "people ahead in",
    BEHIND: "behind in",
    SAME: "as good in",
    UNDECIDED: "not told apart in",
    EXPLORATORY: "exploratory, without a claim, in",
}
# Of one task, or of all: people's mean and interval as texts, in percent; then by outcome, from the
# side of the systems, some of these by name, the others counted.
Sentence = dict[str, Any]
# A system's name with how far it is from people, as texts.
Named = dict[str, str]


def summaries(table: Comparison, shots: str) -> list[dict[str, Any]]:
    """One for the people of each study at this number of shots, simulated ones by themselves."""
    people: dict[tuple[str | None, str], list[Row]] = {}
    for row in table.rows:
        if row.is_cell_of_people and str(row.shots) == shots and row.mean is not None:
            people.setdefault((row.study, row.kind), []).append(row)
    return [_summary(table, shots, rows) for rows in people.values()]


def _summary(table: Comparison, shots: str, people: Sequence[Row]) -> dict[str, Any]:
    first = people[0]
    order = task_order(row for row in table.figures if str(row.shots) == shots)
    by_task = {row.task: row for row in people}
    sentences = [_of_task(table, by_task[task]) for task in order if task in by_task]
    outcomes = [test.outcome for test in table.tests if test.is_beside(first)]
    # How many comparisons with systems, over all tasks, came to which end.
    counts = {outcome: outcomes.count(outcome) for outcome in ENDS}
    compared = sum(counts.values())
    return {
        "shots": shots,
        # None where people or their average lack a task, and for a single task.
        "whole": _of_all(table, first) if len(sentences) > 1 else None,
        "tasks": sentences,
        "counts": counts,
        "compared": compared,
        # Those that any comparison came to, in words, with how many did.
        "ends": [
            (outcome, ENDS[outcome], "all" if count == compared > 1 else str(count))
            for outcome, count in counts.items()
            if count
        ],
        "is_interim": first.study in table.interim,
    }


def _of_task(table: Comparison, row: Row) -> Sentence:
    tests = [test for test in table.tests if test.is_beside(row) and test.task == row.task]
    runs = [one for one in table.rows if one.kind == RowKind.RUN]
    systems = [one for one in runs if (one.task, one.shots) == (row.task, row.shots)]
    return {
        "task": table.task_names.get(row.task, row.task),
        "shots": str(row.shots),
        "n": row.n,
        "is_exploratory": row.is_exploratory or row.n == 1,
        **_found(row, row, tests, systems),
    }


def _of_all(table: Comparison, row: Row) -> Sentence | None:
    average = table.average_of(row)
    if average is None:
        return None
    tests = [test for test in table.average_tests if test.is_beside(row)]
    systems = [one for one in table.averages if one.kind == RowKind.RUN and one.shots == row.shots]
    return {
        "tasks": len(average.tasks),
        "is_exploratory": average.exploratory,
        **_found(row, average, tests, systems),
    }


def _found(
    row: Row,
    people: Row | Average,
    tests: Iterable[Difference],
    systems: Sequence[Row | Average],
) -> Sentence:
    nearest = sorted(tests, key=lambda test: abs(test.difference or 0.0))
    # Published figures have no items: nothing is tested.
    published = [_signed(test) for test in nearest if test.is_reported]
    tested = [test for test in nearest if not test.is_reported]
    # For whoever may not be told differences: the systems and their means.
    means = [
        {"name": _system(one), "points": rounded(one.mean)}
        for one in systems
        if one.mean is not None and not tested
    ]
    of_outcomes = {
        outcome: _cut(
            [
                (_distance if outcome in (AHEAD, BEHIND) else _signed)(test)
                for test in tested
                if test.of_system == outcome
            ]
        )
        for outcome in ENDS
    }
    more = (*(of_outcomes[outcome] for outcome in (SAME, UNDECIDED, EXPLORATORY)), published)
    return {
        "simulated": row.kind == RowKind.SIMULATED,
        "mean": rounded(people.mean),
        "interval": limits(*people.limits),
        **of_outcomes,
        "published": _cut(published),
        "systems": _cut(means),
        # Than a short sentence says.
        "has_more": any(more),
    }


def _cut(named: Sequence[Named]) -> dict[str, Any]:
    """Nothing of none; `names` is without figures."""
    if not named:
        return {}
    shown, further = named[:MOST_NAMED], len(named[MOST_NAMED:])
    names = [system["name"] for system in shown]
    return {
        "named": shown,
        "further": further,
        "names": ", ".join([*names, *([f"{further} more"] if further else [])]),
    }


def _distance(test: Difference) -> Named:
    """Without a sign: the words say who is ahead."""
    difference, low, high = test.difference or 0.0, test.low, test.high
    if difference < 0 and low is not None and high is not None:
        low, high = -high, -low
    interval = limits(low, high).replace("-", "−")
    return {"name": _system(test), "points": rounded(abs(difference)), "interval": interval}


def _signed(test: Difference) -> Named:
    detectable = rounded(test.detectable)
    return {"name": _system(test), "points": apart(test), "detectable": detectable}


def _system(one: Row | Average | Difference) -> str:
    return " ".join(filter(None, [one.system, method_label(one.method)]))

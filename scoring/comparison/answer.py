"""What a comparison found, the answer first: who is ahead in a sentence, then a forest with a line
for each system; as its page and its documents read it. All from the side of people."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from scoring.cells.rows import SIMULATED, Row, RowKind, no_skill, system_of
from scoring.cells.scope import NOT_CLOSED
from scoring.comparison.comparison import Comparison, block_of
from scoring.comparison.forest import (
    by_system,
    forest,
    from_to,
    overall_test,
    whole_points,
)
from scoring.comparison.revisions import revisions
from scoring.contrasts import outcomes
from scoring.contrasts.averages import Average
from scoring.contrasts.difference import Difference, Sort, name_of, runs_text
from scoring.core.intervals import EXPLORATORY_BELOW, FEWEST_FOR_SURE
from scoring.core.verdicts import AHEAD, OPEN, TOO_FEW
from scoring.models import shots_text
from scoring.tables.words import counted, listed, span

UNCLAIMED = "Differences and verdicts are shown when the study is closed."
AWAITED = "Differences and verdicts are shown once nobody may send a last page any more."
WHY_UNCLAIMED = (
    "Who looks at them while people come, and stops when they look good, is too often wrong."
)


class Answer:
    """What is answered of the people of one study, or of one of its pools, at one number of
    shots."""

    def __init__(self, table: Comparison, people: Sequence[Row]) -> None:
        first = people[0]
        study = "" if table.study else table.titles.get(first.study or "")
        tests = [test for test in (*table.average_tests, *table.tests) if test.is_beside(first)]
        named = [of_system for of_system in by_system(tests) if not block_of(of_system[0])]
        at, margin = first.after_checks or shots_text(str(first.shots)), _margin(named)
        grey = f"; grey: within the margin of {margin:g} points" if margin else ""
        # Of whom, where there are several.
        self.of = ", ".join(filter(None, [study, first.pool]))
        self.headline = _headline(named, tests, people)
        self.condition = f"{at}, {counted(len(people), 'task')}{grey}"
        self.so_far = _so_far(table, named, people)
        self.people = _people(table, people)
        # By the heading of a block its lines, the highest score first.
        self.forest = forest(table, first, tests, tasks=len(people))
        self.no_skill = _no_skill(table, people)
        self.unskilled = _unskilled(table, named, people, self.no_skill)
        self.footing = _footing(table, named, first)
        self.sure = _sure(named) if tests else []
        self.why = [*_why(named), *revisions(table)] if tests else [WHY_UNCLAIMED]


def answers(table: Comparison, shots: str) -> list[Answer]:
    """One for the people of each study and pool at so many shots; simulated ones apart."""
    people: dict[tuple[object, ...], list[Row]] = {}
    for row in table.rows:
        if row.is_cell_of_people and str(row.shots) == shots and row.mean is not None:
            people.setdefault((row.study, row.pool, row.kind), []).append(row)
    return [Answer(table, rows) for rows in people.values()]


def _headline(
    named: Sequence[Sequence[Difference]],
    tests: Sequence[Difference],
    people: Sequence[Row],
) -> list[str]:
    if not tests:
        return []
    if not named:
        return ["No system that counts for the verdict answered these items; see the supplement."]
    deciding = [
        [test] if (test := overall_test(tests_of, len(people))) else tests_of for tests_of in named
    ]
    if all(test.outcome == TOO_FEW for tests_of in deciding for test in tests_of):
        return [_too_few(people)]
    simulated = tests[0].simulated
    by_state: dict[outcomes.State, list[Sequence[Difference]]] = {}
    for tests_of in named:
        if (test := overall_test(tests_of, len(people))) is not None:
            by_state.setdefault(outcomes.claimed_state(test), []).append(tests_of)

    def claimed(state: outcomes.State, systems: Sequence[Sequence[Difference]]) -> str:
        names, margin = _all_with_runs(systems), systems[0][0].margin
        sentence = outcomes.claim(state, names, simulated=simulated, margin=margin)
        # Where the average of a system says what some task does not.
        hides = [tests_of for tests_of in systems if len({test.outcome for test in tests_of}) > 1]
        where = " on average." if any(tests_of[0].task is None for tests_of in hides) else "."
        return sentence.removesuffix(".") + where if sentence else ""

    told = [
        claimed(state, by_state[state])
        for state in (*outcomes.STATES, *outcomes.LEANING)
        if state in by_state
    ]
    for tests_of in named:
        if overall_test(tests_of, len(people)) is None:
            of_tasks = [test for test in tests_of if test.sort == Sort.TASK]
            told.append(_over_tasks(of_tasks, claimed, len(people)))
    return list(filter(None, told))


def _over_tasks(tests: Sequence[Difference], claimed: Any, tasks: int) -> str:
    """Tells on how many of the tasks, where there is no interval of the average."""
    counts, ran = Counter(map(outcomes.state_of, tests)), len(tests)
    decided = [
        state for state in outcomes.STATES if counts[state] and state[0] not in (OPEN, TOO_FEW)
    ]
    whole = "both tasks" if ran == 2 else f"all {ran} tasks"
    every = whole if ran == tasks else f"the {counted(ran, 'task')} that it ran on"
    told = [
        f"{claimed(state, [tests]).rstrip('.')} on "
        + (every if counts[state] in (0, ran) else f"{counts[state]} of {ran} tasks")
        for state in decided or [(OPEN, None)]
    ]
    if decided and (count := counts[OPEN, None]):
        told.append(f"{count} {'is' if count == 1 else 'are'} open")
    if count := counts[TOO_FEW, None]:
        told.append(f"{count} {'has' if count == 1 else 'have'} too few people")
    return "; ".join(told) + "."


def _too_few(people: Sequence[Row]) -> str:
    each = " a task" if len(people) > 1 else ""
    counts = span([row.n or 0 for row in people])
    return (
        f"Too few {_who(people[0])} to say who wins "
        f"({counts}{each}; {EXPLORATORY_BELOW} are needed)."
    )


def _so_far(table: Comparison, named: Sequence[Sequence[Difference]], people: Sequence[Row]) -> str:
    """Tells how far apart they are all the same, where nothing is claimed."""
    decisive = [of_system for of_system in named if overall_test(of_system, len(people))]
    if not decisive or any(of_system[0].outcome != TOO_FEW for of_system in decisive):
        return ""
    who = _who(people[0])
    return f"{who[0].upper()}{who[1:]} are {listed(list(map(_apart, decisive)))}."


def _apart(tests: Sequence[Difference]) -> str:
    """Such as “49 points above Word overlap (40 to 57)”."""
    test = tests[0]
    distance, low, high = test.difference or 0.0, test.low, test.high
    side = "below" if distance < 0 else "above"
    likely = ""
    if low is not None and high is not None:
        near, far_off = map(whole_points, sorted((abs(low), abs(high))))
        likely = f" ({near} to {far_off})"
        if low < 0 < high:
            likely = f" ({whole_points(abs(low))} below to {whole_points(high)} above)"
    points = counted(round(abs(distance)), "point")
    return f"{points} {side} {_with_runs(tests)}{likely}"


def _who(row: Row) -> str:
    names = {RowKind.SIMULATED: SIMULATED, RowKind.ELSEWHERE: "people from elsewhere"}
    return names.get(row.kind, "people")


def _people(table: Comparison, rows: Sequence[Row]) -> str:
    """“People 90 of 100 (likely 84 to 94): 15 people, 5 on each task, 20 questions a task.”"""
    average, several = table.average_of(rows[0]), len(rows) > 1
    shown: Row | Average | None = average if several else rows[0]
    counts = [row.n or 0 for row in rows]
    score = ""
    if shown is not None:
        low, high = shown.limits
        likely = f" (likely {from_to(low, high)})" if low is not None and high is not None else ""
        score = f" {shown.mean:.0f} of 100{likely}"
    is_shared = average is not None and average.notes is not None
    persons = max(counts) if is_shared else sum(counts)
    name = _who(rows[0])
    who = name.replace("people", "person") if persons == 1 else name
    on_each = "all of them" if is_shared and min(counts) == persons else span(counts)
    each = f", {on_each} on each task" if several else ""
    items = [row.items or row.m or 0 for row in rows]
    asked = f"{span(items)} questions" + (" a task" if several else "")
    return f"{name[:1].upper()}{name[1:]}{score}: {persons} {who}{each}, {asked}."


def _no_skill(table: Comparison, people: Sequence[Row]) -> float | None:
    floors = no_skill(list(table.bounds))
    scores = [floors[row.task] for row in people if row.task in floors]
    return sum(scores) / len(scores) if len(scores) == len(people) else None


def _unskilled(
    table: Comparison,
    named: Sequence[Sequence[Difference]],
    people: Sequence[Row],
    floor: float | None,
) -> str:
    """Which of the systems that people beat may have no skill: to beat those says little."""
    shown = table.averages if len(people) > 1 else table.figures
    lows = {
        system_of(row): row.limits[0]
        for row in shown
        if row.kind == RowKind.RUN and row.shots == people[0].shots and not row.block
    }
    weak = [
        name_of(beaten)
        for beaten, *_ in named
        if floor is not None
        and beaten.outcome == AHEAD
        and (low := lows.get(system_of(beaten))) is not None
        and low <= floor
    ]
    does = "does" if len(weak) == 1 else "do"
    return f"{listed(weak)} {does} not score clearly above no skill." if weak else ""


def _margin(named: Sequence[Sequence[Difference]]) -> float:
    return max((test.margin or 0.0 for of_system in named for test in of_system), default=0.0)


def _footing(table: Comparison, named: Sequence[Sequence[Difference]], first: Row) -> str:
    tests = [test for of_system in named for test in of_system]
    margin = _margin(named)
    within = f"margin {margin:g} points" if margin else "no margin was set"
    why = table.interim.get(first.study or "")
    if why and first.kind != RowKind.SIMULATED:
        return UNCLAIMED if why == NOT_CLOSED else AWAITED
    if not tests:
        return ""
    if table.unfrozen:
        return f"{table.unfrozen} {within[:1].upper()}{within[1:]}."
    systems = counted(len(named), "system")
    # Simulated people are compared while the study is open, too.
    is_open = first.study in table.interim
    ran_all = "that have run every task" if is_open else "that had run every task when it closed"
    which = "named before the start" if first.study in table.naming else ran_all
    return f"Compared with the {systems} {which}; {within}."


def _why(named: Sequence[Sequence[Difference]]) -> list[str]:
    """What the other verdicts say, and what each lacks that is not sure."""
    tests = [test for of_system in named for test in of_system if test.in_family]
    reasons = [
        "Probable: the interval lies on one side (or within the margin), but a condition above "
        f"fails. That is without adjustment: {outcomes.by_chance(len(tests))}.",
        "Open: the interval does not lie on one side, or it reaches into the margin.",
        "Likely: the 95 % interval, for other people and other items like these. Each figure is "
        "rounded by itself, so a difference may seem a point off.",
    ]
    return reasons + [
        f"{name_of(test)} is not sure: {', '.join(test.reasons)}."
        for of_system in named
        for test in of_system[:1]
        if test.reasons
    ]


def _sure(named: Sequence[Sequence[Difference]]) -> list[str]:
    """All that a sure verdict takes."""
    members = {those[0].family or 0 for those in named if those[0].in_family}
    comparisons = span(members or {0})
    return [
        f"{FEWEST_FOR_SURE} people or more, screened by a floor that was set before the start and "
        "keeps guessers out",
        "the interval lies wholly on one side (or within the margin), also after Holm's "
        f"adjustment over {comparisons} comparisons",
        "that holds without any one of the people, and with the excluded counted",
        "the study ended as planned",
        "the system was named, or had run, before the first person came",
    ]


def few_runs(tests: Sequence[Difference]) -> str:
    """How few they are on the tasks of a system; empty if they are a sample of it on each."""
    counts = [test.runs for test in tests if test.runs is not None]
    least = runs_text(min(counts, default=None))
    return f"{span(counts)} runs" if least and len({*counts}) > 1 else least


def _with_runs(tests: Sequence[Difference]) -> str:
    few = few_runs(tests)
    return f"{name_of(tests[0])} ({few})" if few else name_of(tests[0])


def _all_with_runs(systems: Sequence[Sequence[Difference]]) -> list[str]:
    """Names them with their runs, which are said once where all have as few."""
    few = set(map(few_runs, systems))
    if len(systems) == 1 or len(few) > 1:
        return list(map(_with_runs, systems))
    *rest, last = (name_of(tests[0]) for tests in systems)
    each = "".join(f" ({runs} each)" for runs in few if runs)
    return [*rest, f"{last}{each}"]

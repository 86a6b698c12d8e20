"""What may be said of people and each system: ahead, behind, as good, or open, and how sure that
is; from the people's side, with the margin that the study set before its start.

The tests of one study's people are a family, its simulated annotators' by themselves, and so are
their averages over tasks (of whoever has all of them), more shots against fewer, systems that came
later, and systems against one another.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from math import isnan
from statistics import fmean
from typing import Any, TypeVar

from scoring.cells.cells import Cell, known, percent
from scoring.cells.vectors import Floats
from scoring.contrasts import differences, outcomes
from scoring.contrasts.averages import SHARED_PEOPLE, share_people
from scoring.contrasts.difference import Difference
from scoring.core import verdicts
from scoring.core.shared import shared_difference, shared_without_each

Key = TypeVar("Key")
Thing = TypeVar("Thing")


def against_systems(
    pairs: Sequence[differences.Pairing], tasks: Collection[str]
) -> tuple[list[Difference], list[Difference]]:
    """Judge every cell of people beside a system, and the averages of those systems that have all
    the tasks."""
    families = _grouped(pairs, _family_of)
    cells = [judged for family in families for judged in _judged(family)]
    return cells, _averages(pairs, tasks)


def between_shots(people: Sequence[Cell]) -> list[Difference]:
    families = _grouped(differences.more_and_fewer_shots(people), _family_of)
    return [judged for family in families for judged in _judged(family)]


def between_systems(systems: Sequence[Cell], *, margin: float = 0.0) -> list[Difference]:
    """Every two systems on the same items and splits, a family of their own. The margin is that of
    the study, if it is one that is compared."""
    return list(_judged(differences.systems_and_systems(systems), margin))


def _judged(
    family: Sequence[differences.Pairing], margin: float | None = None
) -> Iterable[Difference]:
    """The tests of one family; with people the margin is their study's."""
    if not family:
        return
    margin = _margin(family[0].cell) if margin is None else margin
    alone = [[pair] for pair in family]
    found_each = verdicts.verdicts([pair.member for pair in family], margin=margin / 100)
    disputed = _without_disputed(alone, found_each, margin, lambda pairs: pairs[0].member)
    for pair, verdict, without in zip(family, found_each, disputed, strict=True):
        yield differences.difference_of(pair, **_said(verdict, [pair], margin), disputed=without)


def _averages(pairs: Iterable[differences.Pairing], tasks: Collection[str]) -> list[Difference]:
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
) -> Iterable[Difference]:
    """The averages of one study's people, judged at its margin."""
    margin = _margin(family[0][0].cell)
    members = [_average_member(pairs) for pairs in family]
    found_each = verdicts.verdicts(members, margin=margin / 100)
    disputed = _without_disputed(family, found_each, margin, _average_member)
    for pairs, member, verdict, without in zip(family, members, found_each, disputed, strict=True):
        has_shared = share_people([pair.cell for pair in pairs])
        yield Difference(
            **pairs[0].named,
            **differences.in_percent(member.test),
            **_said(verdict, pairs, margin),
            task=None,
            tasks=tuple(pair.cell.task.slug for pair in pairs),
            mean=percent(fmean(pair.test.people_mean for pair in pairs)),
            other_mean=percent(fmean(pair.test.system_mean for pair in pairs)),
            runs=min(pair.test.r for pair in pairs),
            n=min(pair.test.n for pair in pairs),
            m=sum(pair.test.m for pair in pairs),
            runs_left_out=sum(pair.runs_left_out for pair in pairs),
            notes=SHARED_PEOPLE if has_shared else "",
            disputed=without,
        )


def _without_disputed(
    family: Sequence[Sequence[differences.Pairing]],
    with_all: Sequence[verdicts.Verdict],
    margin: float,
    member_of: Callable[[Sequence[differences.Pairing]], verdicts.Member],
) -> list[str]:
    """What becomes of each verdict of a family when the items that its people dispute are left out
    of all of them; empty for those without any."""
    counts = [sum(len(pair.disputed) for pair in pairs) for pairs in family]
    if not any(counts):
        return [""] * len(family)
    undisputed = [member_of([pair.undisputed for pair in pairs]) for pairs in family]
    again = verdicts.verdicts(undisputed, margin=margin / 100)
    are_enough = [all(pair.is_left_enough for pair in pairs) for pairs in family]
    return [
        outcomes.without_disputed(count, (one.outcome, one.certainty), state) if count else ""
        for count, one, other, is_enough in zip(counts, with_all, again, are_enough, strict=True)
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
    verdict: verdicts.Verdict, pairs: Sequence[differences.Pairing], margin: float
) -> dict[str, Any]:
    return {
        "outcome": verdict.outcome,
        "certainty": verdict.certainty,
        "reasons": verdict.reasons,
        "exploratory": any(pair.exploratory for pair in pairs),
        "supplement": max((pair.supplement for pair in pairs if pair.supplement), default=None),
        # Of too few people nothing is tested.
        "p": None if verdict.outcome == verdicts.TOO_FEW else known(verdict.p),
        "p_holm": known(verdict.p_holm),
        "family": None if isnan(verdict.p_holm) else verdict.family,
        "in_family": not isnan(verdict.p_holm),
        "fragile": None if verdict.certainty is None else not verdict.holds,
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

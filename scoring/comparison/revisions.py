"""What each later version of a study's frozen verdicts changed, in words."""

from itertools import pairwise

from scoring.comparison.claims import Version
from scoring.comparison.comparison import Comparison
from scoring.comparison.keeping import restored
from scoring.contrasts import outcomes
from scoring.contrasts.difference import Contrast, Difference, Sort, name_of
from scoring.models import shots_text
from scoring.tables.words import counted

# Of how many verdicts one is told what they were.
MOST_TOLD = 4


def revisions(table: Comparison) -> list[str]:
    """Which verdicts each later version of the frozen ones changed, and after what."""
    return [
        _revision(before, after, table)
        for before, after in pairwise(table.versions)
        if table.has_verdicts and (before.verdicts or after.verdicts)
    ]


def _revision(before: Version, after: Version, table: Comparison) -> str:
    old, new = _verdicts_of(before), _verdicts_of(after)
    changed = [
        f"{_on_what(test, table)} from “{old.get(test, 'none')}” to “{new.get(test, 'none')}”"
        for test in {**old, **new}
        if old.get(test) != new.get(test)
    ]
    verdicts = counted(len(changed), "verdict") if changed else "no verdict"
    told = f": {'; '.join(changed)}" if 0 < len(changed) <= MOST_TOLD else ""
    return f"Version {after.number} (after: {after.after}) changed {verdicts}{told}."


def _verdicts_of(version: Version) -> dict[Contrast, str]:
    """The verdicts in words, by what they are of; without those of systems against systems."""
    tests = [restored(Difference, verdict) for verdict in version.verdicts]
    return {
        restored(Contrast, vars(test)): outcomes.verdict_in_words(test)
        for test in tests
        if test.sort != Sort.SYSTEMS
    }


def _on_what(test: Contrast, table: Comparison) -> str:
    task = ", ".join(filter(None, [table.task_name(test) or "all tasks", test.pool]))
    against = f"{test.other_shots} shots" if test.sort == Sort.SHOTS else name_of(test)
    return f"{task} with {shots_text(str(test.shots))} against {against}"

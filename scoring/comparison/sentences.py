"""What a comparison found, in a sentence for the study and one for each task: people first, then
who is behind, ahead, as good or not told apart from them. True of the figures below it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.utils.translation import pgettext_lazy

from scoring.comparison.comparing import ComparisonTable
from scoring.comparison.over_tasks import Aggregate
from scoring.comparison.overview import apart, people_named
from scoring.comparison.rows import Row
from scoring.comparison.score_columns import task_order
from scoring.comparison.verdicts import Finding
from scoring.core.verdicts import AHEAD, BEHIND, EXPLORATORY, SAME, UNDECIDED
from scoring.models import method_label
from scoring.tables.table import Text, limits, rounded

# Of one kind of verdict: the nearest to people; the table has the others.
MOST_NAMED = 3
# From the side of people.
ENDS: dict[str, Text] = {
    AHEAD: "people ahead in",
    BEHIND: "behind in",
    SAME: "as good in",
    UNDECIDED: "not told apart in",
    EXPLORATORY: "exploratory, without a claim, in",
}
F = TypeVar("F", bound=Finding)


@dataclass(frozen=True)
class Named:
    """A system with how far it is from people, as texts."""

    name: str
    points: str
    interval: str = ""
    detectable: str = ""


@dataclass(frozen=True)
class Told:
    """The systems that one thing is said of: some by name, the others counted."""

    named: tuple[Named, ...] = ()
    further: int = 0

    def __bool__(self) -> bool:
        return bool(self.named)

    @property
    def names(self) -> str:
        """Without figures."""
        further = [str(f"{self.further} more")] if self.further else []
        return ", ".join([*(system.name for system in self.named), *further])


@dataclass(frozen=True)
class Sentence:
    """Of one task, or of all tasks (task is ""). Texts are in percent, as the table has them."""

    study: str
    shots: str
    task: str
    mean: str
    interval: str
    n: int | None
    is_exploratory: bool
    simulated: bool
    behind: Told
    ahead: Told
    same: Told
    undecided: Told
    exploratory: Told
    # Published figures have no items: nothing is tested.
    published: Told
    # For whoever may not be told differences: the systems and their means.
    systems: Told
    tasks: int = 1

    @property
    def has_more(self) -> bool:
        """Whether there is more to say than a short sentence does."""
        return any((self.same, self.undecided, self.exploratory, self.published))


@dataclass(frozen=True)
class Summary:
    """Of one study's people at one number of shots."""

    study: str
    shots: str
    # None where people or their average lack a task, and for a single task.
    whole: Sentence | None
    tasks: tuple[Sentence, ...]
    # How many comparisons with systems, over all tasks, came to which end.
    counts: Mapping[str, int]
    is_interim: bool

    @property
    def ends(self) -> list[tuple[str, Text, Text]]:
        """Those that any comparison came to, in words, with how many did."""
        return [
            (outcome, words, self._how_many(self.counts[outcome]))
            for outcome, words in ENDS.items()
            if self.counts[outcome]
        ]

    def _how_many(self, count: int) -> Text:
        return pgettext_lazy("in all of them", "all") if count == self.compared > 1 else str(count)

    @property
    def compared(self) -> int:
        return sum(self.counts.values())


def summaries(table: ComparisonTable, shots: str) -> list[Summary]:
    """One for the people of each study, simulated ones by themselves."""
    people: dict[tuple[str, bool], list[Row]] = {}
    for row in table.rows:
        if people_named(row) and str(row.shots) == shots and row.mean is not None:
            people.setdefault((row.study or "", row.kind == "simulated"), []).append(row)
    return [_summary(table, shots, rows) for rows in people.values()]


def _summary(table: ComparisonTable, shots: str, people: Sequence[Row]) -> Summary:
    first = people[0]
    order = task_order(row for row in table.figures if str(row.shots) == shots)
    by_task = {row.task: row for row in people}
    sentences = tuple(_of_task(table, by_task[task]) for task in order if task in by_task)
    findings = _findings(table.verdicts.cells, first)
    outcomes = [finding.outcome for finding in findings if not finding.is_reported]
    return Summary(
        study=first.study or "",
        shots=shots,
        whole=_of_all(table, first) if len(sentences) > 1 else None,
        tasks=sentences,
        counts={outcome: outcomes.count(outcome) for outcome in ENDS},
        is_interim=first.study in table.interim,
    )


def _of_task(table: ComparisonTable, row: Row) -> Sentence:
    findings = [found for found in _findings(table.verdicts.cells, row) if found.task == row.task]
    tested = [finding for finding in findings if not finding.is_reported]
    systems = [
        Named(_system(other.system, other.method), rounded(other.mean))
        for other in table.rows
        if other.kind == "run" and (other.task, other.shots) == (row.task, row.shots)
        if other.mean is not None
    ]
    return Sentence(
        study=row.study or "",
        shots=str(row.shots),
        task=table.task_names.get(row.task, row.task),
        mean=rounded(row.mean),
        interval=limits(row.ci_low, row.ci_high),
        n=row.n,
        is_exploratory=row.is_exploratory or row.n == 1,
        simulated=row.kind == "simulated",
        published=_told([finding for finding in findings if finding.is_reported], _signed),
        systems=_cut(systems) if not tested else Told(),
        **_by_outcome(tested),
    )


def _of_all(table: ComparisonTable, row: Row) -> Sentence | None:
    average = next((found for found in table.averages if _is_of(found, row)), None)
    if average is None:
        return None
    others = [
        Named(_system(other.system, other.method), rounded(other.mean))
        for other in table.averages
        if other.kind == "run" and other.shots == row.shots
    ]
    findings = _findings(table.verdicts.averages, row)
    return Sentence(
        study=row.study or "",
        shots=str(row.shots),
        task="",
        mean=rounded(average.mean),
        interval=limits(average.low, average.high),
        n=None,
        is_exploratory=average.exploratory,
        simulated=row.kind == "simulated",
        published=Told(),
        systems=_cut(others) if not findings else Told(),
        tasks=len(average.tasks),
        **_by_outcome(findings),
    )


def _is_of(average: Aggregate, row: Row) -> bool:
    return (average.kind, average.study, average.shots) == (row.kind, row.study, row.shots)


def _findings(findings: Iterable[F], row: Row) -> list[F]:
    """Those beside the people of a row."""
    where = (row.study or "", row.kind == "simulated", str(row.shots))
    return [
        finding
        for finding in findings
        if (finding.study, finding.simulated, str(finding.shots)) == where
    ]


def _by_outcome(findings: Sequence[Finding]) -> dict[str, Any]:
    """As seen from the systems."""

    def those(outcome: str) -> list[Finding]:
        return [finding for finding in findings if finding.of_system == outcome]

    return {
        "behind": _told(those(BEHIND), _distance),
        "ahead": _told(those(AHEAD), _distance),
        "same": _told(those(SAME), _signed),
        "undecided": _told(those(UNDECIDED), _signed),
        "exploratory": _told(those(EXPLORATORY), _signed),
    }


def _told(findings: Sequence[Finding], name: Callable[[Finding], Named]) -> Told:
    nearest = sorted(findings, key=lambda finding: abs(finding.difference or 0.0))
    return _cut([name(finding) for finding in nearest])


def _cut(named: Sequence[Named]) -> Told:
    return Told(tuple(named[:MOST_NAMED]), len(named[MOST_NAMED:]))


def _distance(finding: Finding) -> Named:
    """Without a sign: the words say who is ahead."""
    difference, low, high = finding.difference or 0.0, finding.low, finding.high
    if difference < 0 and low is not None and high is not None:
        low, high = -high, -low
    interval = limits(low, high).replace("-", "−")
    return Named(_system(finding.system, finding.method), rounded(abs(difference)), interval)


def _signed(finding: Finding) -> Named:
    return Named(
        _system(finding.system, finding.method),
        apart(finding),
        detectable=rounded(finding.detectable),
    )


def _system(system: str | None, method: str | None) -> str:
    return " ".join(filter(None, [system, method_label(method)]))

"""What a comparison found, in a sentence for the study and one for each task: people first, then
who is behind, ahead, as good or not told apart from them. True of the figures below it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Named:
    """A system with how far it is from people, as texts."""

    name: str
    points: str
    interval: str = ""
    detectable: str = ""


@dataclass(frozen=True)
class SystemList:
    """The systems that one thing is said of: some by name, the others counted."""

    named: tuple[Named, ...] = ()
    further: int = 0

    def __bool__(self) -> bool:
        return bool(self.named)

    @property
    def names(self) -> str:
        """Without figures."""
        further = [f"{self.further} more"] if self.further else []
        return ", ".join([*(system.name for system in self.named), *further])


@dataclass(frozen=True)
class Sentence:
    """Of one task, or of all tasks (task is ""). Texts are in percent, as the table has them; the
    outcomes are those of the systems."""

    study: str
    shots: str
    task: str
    mean: str
    interval: str
    n: int | None
    is_exploratory: bool
    simulated: bool
    tasks: int
    behind: SystemList
    ahead: SystemList
    same: SystemList
    undecided: SystemList
    exploratory: SystemList
    # Published figures have no items: nothing is tested.
    published: SystemList
    # For whoever may not be told differences: the systems and their means.
    systems: SystemList

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
    def ends(self) -> list[tuple[str, str, str]]:
        """Those that any comparison came to, in words, with how many did."""
        return [
            (outcome, words, "all" if count == self.compared > 1 else str(count))
            for outcome, words in ENDS.items()
            if (count := self.counts[outcome])
        ]

    @property
    def compared(self) -> int:
        return sum(self.counts.values())


def summaries(table: Comparison, shots: str) -> list[Summary]:
    """One for the people of each study, simulated ones by themselves."""
    people: dict[tuple[str, bool], list[Row]] = {}
    for row in table.rows:
        if row.is_cell_of_people and str(row.shots) == shots and row.mean is not None:
            people.setdefault((row.study or "", row.kind == RowKind.SIMULATED), []).append(row)
    return [_summary(table, shots, rows) for rows in people.values()]


def _summary(table: Comparison, shots: str, people: Sequence[Row]) -> Summary:
    first = people[0]
    order = task_order(row for row in table.figures if str(row.shots) == shots)
    by_task = {row.task: row for row in people}
    sentences = tuple(_of_task(table, by_task[task]) for task in order if task in by_task)
    outcomes = [test.outcome for test in table.tests if test.is_beside(first)]
    return Summary(
        study=first.study or "",
        shots=shots,
        whole=_of_all(table, first) if len(sentences) > 1 else None,
        tasks=sentences,
        counts={outcome: outcomes.count(outcome) for outcome in ENDS},
        is_interim=first.study in table.interim,
    )


def _of_task(table: Comparison, row: Row) -> Sentence:
    tests = [test for test in table.tests if test.is_beside(row) and test.task == row.task]
    where = row.task, row.shots
    runs = [one for one in table.rows if one.kind == RowKind.RUN]
    systems = [one for one in runs if (one.task, one.shots) == where]
    name, is_exploratory = (
        table.task_names.get(row.task, row.task),
        row.is_exploratory or row.n == 1,
    )
    return _sentence(row, row, tests, systems, task=name, n=row.n, is_exploratory=is_exploratory)


def _of_all(table: Comparison, row: Row) -> Sentence | None:
    average = table.average_of(row)
    if average is None:
        return None
    tests = [test for test in table.average_tests if test.is_beside(row)]
    systems = [one for one in table.averages if one.kind == RowKind.RUN and one.shots == row.shots]
    is_exploratory, tasks = average.exploratory, len(average.tasks)
    return _sentence(row, average, tests, systems, is_exploratory=is_exploratory, tasks=tasks)


def _sentence(
    row: Row,
    people: Row | Average,
    tests: Iterable[Difference],
    systems: Sequence[Row | Average],
    *,
    is_exploratory: bool,
    task: str = "",
    n: int | None = None,
    tasks: int = 1,
) -> Sentence:
    nearest = sorted(tests, key=lambda test: abs(test.difference or 0.0))
    tested = [test for test in nearest if not test.is_reported]
    means = [Named(_system(one), rounded(one.mean)) for one in systems if one.mean is not None]

    def those(outcome: str, name: Callable[[Difference], Named]) -> SystemList:
        return _cut([name(test) for test in tested if test.of_system == outcome])

    return Sentence(
        study=row.study or "",
        shots=str(row.shots),
        task=task,
        mean=rounded(people.mean),
        interval=limits(*people.limits),
        n=n,
        is_exploratory=is_exploratory,
        simulated=row.kind == RowKind.SIMULATED,
        tasks=tasks,
        behind=those(BEHIND, _distance),
        ahead=those(AHEAD, _distance),
        same=those(SAME, _signed),
        undecided=those(UNDECIDED, _signed),
        exploratory=those(EXPLORATORY, _signed),
        published=_cut([_signed(test) for test in nearest if test.is_reported]),
        systems=SystemList() if tested else _cut(means),
    )


def _cut(named: Sequence[Named]) -> SystemList:
    return SystemList(tuple(named[:MOST_NAMED]), len(named[MOST_NAMED:]))


def _distance(test: Difference) -> Named:
    """Without a sign: the words say who is ahead."""
    difference, low, high = test.difference or 0.0, test.low, test.high
    if difference < 0 and low is not None and high is not None:
        low, high = -high, -low
    interval = limits(low, high).replace("-", "−")
    return Named(_system(test), rounded(abs(difference)), interval)


def _signed(test: Difference) -> Named:
    return Named(_system(test), apart(test), detectable=rounded(test.detectable))


def _system(one: Row | Average | Difference) -> str:
    return " ".join(filter(None, [one.system, method_label(one.method)]))

"""The forest of differences: a line for each system beside people, by blocks, on one axis."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scoring.cells.rows import BLOCKS, Row, RowKind, no_skill, system_of
from scoring.comparison.comparison import Comparison, block_of
from scoring.contrasts import outcomes
from scoring.contrasts.difference import Difference, Sort, name_of, runs_text
from scoring.contrasts.differences import SUPPLEMENT
from scoring.tables.words import counted

# Of the axis of a forest, and what it leaves beyond the widest interval.
AXIS, EDGE = 200.0, 3.0
# From so many lines on, what stands beside all of them is said once.
FEWEST_ALIKE = 3
# What tables mark with ¶.
ALIKE = "nearly constant or unreadable answers"


@dataclass
class ForestLine:
    """A system beside people, or one task of it. score and difference in percent points; the places
    are on the axis, None where there is nothing to draw."""

    name: str
    score: float | None
    test: Difference | None = None
    is_of_task: bool = False
    # Of a task: what no skill earns there. Then, which answers show none.
    floor: float | None = None
    alike: str = ""
    tasks: Sequence["ForestLine"] = ()
    low: float | None = None
    middle: float | None = None
    high: float | None = None
    margin_at: float | None = None
    margin_width: float = 0.0

    @property
    def ends(self) -> list[float | None]:
        test = self.test
        has_axis = test is not None and test.difference is not None
        return [test.low, test.difference, test.high] if test and has_axis else []

    @property
    def difference(self) -> str:
        return far(self.test) if self.test else ""

    @property
    def verdict(self) -> str:
        if self.test is not None:
            return outcomes.leaning_in_words(self.test)
        states = Counter((line.sign, line.verdict) for line in self.tasks)
        return "; ".join(f"{count} {sign} {words}" for (sign, words), count in states.items())

    @property
    def sign(self) -> str:
        return outcomes.sign_of(self.test)

    # What is said once for all of them.
    said: frozenset[str] = frozenset()

    @property
    def aside(self) -> str:
        return "; ".join(note for note in self.notes if note not in self.said)

    @property
    def notes(self) -> list[str]:
        """What a reader must know of it: how few runs it is, and why it is not sure."""
        test = self.test
        if test is None:
            return [self.alike] if self.alike else []
        people = (
            f"people {whole_points(test.mean)}" if self.is_of_task and test.mean is not None else ""
        )
        floor = "" if self.floor is None else f"no skill {whole_points(self.floor)}"
        clusters = f"m = {test.m}" if test.exploratory else ""
        # Why an interval that leaves out 0 decides nothing.
        leans = outcomes.claimed_state(test) in outcomes.LEANING
        within = f"may be within {test.margin:g} points" if leans else ""
        about = [people, floor, self.alike, runs_text(test.runs), clusters, *_doubts(test)]
        return list(filter(None, [*about, test.disputed, within]))

    def place(self, reach: float) -> None:
        """Place the line on an axis whose middle is 0."""

        def placed(point: float | None) -> float | None:
            return None if point is None else AXIS * (point + reach) / (2 * reach)

        if self.ends:
            self.low, self.middle, self.high = map(placed, self.ends)
        margin = (self.test.margin if self.test else None) or 0.0
        self.margin_at, self.margin_width = placed(-margin), AXIS * margin / reach


def by_system(tests: Iterable[Difference]) -> list[list[Difference]]:
    """The tests of each system: first that over all tasks, where there is one. On other shot sets
    or items its later runs have no more in common with people than those before them."""
    groups: dict[tuple[object, ...], dict[str | None, Difference]] = {}
    for test in tests:
        groups.setdefault((system_of(test), block_of(test)), {}).setdefault(test.task, test)
    return [list(of_system.values()) for of_system in groups.values()]


def overall_test(tests: Sequence[Difference], tasks: int) -> Difference | None:
    """A system's test over all of the people's tasks; None where their average has no interval."""
    is_whole = tests[0].sort == Sort.TASKS and tests[0].se is not None
    return tests[0] if is_whole or tasks == 1 else None


def forest(
    table: Comparison, first: Row, tests: Sequence[Difference], *, tasks: int
) -> dict[str, list[ForestLine]]:
    """Draw the lines by the heading of their block; to readers without the gold the systems' scores
    alone."""
    blocks: dict[str, list[ForestLine]] = {}
    floors = no_skill(list(table.bounds))
    silent = {
        (*system_of(row), row.task)
        for row in table.rows
        if row.shows_no_skill and row.shots == first.shots
    }

    def of_task(test: Difference) -> ForestLine:
        alike = ALIKE if (*system_of(test), test.task) in silent else ""
        name, floor = table.task_name(test), floors.get(test.task or "")
        return ForestLine(name, test.other_mean, test, is_of_task=True, floor=floor, alike=alike)

    for those in by_system(tests):
        whole = overall_test(those, tasks)
        parts = [of_task(test) for test in those if test.sort == Sort.TASK]
        count = sum(bool(part.alike) for part in parts)
        alike = f"{ALIKE} on {count} of {counted(len(parts), 'task')}" if count else ""
        score = whole.other_mean if whole else None
        line = ForestLine(name_of(those[0]), score, whole, alike=alike)
        line.tasks = parts if tasks > 1 else ()
        blocks.setdefault(block_of(those[0]), []).append(line)
    if not tests:
        runs = [r for r in table.figures if r.kind == RowKind.RUN and r.shots == first.shots]
        for row in runs:
            about = "" if len(table.task_names) == 1 else f", {table.task_names.get(row.task, '')}"
            line = ForestLine(name_of(row) + about, row.mean)
            blocks.setdefault(row.block, []).append(line)
    # All on one axis.
    every = [drawn for lines in blocks.values() for line in lines for drawn in (line, *line.tasks)]
    reach = max((abs(end) for line in every for end in line.ends if end is not None), default=0.0)
    for line in every:
        line.place(reach + EDGE)
    for lines in blocks.values():
        lines.sort(key=lambda line: -(line.score or 0.0))
    return {
        _once(heading, blocks[block]): blocks[block]
        for block, heading in BLOCKS.items()
        if block in blocks
    }


def _doubts(test: Difference) -> list[str]:
    """Why it is not sure, and when it came: whoever reads the day knows it for a supplement."""
    if not test.supplement or test.exploratory:
        return [*test.reasons]
    reasons = (reason for reason in test.reasons if reason != SUPPLEMENT)
    return [f"added {test.supplement}", *reasons]


def _once(heading: str, lines: Sequence[ForestLine]) -> str:
    """The heading of a block, with what would stand beside each of its lines."""
    tested = [drawn for line in lines for drawn in (line, *line.tasks) if drawn.test]
    if len(tested) < FEWEST_ALIKE:
        return heading
    tests = [drawn.test for drawn in tested if drawn.test]
    each = (frozenset(_doubts(test)) for test in tests)
    if not (shared := frozenset.intersection(*each)):
        return heading
    for drawn in tested:
        drawn.said = shared
    together = "; ".join(note for note in tested[0].notes if note in shared)
    return f"{heading}. All: {together}" if heading else f"All: {together}"


def far(test: Difference) -> str:
    """Write how far apart they are, such as “+26 (11 to 41)”."""
    if test.difference is None:
        return ""
    distance = whole_points(test.difference)
    signed = f"+{distance}" if test.difference > 0 and distance != "0" else distance
    if test.low is None or test.high is None:
        return signed
    return f"{signed} ({from_to(test.low, test.high)})"


def from_to(low: float, high: float) -> str:
    return f"{whole_points(low)} to {whole_points(high)}"


def whole_points(points: float) -> str:
    return f"{round(points)}".replace("-", "−")

"""What a comparison holds, and what it says of itself to its readers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

from scoring.cells.cells import Cell
from scoring.cells.rows import (
    CONSENSUS,
    LATER,
    OTHER,
    SIMULATED_CONSENSUS,
    Bound,
    Row,
    RowKind,
    released,
    system_of,
    whose,
    withheld_row,
)
from scoring.cells.scope import Choices, Scope, told_interim
from scoring.comparison.claims import Version, with_claims
from scoring.contrasts.averages import Average, averages
from scoring.contrasts.difference import Contrast, Difference
from scoring.core.intervals import FEWEST_SPLITS
from scoring.core.learning import Drift
from scoring.core.normalisation import NONE
from scoring.core.s1 import SCORER_VERSION
from scoring.tables.table import Table
from scoring.tables.words import with_stop

# What has a number of shots, of which a reader may choose some; but all changes between them stay.
BY_SHOTS = (
    *("rows", "consensus", "tests", "average_tests", "systems", "averages"),
    *("including", "without"),
)
MATCHED = "matched"
# What a comparison says about itself; a figure never follows from it.
CONTEXT = (
    *("benchmark", "study", "choices", "interim", "shots_offered", "task_names", "fingerprint"),
    *("titles", "naming", "closed_on"),
)


@dataclass(frozen=True)
class Comparison:
    """All that a table shows, as it is kept; then of what and for whom, which is not computed."""

    rows: tuple[Row, ...]
    # What more than half of a cell's annotators chose: rows of their own, beside the cells.
    consensus: tuple[Row, ...] = ()
    # The floors and ceilings that the figures are read against.
    bounds: tuple[Bound, ...] = ()
    # People beside each system, and beside published figures; then of the mean over tasks.
    tests: tuple[Difference, ...] = ()
    average_tests: tuple[Difference, ...] = ()
    # People with more shots beside people with fewer; of a study, its systems among themselves.
    changes: tuple[Difference, ...] = ()
    systems: tuple[Difference, ...] = ()
    # Means over all tasks, of whoever has all of them.
    averages: tuple[Average, ...] = ()
    # The cells that hold excluded annotators: with them, and without, where anybody is left.
    including: tuple[Row, ...] = ()
    without: tuple[Row, ...] = ()
    # Over all test answers of people that count.
    median_item_s: float | None = None
    # Of a study's people (of simulated ones where there are no others) over a long test.
    drift: Drift | None = None

    benchmark: str = ""
    study: str | None = None
    choices: Choices = field(default_factory=Choices)
    # The studies (slugs) whose figures may still change, and why.
    interim: Mapping[str, str] = field(default_factory=dict)
    # All numbers of shots that have rows, whichever the reader chose.
    shots_offered: tuple[str, ...] = ()
    # What readers call the tasks, by slug.
    task_names: Mapping[str, str] = field(default_factory=dict)
    # What they call the studies, by slug; and those that named systems before their start.
    titles: Mapping[str, str] = field(default_factory=dict)
    naming: tuple[str, ...] = ()
    fingerprint: str = ""
    # Of a settled study: the versions of its verdicts, of which the last is shown.
    versions: tuple[Version, ...] = ()
    closed_on: str = ""

    def shown(self, scope: Scope, choices: Choices, fingerprint: str) -> "Comparison":
        """The comparison as the reader chose: no figure depends on which shots are shown."""
        closed_at = scope.study.closed_at if scope.study else None
        whole = replace(self, **with_claims(scope, choices, vars(self), inputs=fingerprint))
        shown: dict[str, Any] = {
            name: tuple(row for row in getattr(whole, name) if choices.wants(row.shots))
            for name in BY_SHOTS
        }
        return replace(
            whole,
            **shown,
            benchmark=scope.benchmark.name,
            study=scope.study.slug if scope.study else None,
            choices=choices,
            interim=scope.interim,
            shots_offered=tuple(dict.fromkeys(str(row.shots) for row in self.rows)),
            task_names=scope.task_names,
            titles=scope.titles,
            closed_on=closed_at.date().isoformat() if closed_at else "",
            naming=tuple(study.slug for study in scope.studies if study.named_systems),
            fingerprint=fingerprint,
        )

    def without_persons(self) -> "Comparison":
        """The comparison for readers who may not see people one by one, not even by pseudonym."""
        return replace(self, rows=tuple(row for row in self.rows if not row.single))

    def without_gold(self) -> "Comparison":
        """The comparison for whoever may not see the gold: of systems a mean, and its SD over
        splits, from rounded means of whole and well-formed runs; no verdict, which follows from
        single items. Of people nothing while their study is not closed (the reader might join, and
        see what each answer does to the mean), then rounded figures, and of a single person a mean
        alone."""

        def withheld(row: Row) -> Row:
            is_interim = row.study in self.interim and row.kind != RowKind.SIMULATED
            return withheld_row(row, is_interim=is_interim)

        rows = tuple(map(withheld, self.rows))
        tasks = next((average.tasks for average in self.averages), ())
        return Comparison(
            rows=rows,
            consensus=tuple(map(withheld, self.consensus)),
            # Under a policy that the reader chose they would tell of single golds.
            bounds=tuple(
                replace(bound, score=released(bound.score))
                for bound in self.bounds
                if not self.choices.references
            ),
            averages=tuple(average.without_gold() for average in averages(rows, tasks)),
            **{name: getattr(self, name) for name in CONTEXT},
            versions=tuple(replace(version, verdicts=()) for version in self.versions),
        )

    def task_name(self, test: Contrast) -> str:
        return self.task_names.get(test.task or "", test.task or "")

    def tests_of(self, row: Row | Average) -> list[Difference]:
        """The tests of a system's row, or of its average over all tasks, beside the people of a
        study."""
        if row.kind != RowKind.RUN or not self.has_verdicts or self.study is None:
            return []
        task = row.task if isinstance(row, Row) else None
        where = task, str(row.shots), system_of(row), row.block
        return [
            test
            for test in (*self.tests, *self.average_tests)
            if (test.task, str(test.shots), system_of(test), block_of(test)) == where
        ]

    @property
    def has_verdicts(self) -> bool:
        """Whether there are any: not beside systems on all that they ran on, which is no
        study's."""
        return self.study is None or self.choices.runs == MATCHED

    @property
    def verdicts(self) -> tuple[Difference, ...]:
        tests = (*self.average_tests, *self.tests, *self.changes, *self.systems)
        return tests if self.has_verdicts else ()

    def average_of(self, row: Row) -> Average | None:
        return next((average for average in self.averages if whose(average) == whose(row)), None)

    def consensus_of(self, cell: Cell) -> Row | None:
        name = SIMULATED_CONSENSUS if cell.simulated else CONSENSUS
        study = cell.study.slug if cell.study else None
        where = name, study, cell.pool or None, cell.task.slug, cell.shots
        place = attrgetter("system", "study", "pool", "task", "shots")
        return next((row for row in self.consensus if place(row) == where), None)

    @property
    def excluded(self) -> list[tuple[Row | None, Row]]:
        """Each cell without its excluded annotators, and with them."""
        without = {(whose(row), row.task): row for row in self.without}
        return [(without.get((whose(row), row.task)), row) for row in self.including]

    @property
    def offers_new_shot_sets(self) -> bool:
        """Whether some cell of people has splits enough for an interval over new ones."""
        return any(row.splits >= FEWEST_SPLITS for row in self.rows)

    @property
    def references(self) -> str | None:
        """The policy that all scored rows have in common; None where they differ."""
        policies = {row.references for row in self.rows if row.kind != RowKind.REPORTED}
        return self.choices.references or (policies.pop() if len(policies) == 1 else None)

    @property
    def normalisation(self) -> str:
        return self._of_tasks("normalisation") or NONE

    @property
    def gold_version(self) -> str:
        return self._of_tasks("gold_version")

    def _of_tasks(self, key: str) -> str:
        """What the scored rows have there; each with its tasks where they differ."""
        named = sorted({(value, row.task) for row in self.rows if (value := getattr(row, key))})
        parts = [
            (str(value), [self.task_names.get(task, task) for _, task in group])
            for value, group in groupby(named, key=itemgetter(0))
        ]
        if len(parts) < 2:
            return "".join(value for value, _ in parts)
        return "; ".join(f"{value} ({', '.join(tasks)})" for value, tasks in parts)

    @property
    def title(self) -> str:
        """A study's, never its short name; else the benchmark's name."""
        return self.titles.get(self.study or "", self.study) or self.benchmark

    @cached_property
    def figures(self) -> tuple[Row, ...]:
        """The rows of a table for readers: cells with their consensus, and systems."""
        return (*(row for row in self.rows if not row.single), *self.consensus)

    @property
    def estimand(self) -> str:
        return self.choices.estimand.replace("_", " ")

    @property
    def provenance(self) -> str:
        return (
            f"Inputs {self.fingerprint[:12]}, seed {self.choices.seed}, "
            f"scorer version {SCORER_VERSION}, interval for {self.estimand} and "
            f"{self.choices.shot_sets} shot sets{' as well' * (self.choices.shot_sets == 'new')}, "
            f"references {self.references or 'as each task says'}, "
            f"normalisation {self.normalisation}"
            + (f", gold version {self.gold_version}." if self.gold_version else ".")
            + (f" {self.warning}" if self.warning else "")
        )

    @property
    def shares_contexts(self) -> bool:
        """Whether items hang together, so that m is less than their number."""
        return any(row.items and row.m and row.items > row.m for row in self.rows)

    @property
    def warning(self) -> str:
        """What its readers must know of the figures; empty where they are final and our own."""
        # A study's table has its title already.
        titles = {} if self.study in self.interim else self.titles
        interim = told_interim(self.interim, titles)
        sentences = [self.only_items, interim, self.unfrozen, *self.sources]
        return " ".join(filter(None, sentences))

    @property
    def sources(self) -> list[str]:
        """Says where studies from elsewhere have their people's answers from."""
        by_study = {row.study: row.source for row in self.rows if row.kind == RowKind.ELSEWHERE}
        return [
            with_stop(f"Others asked the people of “{self.titles.get(slug or '', slug)}”: {source}")
            for slug, source in by_study.items()
        ]

    @property
    def only_items(self) -> str:
        name, _, value = self.choices.items.partition("=")
        return f"Only items whose {name} is {value}." if name else ""

    @property
    def narrowed(self) -> list[str]:
        """What the reader chose that makes these figures others than everybody's."""
        version = self.choices.gold_version
        scored = f"Scored at gold version {version}." if version else ""
        return [*filter(None, [self.only_items, scored])]

    @property
    def unfrozen(self) -> str:
        """A warning where a study's verdicts are frozen and these are others; else empty."""
        of_people = (*self.average_tests, *self.tests, *self.changes)
        settled = any(not test.simulated for test in of_people)
        if self.choices.are_own or not (self.has_verdicts and settled):
            return ""
        return (
            "Not the frozen verdicts: the reader chose the gold version, references, people or "
            "items."
        )

    @property
    def interim_titles(self) -> str:
        return ", ".join(self.titles.get(slug, slug) for slug in self.interim)

    def named(self, part: Table) -> Table:
        """One of its tables as it is read: the bare values stay slugs."""
        return part.with_names("task", self.task_names).with_names("study", self.titles)


def block_of(test: Difference) -> str:
    """The block of a table that has the system of this test."""
    return OTHER if test.exploratory else LATER if test.supplement else ""


def first_of(tests: Sequence[Difference]) -> Difference | None:
    """The one to show where only one is: beside people rather than simulated ones, the most of
    them."""
    return max(tests, key=lambda test: (not test.simulated, test.n or 0), default=None)

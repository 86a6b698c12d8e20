"""Comparing: people and systems on the same test items, as rows of one table, and every test of
their differences.

Everything is scored by the same code, at the latest gold version of each task unless another is
asked for. A comparison is kept with its inputs' fingerprint, and recomputed when that changes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median
from typing import Any

from django.contrib.auth.models import User

from annotation.models import Task
from scoring.cells.cell_rows import (
    annotator_rows,
    bounds,
    cell_row,
    consensus_row,
    consensus_scores,
    reported_rows,
)
from scoring.cells.cells import NOTHING, OTHER_SHOT_SETS, Cell, CellReader
from scoring.cells.drift import drift_of
from scoring.cells.rows import (
    CONSENSUS,
    GROUPED,
    LATER,
    OTHER,
    SIMULATED_CONSENSUS,
    Bound,
    Row,
    RowKind,
    released,
    whose,
    withheld_row,
)
from scoring.cells.scope import Choices, Scope, inputs_fingerprint, unscored_answers
from scoring.comparison.claims import TESTS, Version, named_and_later, with_claims
from scoring.comparison.keeping import Kept, Progress, Store, is_stale
from scoring.core.intervals import FEWEST_SPLITS
from scoring.core.learning import Drift
from scoring.core.normalisation import NONE
from scoring.core.s1 import SCORER_VERSION
from scoring.models import Part
from scoring.tables.table import Table, with_stop
from scoring.tests.differences import Difference, people_and_systems
from scoring.tests.verdicts import (
    Average,
    against_systems,
    averages,
    averages_of_consensus,
    between_shots,
    between_systems,
    sharing,
)

# How many answers are scored while somebody waits for the page: about a second's worth.
MOST_WHILE_WAITING = 150_000


@dataclass(frozen=True)
class Comparison:
    """All that a table of a study or a benchmark shows, as it is kept; then of what and for whom it
    is shown, which is not computed."""

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
    # The studies (slugs) that are not closed: their figures may still change.
    interim: tuple[str, ...] = ()
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
        """As the reader chose: no figure depends on which shots are shown."""
        whole = replace(self, **with_claims(scope, choices, vars(self), inputs=fingerprint))
        shown: dict[str, Any] = {
            name: tuple(one for one in getattr(whole, name) if choices.wants(one.shots))
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
            closed_on=_closed_on(scope),
            naming=tuple(study.slug for study in scope.studies if study.named_systems),
            fingerprint=fingerprint,
        )

    def without_persons(self) -> "Comparison":
        """For readers who may not see people one by one, not even by pseudonym."""
        return replace(self, rows=tuple(row for row in self.rows if not row.single))

    def without_gold(self) -> "Comparison":
        """For whoever may not see the gold.

        Of systems a mean, and its SD over splits, both from the rounded means of whole and
        well-formed runs; nothing that follows from single items, as verdicts do. People show no
        score while their study is not closed: the reader might join, and see what each answer does
        to the mean. Afterwards their figures are rounded, and a single person shows a mean alone.
        """
        rows, consensus = (
            tuple(withheld_row(row, is_interim=self._is_interim(row)) for row in those)
            for those in (self.rows, self.consensus)
        )
        tasks = next((average.tasks for average in self.averages), ())
        return Comparison(
            rows=rows,
            consensus=consensus,
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

    def _is_interim(self, row: Row) -> bool:
        return row.study in self.interim and row.kind != RowKind.SIMULATED

    def tests_of(self, row: Row | Average) -> list[Difference]:
        """A system's row, or its average over all tasks, beside the people of a study, on their
        items; none of any other."""
        if row.kind != RowKind.RUN or not self.has_verdicts or self.study is None:
            return []
        task = row.task if isinstance(row, Row) else None
        where = task, str(row.shots), row.system, row.method, row.parameters, row.block
        return [
            test
            for test in (*self.tests, *self.average_tests)
            if where
            == (
                *(test.task, str(test.shots), test.system, test.method, test.parameters),
                block_of(test),
            )
        ]

    @property
    def has_verdicts(self) -> bool:
        """Not beside systems on all that they ran on, which is no study's."""
        return self.study is None or self.choices.runs == MATCHED

    @property
    def verdicts(self) -> tuple[Difference, ...]:
        tests = (*self.average_tests, *self.tests, *self.changes, *self.systems)
        return tests if self.has_verdicts else ()

    def average_of(self, row: Row) -> Average | None:
        """Over all tasks, of the same people or system with as many shots."""
        return next((one for one in self.averages if whose(one) == whose(row)), None)

    def consensus_of(self, cell: Cell) -> Row | None:
        """Of these people together."""
        name = SIMULATED_CONSENSUS if cell.simulated else CONSENSUS
        study = cell.study.slug if cell.study else None
        where = name, study, cell.pool or None, cell.task.slug, cell.shots
        for row in self.consensus:
            if (row.system, row.study, row.pool, row.task, row.shots) == where:
                return row
        return None

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
        values = list(dict.fromkeys(value for value, _ in named))
        if len(values) < 2:
            return "".join(map(str, values))
        parts = (
            (value, [self.task_names.get(task, task) for other, task in named if other == value])
            for value in values
        )
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
    def basis(self) -> str:
        """What every figure rests on, for the note of a table."""
        version = f"; gold version {self.gold_version}" if self.gold_version else ""
        return (
            f"reference policy {self.references or 'of each task'}; "
            f"normalisation {self.normalisation}{version}. {self.warning}".rstrip()
        )

    @property
    def items_told(self) -> str:
        """Which items its figures rest on, where the reader chose some."""
        name, _, value = self.choices.items.partition("=")
        return f"Only items whose {name} is {value}." if name else ""

    @property
    def provenance(self) -> str:
        """What the figures rest on, in one line of plain English for documents."""
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
        """Empty where the figures are final."""
        interim = with_stop(f"Interim, not closed: {self.interim_titles}") if self.interim else ""
        return " ".join(filter(None, [self.items_told, interim, self.unfrozen]))

    @property
    def unfrozen(self) -> str:
        """Empty but where a study's verdicts are frozen and these are others."""
        of_people = (*self.average_tests, *self.tests, *self.changes)
        settled = any(not (test.interim or test.simulated) for test in of_people)
        is_other = self.has_verdicts and settled and not self.choices.are_own
        return (
            "Not the frozen verdicts: the reader chose the gold version, references, people or "
            "items." * is_other
        )

    @property
    def interim_titles(self) -> str:
        return ", ".join(self.titles.get(slug, slug) for slug in self.interim)

    def named(self, part: Table) -> Table:
        """One of its tables as it is read: the bare values stay slugs."""
        return part.with_names("task", self.task_names).with_names("study", self.titles)


STORE = Store(Part.TABLE, Comparison, 10, "compute_comparison")
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


def block_of(test: Difference) -> str:
    """Where a table has the system of this test."""
    return OTHER if test.exploratory else LATER if test.supplement else ""


def first_of(found: Sequence[Difference]) -> Difference | None:
    """Where only one is shown: beside people rather than simulated ones, the most of them."""
    return max(found, key=lambda test: (not test.simulated, test.n or 0), default=None)


def compare(
    scope: Scope, choices: Choices | None = None, reader: CellReader | None = None
) -> Comparison:
    """One study, or all studies of a benchmark, beside the stored runs and the published figures on
    the same tasks: as kept, or computed now and kept. reader: has read the cells of all shots, or
    will for others too."""
    choices = choices or Choices()
    whole = whole_of(choices)
    fingerprint = inputs_fingerprint(scope, whole)
    kept = STORE.find(scope, whole)
    if is_stale(kept, fingerprint):
        computed = compute_table(scope, whole, reader=reader)
        kept = STORE.keep(scope, whole, computed, fingerprint)
    found = STORE.read(kept)
    assert found is not None, "it is of these inputs"
    return found.shown(scope, choices, fingerprint)


@dataclass(frozen=True)
class Glance:
    """What can be shown of a comparison at once."""

    # None while the first one is being computed.
    table: Comparison | None
    kept: Kept
    is_stale: bool = False

    @property
    def is_waiting(self) -> bool:
        return self.is_stale and self.kept.job is not None and not self.kept.job.is_over


def glance(scope: Scope, choices: Choices, *, author: User | None = None) -> Glance:
    """The comparison for a page: if many answers must be scored first, a worker does it, and until
    then it is shown as it was."""
    whole = whole_of(choices)
    fingerprint = inputs_fingerprint(scope, whole)
    kept = STORE.find(scope, whole)
    if is_stale(kept, fingerprint) and unscored_answers(scope, whole) <= MOST_WHILE_WAITING:
        kept = STORE.keep(scope, whole, compute_table(scope, whole), fingerprint)
    kept, stale = STORE.look(scope, whole, fingerprint=fingerprint, author=author)
    computed = STORE.read(kept)
    table = computed.shown(scope, choices, kept.fingerprint) if computed else None
    return Glance(table, kept, stale)


def enqueue_table(scope: Scope, choices: Choices, *, author: User | None = None) -> Kept:
    whole = whole_of(choices)
    fingerprint = inputs_fingerprint(scope, whole)
    return STORE.enqueue(scope, whole, fingerprint=fingerprint, author=author)


def compute_table(
    scope: Scope,
    choices: Choices,
    progress: Progress = lambda *_: None,
    reader: CellReader | None = None,
) -> Comparison:
    reader = reader or CellReader(choices)
    systems: list[Cell] = []
    for number, task in enumerate(scope.tasks):
        progress(number, len(scope.tasks), str(task))
        systems += reader.systems(task)
    return _compared(scope, reader, systems)


def _compared(scope: Scope, reader: CellReader, systems: Sequence[Cell]) -> Comparison:
    choices, tasks = reader.choices, scope.tasks
    people = reader.people_of(scope.studies)
    # For a benchmark, also those for tasks whose data are not here.
    published = reported_rows(scope.benchmark, [t.slug for t in tasks] if scope.study else None)
    own, later = named_and_later(scope.study, systems)
    rows = [
        *(row for cell in people for row in (cell_row(cell, choices), *annotator_rows(cell))),
        *(_system_row(cell, people, scope, choices) for cell in own),
        *(_system_row(cell, people, scope, choices, LATER) for cell in later),
        *published,
    ]
    grouped = _grouped_rows(scope, choices)
    every_task = list(dict.fromkeys(row.task for row in rows))
    together = [
        (consensus_row(cell, scored, seed=choices.seed), scored)
        for cell in people
        if cell.answered.sum() > 1
        for scored in [consensus_scores(cell)]
    ]
    answered = [cell for cell in people if cell.answered.any()]
    shared = sharing(people)
    holding = _holding_excluded(scope, reader)
    seconds = [item_s for cell in answered for member in cell.item_seconds for item_s in member]
    return Comparison(
        rows=(*rows, *grouped),
        consensus=tuple(row for row, _ in together),
        bounds=tuple(
            bound
            for task in tasks
            if reader.only(task) != NOTHING
            for bound in bounds(
                task,
                reader.policy(task),
                reader.gold_version(task),
                _asked(task, scope, people) or reader.only(task),
            )
        ),
        **_tested(scope, choices, answered, own, later),
        averages=(
            *averages([*rows, *grouped], every_task, shared),
            *averages_of_consensus(together, every_task, shared, seed=choices.seed),
        ),
        including=tuple(cell_row(cell, choices) for cell in holding),
        without=tuple(
            cell_row(cell.without_excluded, choices)
            for cell in holding
            if cell.without_excluded.members and cell.without_excluded.answered.any()
        ),
        median_item_s=median(seconds) if seconds else None,
        drift=_drift(answered) if scope.study else None,
    )


def _grouped_rows(scope: Scope, choices: Choices) -> list[Row]:
    """People and systems on the items of each group of the name that was chosen."""
    rows: list[Row] = []
    for value in scope.groups.get(choices.by, []) if choices.by else []:
        reader = CellReader(replace(choices, items=f"{choices.by}={value}", by=""))
        people = reader.people_of(scope.studies)
        own, _ = named_and_later(
            scope.study, [cell for task in scope.tasks for cell in reader.systems(task)]
        )
        found = [
            *(cell_row(cell, reader.choices) for cell in people),
            *(_system_row(cell, people, scope, reader.choices) for cell in own),
        ]
        rows += [replace(row, block=GROUPED) for row in found if row.block != OTHER]
    return rows


def _drift(people: Sequence[Cell]) -> Drift | None:
    measured = [cell for cell in people if not cell.simulated]
    return drift_of(measured or people)


def _asked(task: Task, scope: Scope, people: Sequence[Cell]) -> set[int] | None:
    """The examples of a task that a study's people answered; None for all, also before anybody
    has."""
    own = [cell for cell in people if cell.task == task and cell.answered.any()]
    if scope.study is None or not own or any(cell.is_of_episodes for cell in own):
        return None
    return {pk for cell in own for pk in cell.seen}


def _system_row(
    cell: Cell, people: Sequence[Cell], scope: Scope, choices: Choices, block: str = ""
) -> Row:
    """On the people's items and shot sets, where it has them; else as it is, in a block below."""
    answered = [one for one in people if one.answered.any()]
    if scope.study is None or choices.runs != MATCHED or not answered:
        return replace(cell_row(cell, choices), block=block)
    where = cell.task, cell.shots
    beside = [one for one in answered if (one.task, one.shots) == where]
    own, why = cell.beside(*beside) if beside else (cell, OTHER_SHOT_SETS)
    if why:
        return replace(cell_row(cell, choices), block=OTHER)
    return replace(cell_row(own, choices, matched=True), block=block)


def _tested(
    scope: Scope,
    choices: Choices,
    people: Sequence[Cell],
    own: Sequence[Cell],
    later: Sequence[Cell],
) -> dict[str, Any]:
    """Every test; for a benchmark those of each of its studies."""
    if scope.study is None:
        found = [compare(Scope(scope.benchmark, study), choices) for study in scope.studies]
        return {
            name: tuple(test for table in found for test in getattr(table, name)) for name in TESTS
        }
    about = {"interim": not scope.study.is_settled}
    tasks = [task.slug for task in scope.tasks]
    own, later = ([cell for cell in those if cell.answered.any()] for those in (own, later))
    pairs = [
        *people_and_systems(people, own),
        *people_and_systems(people, later, is_later=True),
    ]
    tests, average_tests = against_systems(pairs, tasks, about)
    return {
        "tests": tuple(tests),
        "average_tests": tuple(average_tests),
        "changes": tuple(between_shots(people, about)),
        "systems": tuple(between_systems(own, about, margin=scope.study.margin)),
    }


def _holding_excluded(scope: Scope, reader: CellReader) -> list[Cell]:
    """The cells that hold excluded annotators, in the order of studies and tasks."""
    return [
        cell
        for study in scope.studies
        for simulated in reader.kinds
        for cell in reader.everybody(study, simulated=simulated)
        if len(cell.without_excluded.members) < len(cell.members) and cell.answered.any()
    ]


def _closed_on(scope: Scope) -> str:
    closed = scope.study.closed_at if scope.study else None
    return closed.date().isoformat() if closed else ""


def whole_of(choices: Choices) -> Choices:
    """No figure depends on which shots are shown, so one comparison is kept for all of them."""
    return replace(choices, shots=())

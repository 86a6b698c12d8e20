"""Comparing: people and systems on the same test items, as rows of one table, and every test of
their differences; kept with its inputs' fingerprint, and recomputed when that changes."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Any

from django.contrib.auth.models import User

from scoring.cells.cell_rows import (
    ConsensusScores,
    annotator_rows,
    bounds,
    cell_row,
    consensus_limits,
    consensus_row,
    consensus_scores,
    reported_rows,
)
from scoring.cells.cells import NOTHING, OTHER_SHOT_SETS, Cell, CellReader
from scoring.cells.rows import GROUPED, INCOMPLETE, LATER, OTHER, Bound, Row, RowKind, whose
from scoring.cells.scope import (
    Choices,
    Scope,
    inputs_fingerprint,
    people_in,
    unscored_answers,
)
from scoring.cells.vectors import answer_orders
from scoring.comparison.claims import TESTS, named_and_later
from scoring.comparison.comparison import MATCHED, Comparison
from scoring.comparison.keeping import Kept, Progress, Store, is_stale
from scoring.contrasts import averages, verdicts
from scoring.contrasts.differences import people_and_systems
from scoring.core.learning import FEWEST_FOR_DRIFT, Drift, drift, third_change
from scoring.models import Part

# How many answers are scored while somebody waits for the page: about a second's worth.
MOST_WHILE_WAITING = 150_000
# And so many people compared, whose every score is kept: about two seconds' worth.
MOST_PEOPLE = 500
STORE = Store(Part.TABLE, Comparison, 14, "compute_comparison")


def compare(
    scope: Scope, choices: Choices | None = None, reader: CellReader | None = None
) -> Comparison:
    """A study, or all of a benchmark, beside the stored runs and the published figures: as kept, or
    computed now and kept. reader: has read the cells of all shots, or will for others too."""
    choices = choices or Choices()
    whole = whole_of(choices)
    fingerprint = inputs_fingerprint(scope, whole)
    kept = STORE.find(scope, whole)
    if is_stale(kept, fingerprint):
        computed = compute_table(scope, whole, reader=reader)
        kept = STORE.keep(scope, whole, computed, fingerprint)
    table = STORE.read(kept)
    assert table is not None, "it is of these inputs"
    return table.shown(scope, choices, fingerprint)


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
    """The comparison for a page: as it was, while a worker compares many people, or scores the many
    answers that it may lack."""
    whole = whole_of(choices)
    fingerprint = inputs_fingerprint(scope, whole)
    kept = STORE.find(scope, whole)
    if is_stale(kept, fingerprint) and _is_soon_computed(scope, whole):
        kept = STORE.keep(scope, whole, compute_table(scope, whole), fingerprint)
    if stale := is_stale(kept, fingerprint):
        kept, stale = STORE.look(scope, whole, fingerprint=fingerprint, author=author)
    computed = STORE.read(kept)
    table = computed.shown(scope, choices, kept.fingerprint) if computed else None
    return Glance(table, kept, stale)


def _is_soon_computed(scope: Scope, choices: Choices) -> bool:
    is_small = people_in(scope) <= MOST_PEOPLE
    return is_small and unscored_answers(scope, choices) <= MOST_WHILE_WAITING


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
        systems += reader.systems(task, scope.study)
    return _compared(scope, reader, systems)


def _compared(scope: Scope, reader: CellReader, systems: Sequence[Cell]) -> Comparison:
    choices = reader.choices
    people = reader.people_of(scope.studies)
    # For a benchmark, also those for tasks whose data are not here.
    tasks = [task.slug for task in scope.tasks] if scope.study else None
    published = reported_rows(scope.benchmark, tasks)
    named, later = named_and_later(scope.study, systems)
    rows = [
        *(row for cell in people for row in (cell_row(cell, choices), *annotator_rows(cell))),
        *(_system_row(cell, people, scope, choices) for cell in named),
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
        # Scores that came without answers have none.
        if len(scored[0])
    ]
    answered = [cell for cell in people if cell.answered.any()]
    shared = averages.sharing(people)
    holding = _holding_excluded(scope, reader)
    seconds = [item_s for cell in answered for member in cell.item_seconds for item_s in member]
    return Comparison(
        rows=(*rows, *grouped),
        consensus=tuple(row for row, _ in together),
        bounds=tuple(_bounds(scope, reader, people)),
        **_tested(scope, choices, answered, named, later),
        averages=(
            *averages.averages([*rows, *grouped], every_task, shared),
            *_averages_of_consensus(together, every_task, seed=choices.seed),
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


def _bounds(scope: Scope, reader: CellReader, people: Sequence[Cell]) -> Iterator[Bound]:
    """Bounds on what a study's people answered; on all before they have, and of episodes."""
    for task in scope.tasks:
        only = reader.only(task)
        if only == NOTHING:
            continue
        cells = [cell for cell in people if cell.task == task and cell.answered.any()]
        if scope.study and not any(cell.is_of_episodes for cell in cells):
            only = frozenset(pk for cell in cells for pk in cell.seen) or only
        yield from bounds(task, reader.policy(task), reader.gold_version(task), only)


def _grouped_rows(scope: Scope, choices: Choices) -> list[Row]:
    """People and systems on the items of each group of the name that was chosen."""
    rows: list[Row] = []
    for value in scope.groups.get(choices.by, []) if choices.by else []:
        reader = CellReader(replace(choices, items=f"{choices.by}={value}", by=""))
        people = reader.people_of(scope.studies)
        named, _ = named_and_later(
            scope.study,
            [cell for task in scope.tasks for cell in reader.systems(task, scope.study)],
        )
        grouped = [
            *(cell_row(cell, reader.choices) for cell in people),
            *(_system_row(cell, people, scope, reader.choices) for cell in named),
        ]
        beside = (row for row in grouped if row.block not in (OTHER, INCOMPLETE))
        rows += [replace(row, block=GROUPED) for row in beside]
    return rows


def _drift(people: Sequence[Cell]) -> Drift | None:
    """Whether people tire or learn over a test that is long enough: in points, their last third
    against their first; whoever did several tests counts once. None for fewer than two."""
    changes: dict[int, list[float]] = defaultdict(list)
    # Nobody knows in which order people from elsewhere answered.
    people = [cell for cell in people if cell.kind != RowKind.ELSEWHERE]
    for cell in [cell for cell in people if not cell.simulated] or people:
        pairs = zip(cell.annotators, cell.vectors, strict=True)
        long = [pair for pair in pairs if len(pair[1].items) >= FEWEST_FOR_DRIFT]
        orders = answer_orders([member.pk for member, _ in long])
        for member, vector in long:
            scores = dict(zip(vector.items.example_ids, 100 * vector.scores, strict=True))
            ordered = [scores[pk] for pk in orders[member.pk]]
            changes[member.annotator_id].append(third_change(ordered))
    return drift([fmean(shifts) for shifts in changes.values()]) if len(changes) > 1 else None


def _system_row(
    cell: Cell, people: Sequence[Cell], scope: Scope, choices: Choices, block: str = ""
) -> Row:
    """A row on the people's items and shot sets, where it has them; else in a block below."""
    if cell.is_partial:
        return replace(cell_row(cell, choices), block=INCOMPLETE)
    answered = [other for other in people if other.answered.any()]
    if scope.study is None or choices.runs != MATCHED or not answered:
        return replace(cell_row(cell, choices), block=block)
    where = cell.task, cell.shots
    beside = [other for other in answered if (other.task, other.shots) == where]
    matched, why = cell.beside(*beside) if beside else (cell, OTHER_SHOT_SETS)
    if why:
        return replace(cell_row(cell, choices), block=OTHER)
    return replace(cell_row(matched, choices, matched=True), block=block)


def _tested(
    scope: Scope,
    choices: Choices,
    people: Sequence[Cell],
    named: Sequence[Cell],
    later: Sequence[Cell],
) -> dict[str, Any]:
    """Every test; for a benchmark those of each of its studies. While somebody can still come, of
    simulated people alone: whoever looks at them again and again finds something."""
    if scope.study is None:
        tables = [compare(Scope(scope.benchmark, study), choices) for study in scope.studies]
        return {
            name: tuple(test for table in tables for test in getattr(table, name)) for name in TESTS
        }
    if not scope.study.is_settled:
        people = [cell for cell in people if cell.simulated]
        if not people:
            return {}
    tasks = [task.slug for task in scope.tasks]
    named, later = ([cell for cell in cells if not cell.is_partial] for cells in (named, later))
    pairs = [
        *people_and_systems(people, named),
        *people_and_systems(people, later, is_later=True),
    ]
    tests, average_tests = verdicts.against_systems(pairs, tasks)
    return {
        "tests": tuple(tests),
        "average_tests": tuple(average_tests),
        "changes": tuple(verdicts.between_shots(people)),
        "systems": tuple(verdicts.between_systems(named, margin=scope.study.margin)),
    }


def _holding_excluded(scope: Scope, reader: CellReader) -> list[Cell]:
    """The cells that hold excluded annotators, in the order of studies and tasks."""
    return [
        cell
        for study in scope.studies
        for simulated in reader.kinds_of(study)
        for cell in reader.everybody(study, simulated=simulated)
        if len(cell.without_excluded.members) < len(cell.members) and cell.answered.any()
    ]


def whole_of(choices: Choices) -> Choices:
    """No figure depends on which shots are shown, so one comparison is kept for all of them."""
    return replace(choices, shots=())


def _averages_of_consensus(
    together: Sequence[tuple[Row, ConsensusScores]],
    tasks: Sequence[str],
    *,
    seed: int,
) -> list[averages.Average]:
    """The averages with their intervals, for these people."""

    def with_limits(average: averages.Average) -> averages.Average:
        of_average = [
            scored
            for row, scored in together
            if whose(average) == whose(row) and row.task in average.tasks
        ]
        low, high = consensus_limits(of_average, seed=seed)
        return replace(average, low=low, high=high)

    return list(map(with_limits, averages.averages([row for row, _ in together], tasks)))

"""What a study measured, as a report tells of it: its cells, and its tests against systems and
between shots. Every figure is one of the comparison."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from annotation.models import Study
from scoring.analysis.kept import STORE
from scoring.analysis.uncertainty import Record, agreement
from scoring.cells.cells import CellReader
from scoring.cells.rows import LATER, OTHER, Row, RowKind, no_skill
from scoring.cells.scope import NOT_CLOSED, Choices, Scope, inputs_fingerprint
from scoring.comparison.comparing import compare
from scoring.comparison.comparison import Comparison, block_of
from scoring.comparison.keeping import is_stale
from scoring.comparison.revisions import revisions
from scoring.contrasts.averages import Average
from scoring.contrasts.difference import Difference, name_of
from scoring.contrasts.outcomes import by_chance
from scoring.core.bootstrap import COVERS_LESS
from scoring.core.screening import MOST_GUESSERS
from scoring.core.verdicts import TOO_FEW
from scoring.models.claims import named_matches
from scoring.report.words import day, few
from scoring.tables.words import span

# A cell's task, shots and pool.
Place = tuple[str, int | str | None, str | None]
AVERAGE = "average"
# In the order of a report; systems outside the family that was named have blocks of their own.
FAMILIES = ("Averages over tasks", "Single tasks", "More shots against fewer")
BLOCKS = {
    LATER: "Dated supplement, adjusted separately",
    OTHER: "On other shot sets or items, exploratory",
}


@dataclass(frozen=True)
class CellFacts:
    row: Row
    # The same cell with its excluded annotators, where there are any.
    with_excluded: Row | None
    no_skill: float | None
    # How far they agree; None for one annotator, or if not computed.
    agreement: Record | None
    # The score of what most of them answered, in percent.
    consensus: float | None

    @property
    def name(self) -> str:
        return f"{self.row.task}, {self.row.after_checks or f'{self.row.shots} shots'}"

    @property
    def moved(self) -> float | None:
        """How far the exclusions moved its mean."""
        if self.with_excluded is None or self.with_excluded.mean is None or self.row.mean is None:
            return None
        return abs(self.row.mean - self.with_excluded.mean)


class Results:
    """The results of a study. `with_agreement` says to compute how far its people agree where no
    analysis keeps it."""

    most_guessers, covers_less = MOST_GUESSERS, COVERS_LESS

    def __init__(
        self,
        study: Study,
        *,
        simulated: bool = False,
        with_agreement: bool = False,
        without_signs: bool = False,
    ) -> None:
        self._study = study
        scope = Scope(study.benchmark, study)
        choices = Choices(simulated=simulated, without_signs=without_signs)
        reader = CellReader(choices)
        self.comparison = comparison = compare(scope, choices, reader)
        self.who = "SIMULATED PEOPLE" if simulated else "people"
        # Readers of a report know tasks by name, where the comparison has slugs.
        names = scope.task_names
        kind = RowKind.SIMULATED if simulated else RowKind.HUMAN
        agreements = _kept_agreements(scope, choices)
        if with_agreement and not agreements:
            agreements = _computed_agreements(reader, study)
        self.cells = list(_cell_facts(comparison, names, agreements, kind))
        # Over all tasks, where there are several.
        self.averages = [
            one for one in comparison.averages if one.kind == kind and len(one.tasks) > 1
        ]
        self.average_tests, self.tests, self.changes = (
            [
                replace(test, task=in_pool(names[test.task], test) if test.task else AVERAGE)
                for test in tests
                if test.simulated == simulated
            ]
            for tests in (comparison.average_tests, comparison.tests, comparison.changes)
        )
        # Median over the test answers that count, by the server's clock.
        self.seconds_an_item = comparison.median_item_s
        self.drift = comparison.drift
        # Cells of which every annotator was excluded: by task and shots.
        self.emptied = [
            f"{in_pool(names[row.task], row)}, {row.shots} shots"
            for without, row in comparison.excluded
            if without is None and row.kind == kind
        ]

    @property
    def with_systems(self) -> list[Difference]:
        return [*self.average_tests, *self.tests]

    @cached_property
    def claims(self) -> dict[str, list[Difference]]:
        """The comparisons by family, those with systems outside it in blocks of their own."""
        claims: dict[str, list[Difference]] = defaultdict(list)
        every = (self.average_tests, self.tests, self.changes)
        for name, tests in zip(FAMILIES, every, strict=True):
            for test in tests:
                claims[BLOCKS.get(block_of(test), name)].append(test)
        return {name: claims[name] for name in (*FAMILIES, *BLOCKS.values()) if name in claims}

    @property
    def by_chance(self) -> str:
        return by_chance(sum(test.in_family for tests in self.claims.values() for test in tests))

    @property
    def has_too_few(self) -> bool:
        return any(test.outcome == TOO_FEW for tests in self.claims.values() for test in tests)

    @property
    def revisions(self) -> list[str]:
        return revisions(self.comparison)

    @property
    def names_of_systems(self) -> list[str]:
        """The systems that the study compares itself with."""
        return list(dict.fromkeys(name_of(test) for test in self.tests if not block_of(test)))

    @property
    def later(self) -> list[str]:
        """The systems of the supplement, each with the day of its latest run, and why it came
        later."""
        named = (
            f"{name_of(test)} ({day(when)}, {self._why_later(test, when)})"
            for test in self.tests
            if (when := test.supplement)
        )
        return list(dict.fromkeys(named))

    def _why_later(self, test: Difference, when: str) -> str:
        study = self._study
        if study.named_systems and not named_matches(study, test.system or "", test.method or ""):
            return "not named before the start"
        if study.closed_at and when < study.closed_at.date().isoformat():
            return "without a whole run on every task at the closing"
        return "complete only after the closing"

    @property
    def untested(self) -> str:
        if self.comparison.interim and self.who == "people":
            is_closed = NOT_CLOSED not in self.comparison.interim.values()
            when = "nobody may send a last page any more" if is_closed else "the study is closed"
            return f"Nothing was tested: that is done once {when}."
        rows = (row for row in self.comparison.rows if row.kind == RowKind.REPORTED)
        names = list(dict.fromkeys(row.system or "" for row in rows if not row.is_of_people))
        if not names:
            named = self._study.named_systems
            why = ": none that was named has a run on these items with these shots" if named else ""
            return f"No system was compared with {self.who}{why}."
        figures = "published figures stand" if len(names) > 1 else "a published figure stands"
        published = f"{figures} beside them in the comparison ({few(names, 'system')})"
        return f"No system was tested against {self.who}; {published}."

    @property
    def exploratory(self) -> list[str]:
        return list(dict.fromkeys(name_of(test) for test in self.tests if test.exploratory))

    @property
    def runs(self) -> list[str]:
        """The runs of each system's comparisons, such as “BERT-Base FT 1 to 5 runs”."""
        counts: dict[str, list[int]] = defaultdict(list)
        for test in self.tests:
            counts[name_of(test)].append(test.runs or 0)
        return [
            f"{name} ({span(runs)} {'runs' if max(runs) > 1 else 'run'})"
            for name, runs in counts.items()
        ]

    @property
    def most_runs(self) -> int:
        return max((test.runs or 0 for test in self.tests), default=0)

    @property
    def runs_left_out(self) -> int:
        return sum(test.runs_left_out for test in self.tests)

    @property
    def answers_an_item(self) -> str:
        """The answers an item has, the fewest to the most: not every batch of a cell has all
        items."""
        return span([count for cell in self.cells for count in cell.row.answers_an_item])

    @property
    def agreeing(self) -> list[CellFacts]:
        return [cell for cell in self.cells if cell.agreement]

    @property
    def lacks_agreement(self) -> bool:
        return any(
            (cell.row.n or 0) > 1 and cell.agreement is None and not cell.row.is_of_episodes
            for cell in self.cells
        )

    @property
    def moved(self) -> list[CellFacts]:
        """The cells whose means exclusions can have moved."""
        return [cell for cell in self.cells if cell.moved is not None]

    @property
    def moved_most(self) -> CellFacts | None:
        return max(self.moved, key=lambda cell: cell.moved or 0, default=None)

    @property
    def with_interval(self) -> int:
        return sum(cell.row.ci_low is not None for cell in self.cells)

    @cached_property
    def methods_used(self) -> set[str | None]:
        return {cell.row.ci_method for cell in self.cells}

    @property
    def has_episodes(self) -> bool:
        return any(cell.row.is_of_episodes for cell in self.cells)

    @property
    def shot_sets(self) -> str:
        """How many shot sets a cell with training has; empty without one."""
        learned = [cell.row for cell in self.cells if cell.row.shots != 0]
        return span([row.splits for row in learned if not row.is_of_episodes])


def _kept_agreements(scope: Scope, choices: Choices) -> dict[Place, Record]:
    """Read them from the kept analysis, if it is of these inputs: no page waits for bootstraps."""
    kept = STORE.find(scope, choices)
    analysis = STORE.read(kept)
    if analysis is None or is_stale(kept, inputs_fingerprint(scope, choices)):
        return {}
    return {
        (cell["task"], cell["shots"], cell["pool"]): cell
        for cell in analysis.agreement
        if cell["simulated"] == choices.simulated
    }


def _computed_agreements(reader: CellReader, study: Study) -> dict[Place, Record]:
    seed, simulated = reader.choices.seed, reader.choices.simulated
    return {
        (cell.task.slug, cell.shots, cell.pool or None): agreement(cell, None, seed=seed)
        for cell in reader.people(study, simulated=simulated)
        if len(cell.scores) > 1 and not cell.is_of_episodes
    }


def _cell_facts(
    comparison: Comparison,
    names: Mapping[str, str],
    agreements: Mapping[Place, Record],
    kind: RowKind,
) -> Iterable[CellFacts]:
    floors = no_skill(list(comparison.bounds))
    excluded = {_place(row): row for row in comparison.including}
    consensus = {_place(row): row.mean for row in comparison.consensus}
    for row in comparison.rows:
        if row.kind != kind or row.single or row.mean is None:
            continue
        place, name = _place(row), in_pool(names[row.task], row)
        other = excluded.get(place)
        yield CellFacts(
            row=replace(row, task=name),
            with_excluded=replace(other, task=name) if other else None,
            no_skill=floors.get(row.task),
            agreement=agreements.get(place),
            consensus=consensus.get(place),
        )


def _place(row: Row) -> Place:
    return row.task, row.shots, row.pool


def in_pool(name: str, of: Row | Difference | Average) -> str:
    """A task as a report calls it, with the pool whose people were asked."""
    return f"{name}, {of.pool}" if of.pool else name

"""What a study measured: its cells, and its tests against systems and between shots. Every
figure comes from the code of the comparison."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan
from statistics import median

import numpy as np

from annotation.models import Study
from scoring.comparison.agreement import Accord, accord, accord_of_plain
from scoring.comparison.cache import find_kept, is_stale
from scoring.comparison.cell_rows import cell_row
from scoring.comparison.cells import Cell, CellReader, Choices, shots_of_batch
from scoring.comparison.differences import Difference, against_systems, between_shots
from scoring.comparison.floors import bounds, no_skill
from scoring.comparison.rows import EPISODE_BOOTSTRAP, Row
from scoring.comparison.scope import Scope, inputs_fingerprint
from scoring.comparison.verdicts import judged, verdicts
from scoring.core.intervals import EXPLORATORY_BELOW, cluster_scores
from scoring.core.power import ComparisonDesign, detectable_difference
from scoring.core.variance import Components, variance_components
from scoring.core.verdicts import AHEAD, BEHIND, SAME, UNDECIDED
from scoring.models import Part

OUTCOMES = {
    AHEAD: "ahead",
    BEHIND: "behind",
    SAME: "as good within the margin",
    UNDECIDED: "not told apart from the system",
}
INTERVALS = {
    "wilson": "Wilson's interval with the effective number of answers of a two-way model of "
    "annotators and items, whose variance is the mean squares' max(MSA + MSI – MSE, MSA, "
    "MSI)/(nm), taken with one more item that everybody got wrong (right, below one half), and "
    "with Satterthwaite's degrees of freedom kept within n – 1 and m",
    "wilson-gaps": "the same with mean squares from an additive least-squares fit, where not "
    "everybody answered the same items",
    EPISODE_BOOTSTRAP: "a percentile bootstrap over episodes, as FLEX (Bragg et al. 2021) reports "
    "them, of the mean over an episode's annotators",
    "t": "Student's t over the annotators' means",
}


@dataclass(frozen=True)
class CellFacts:
    row: Row
    # The same cell with its excluded annotators, where there are any.
    with_excluded: Row | None
    no_skill: float | None
    # Splits that its annotators are nested in.
    splits: int
    # How far they agree; None for one annotator, or if not computed.
    accord: Accord | None
    is_of_episodes: bool
    # Annotators of one item: the fewest to the most.
    answers_an_item: str
    # The smallest difference from a system's one run that as many people on as many items show four
    # times out of five, in points; None where that cannot be told.
    detectable: float | None

    @property
    def name(self) -> str:
        return f"{self.row.task}, {self.row.shots} shots"

    @property
    def moved(self) -> float | None:
        """By how much the exclusions moved its mean."""
        if self.with_excluded is None or self.with_excluded.mean is None or self.row.mean is None:
            return None
        return abs(self.row.mean - self.with_excluded.mean)


@dataclass(frozen=True)
class Results:
    cells: tuple[CellFacts, ...]
    systems: tuple[Row, ...]
    tests: tuple[Difference, ...]
    changes: tuple[Difference, ...]
    seed: int
    # Median over the test answers that count, by the server's clock.
    seconds_an_item: float | None
    # Cells of which every annotator was excluded: by task and shots.
    emptied: tuple[str, ...] = ()

    exploratory_below: int = EXPLORATORY_BELOW

    @property
    def compared(self) -> dict[str, list[Difference]]:
        return _by_claim(self.tests)

    @property
    def changed(self) -> dict[str, list[Difference]]:
        return _by_claim(self.changes)

    @property
    def names_of_systems(self) -> list[str]:
        return list(dict.fromkeys(test.system for test in self.tests))

    @property
    def clear(self) -> int:
        return sum(test.p_holm <= 0.05 for test in self.compared["family"])

    @property
    def outcomes(self) -> dict[str, int]:
        """Of the tests that allow a claim, by the rule of the comparison."""
        counts = Counter(test.outcome for test in self.compared["family"])
        return {words: counts[name] for name, words in OUTCOMES.items() if counts[name]}

    @property
    def fragile(self) -> int:
        return sum(bool(test.falls) for test in self.compared["family"])

    @property
    def agreeing(self) -> list[CellFacts]:
        return [cell for cell in self.cells if cell.accord]

    @property
    def lacks_agreement(self) -> bool:
        """Whether agreement is possible but has not been computed."""
        return any(
            (cell.row.n or 0) > 1 and cell.accord is None and not cell.is_of_episodes
            for cell in self.cells
        )

    @property
    def moved_most(self) -> CellFacts | None:
        """The cell whose mean the exclusions moved most."""
        return max(self.moved, key=lambda cell: cell.moved or 0, default=None)

    @property
    def moved(self) -> list[CellFacts]:
        return [cell for cell in self.cells if cell.moved is not None]

    @property
    def detectable(self) -> list[tuple[float, str]]:
        return sorted((cell.detectable, cell.name) for cell in self.cells if cell.detectable)

    @property
    def with_interval(self) -> int:
        return sum(cell.row.ci_low is not None for cell in self.cells)

    @property
    def with_sd(self) -> int:
        return sum(cell.row.sd is not None for cell in self.cells)

    @cached_property
    def methods_used(self) -> set[str | None]:
        return {cell.row.ci_method for cell in self.cells}

    @property
    def has_episodes(self) -> bool:
        return EPISODE_BOOTSTRAP in self.methods_used

    @property
    def is_of_episodes_alone(self) -> bool:
        return self.methods_used == {EPISODE_BOOTSTRAP}

    @property
    def intervals(self) -> list[str]:
        return [words for name, words in INTERVALS.items() if name in self.methods_used]

    @property
    def shot_sets(self) -> dict[str, list[str]]:
        """What a cell's shot sets let it speak of: `one` has one of them, and `mixed` one
        annotator on each of several, so that the two cannot be told apart."""
        cells = [cell for cell in self.cells if not cell.is_of_episodes]
        learned = [cell for cell in cells if cell.row.shots != 0]
        mixed = [cell.name for cell in cells if 1 < cell.splits == cell.row.n]
        return {
            "learned": [cell.name for cell in learned],
            "one": [cell.name for cell in learned if cell.splits == 1],
            "pooled": [
                cell.name for cell in self.cells if cell.row.splits > 1 and cell.name not in mixed
            ],
            "mixed": mixed,
        }

    @property
    def has_cell_of_one(self) -> bool:
        return any(cell.row.n == 1 for cell in self.cells)

    @property
    def is_exploratory(self) -> bool:
        """Whether any cell is too small for a claim."""
        return self.has_cell_of_one or any(cell.row.is_exploratory for cell in self.cells)


def _by_claim(tests: Sequence[Difference]) -> dict[str, list[Difference]]:
    """The tests that Holm's method adjusts together, since they allow a claim; those of smaller
    cells; and comparisons that too few annotators or items leave without a test."""
    return {
        "family": [test for test in tests if not isnan(test.p_holm)],
        "exploratory": [test for test in tests if isnan(test.p_holm) and not isnan(test.p)],
        "impossible": [test for test in tests if isnan(test.p)],
    }


def results(study: Study, *, simulated: bool = False, with_agreement: bool = False) -> Results:
    choices = Choices(simulated=simulated)
    reader = CellReader(choices)
    cells = [cell for cell in reader.people(study, simulated=simulated) if cell.answered.any()]
    everybody = CellReader(replace(choices, with_excluded=True)).people(study, simulated=simulated)
    scope = Scope(study.benchmark, study)
    systems = _on_same_cells(reader, scope)
    accords = _kept_accords(scope, reader)
    if with_agreement and not accords:
        accords = _computed_accords(cells, choices)
    there = {(cell.task.pk, cell.shots) for cell in cells}
    computed = Results(
        cells=_cell_facts(cells, everybody, choices, _floors(scope, reader), accords),
        systems=tuple(cell_row(cell, choices) for cell in systems),
        tests=tuple(
            judged(
                against_systems(cells, systems, seed=choices.seed), verdicts(cells, systems).cells
            )
        ),
        changes=tuple(between_shots(cells, seed=choices.seed)),
        seed=choices.seed,
        seconds_an_item=_seconds_an_item(cells),
        emptied=tuple(
            f"{scope.task_names[cell.task.slug]}, {cell.shots} shots"
            for cell in everybody
            if (cell.task.pk, cell.shots) not in there and cell.answered.any()
        ),
    )
    return _with_task_names(computed, scope.task_names)


def _with_task_names(results: Results, names: Mapping[str, str]) -> Results:
    """A report is read: its figures are under names where the comparison has slugs."""

    def read(row: Row) -> Row:
        return replace(row, task=names[row.task])

    def read_test(test: Difference) -> Difference:
        return replace(test, task=names[test.task])

    cells = (
        replace(
            cell,
            row=read(cell.row),
            with_excluded=read(cell.with_excluded) if cell.with_excluded else None,
        )
        for cell in results.cells
    )
    return replace(
        results,
        cells=tuple(cells),
        systems=tuple(map(read, results.systems)),
        tests=tuple(map(read_test, results.tests)),
        changes=tuple(map(read_test, results.changes)),
    )


def _on_same_cells(reader: CellReader, scope: Scope) -> list[Cell]:
    """The systems that ran on a task with as many shots as a batch of the study."""
    batches = scope.study.batches.select_related("training_set", "test_set") if scope.study else []
    task_shots = {(batch.task_id, shots_of_batch(batch)) for batch in batches}
    systems = (cell for task in scope.tasks for cell in reader.systems(task))
    return [
        cell for cell in systems if (cell.task.pk, cell.shots) in task_shots and cell.answered.any()
    ]


def _floors(scope: Scope, reader: CellReader) -> dict[str, float]:
    return no_skill(
        [
            bound
            for task in scope.tasks
            for bound in bounds(task, reader.policy(task), reader.gold_version(task))
        ]
    )


def _kept_accords(scope: Scope, reader: CellReader) -> dict[tuple[str, int | str], Accord]:
    """By task and shots, from the kept analysis: a page does not wait for their bootstraps. None if
    the analysis is of other inputs."""
    kept = find_kept(scope, Part.ANALYSIS, reader.choices)
    if not kept.result or is_stale(kept, inputs_fingerprint(scope, reader)):
        return {}
    return {
        (cell["task"], cell["shots"]): accord_of_plain(cell["accord"])
        for cell in kept.result["cells"]
        if cell["accord"] and cell["simulated"] == reader.choices.simulated
    }


def _computed_accords(
    cells: Sequence[Cell], choices: Choices
) -> dict[tuple[str, int | str], Accord]:
    """As the analysis computes them."""
    return {
        (cell.task.slug, cell.shots): accord(cell, seed=choices.seed)
        for cell in cells
        if len(cell.scores) > 1 and not cell.is_of_episodes
    }


def _cell_facts(
    cells: Sequence[Cell],
    everybody: Sequence[Cell],
    choices: Choices,
    floors: dict[str, float],
    accords: dict[tuple[str, int | str], Accord],
) -> tuple[CellFacts, ...]:
    whole = {(cell.task.pk, cell.shots): cell for cell in everybody}
    facts = []
    for cell in cells:
        other = whole[cell.task.pk, cell.shots]
        has_excluded = len(other.members) > len(cell.members)
        facts.append(
            CellFacts(
                row=cell_row(cell, choices),
                with_excluded=cell_row(other, choices) if has_excluded else None,
                no_skill=floors.get(cell.task.slug),
                splits=len(set(cell.splits)),
                accord=accords.get((cell.task.slug, cell.shots)),
                is_of_episodes=cell.is_of_episodes,
                answers_an_item=_answers_an_item(cell),
                detectable=_detectable(cell),
            )
        )
    return tuple(facts)


def _answers_an_item(cell: Cell) -> str:
    """Not every batch of a cell has all items."""
    answers = (~np.isnan(cell.scores)).sum(axis=0)
    fewest, most = int(answers.min()), int(answers.max())
    return str(most) if fewest == most else f"{fewest} to {most}"


def _detectable(cell: Cell) -> float | None:
    """Against a system whose answers vary as these people's do, and who finds other items hard."""
    scores = cluster_scores(cell.scores, cell.clusters)
    if cell.is_of_episodes or min(scores.shape) < 2 or np.isnan(scores).any():
        return None
    people = variance_components(scores)
    design = ComparisonDesign(
        annotators=len(scores),
        runs=1,
        items=scores.shape[1],
        people=people,
        system=Components(0.0, 0.0, people.residual),
        item_difference_var=people.item,
    )
    smallest = detectable_difference(design)
    return None if isnan(smallest) else 100 * smallest


def _seconds_an_item(cells: Sequence[Cell]) -> float | None:
    seconds = [item_s for cell in cells for member in cell.item_seconds for item_s in member]
    return median(seconds) if seconds else None

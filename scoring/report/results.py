"""What a study measured: its cells, and its tests against systems and between shots. Every
figure comes from the code of the comparison."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from statistics import median

from annotation.models import Study
from scoring.comparison.agreement import Accord, accord_of_plain
from scoring.comparison.cache import find_kept, is_stale
from scoring.comparison.cells import Cell, CellReader, Choices, shots_of_batch
from scoring.comparison.differences import Difference, against_systems, between_shots
from scoring.comparison.floors import bounds, no_skill
from scoring.comparison.rows import Row, cell_row
from scoring.comparison.scope import Scope, inputs_fingerprint
from scoring.models import Part


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


@dataclass(frozen=True)
class Results:
    cells: tuple[CellFacts, ...]
    systems: tuple[Row, ...]
    tests: tuple[Difference, ...]
    changes: tuple[Difference, ...]
    seed: int
    # Median over the test answers that count, by the server's clock.
    seconds_an_item: float | None

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
        moved = [(by, cell) for cell in self.cells if (by := _moved(cell)) is not None]
        return max(moved, key=itemgetter(0))[1] if moved else None

    @property
    def is_exploratory(self) -> bool:
        """Whether any cell is too small for a claim."""
        return any(cell.row.n == 1 or cell.row.is_exploratory for cell in self.cells)


def results(study: Study) -> Results:
    choices = Choices()
    reader = CellReader(choices)
    cells = [cell for cell in reader.people(study) if cell.answered.any()]
    scope = Scope(study.benchmark, study)
    systems = _on_same_cells(reader, scope)
    return Results(
        cells=_cell_facts(
            study, cells, choices, _floors(scope, reader), _kept_accords(scope, reader)
        ),
        systems=tuple(cell_row(cell, choices) for cell in systems),
        tests=tuple(against_systems(cells, systems, seed=choices.seed)),
        changes=tuple(between_shots(cells, seed=choices.seed)),
        seed=choices.seed,
        seconds_an_item=_seconds_an_item(cells),
    )


def _on_same_cells(reader: CellReader, scope: Scope) -> list[Cell]:
    """The systems that ran on a task with as many shots as a batch of the study."""
    batches = scope.study.batches.select_related("training_set", "test_set") if scope.study else []
    places = {(batch.task_id, shots_of_batch(batch)) for batch in batches}
    found = (cell for task in scope.tasks for cell in reader.systems(task))
    return [cell for cell in found if (cell.task.pk, cell.shots) in places and cell.answered.any()]


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
        if cell["accord"]
    }


def _cell_facts(
    study: Study,
    cells: Sequence[Cell],
    choices: Choices,
    floors: dict[str, float],
    accords: dict[tuple[str, int | str], Accord],
) -> tuple[CellFacts, ...]:
    everybody = CellReader(replace(choices, with_excluded=True)).people(study)
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
            )
        )
    return tuple(facts)


def _moved(facts: CellFacts) -> float | None:
    before, after = facts.with_excluded, facts.row
    if before is None or before.mean is None or after.mean is None:
        return None
    return abs(after.mean - before.mean)


def _seconds_an_item(cells: Sequence[Cell]) -> float | None:
    seconds = [each for cell in cells for member in cell.item_seconds for each in member]
    return median(seconds) if seconds else None

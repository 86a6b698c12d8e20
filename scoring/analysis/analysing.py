"""Analysing: everything about a comparison that takes too long for a page."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from annotation.models import Assignment, Judgement, Study, Task
from scoring.analysis import tables
from scoring.analysis.kept import Analysis
from scoring.analysis.uncertainty import Record, agreement, uncertainty
from scoring.cells.cells import CellKey, CellReader, cell_key, cell_order, percent
from scoring.cells.rows import RowKind
from scoring.cells.scope import Choices, Scope
from scoring.comparison.comparing import compare, whole_of
from scoring.comparison.comparison import Comparison
from scoring.comparison.keeping import Progress
from scoring.contrasts.difference import Difference
from scoring.contrasts.verdicts import between_systems
from scoring.core.learning import learning_curve
from scoring.core.normalisation import normalised
from scoring.core.s1 import score_one
from scoring.tables.table import Table, lines_of, records_of

# How many points a learning curve has, about.
POINTS = 5


def analyse(scope: Scope, choices: Choices, progress: Progress = lambda *_: None) -> Analysis:
    reader = CellReader(whole_of(choices))
    # The uncertainty of figures over episodes is shown on their own board.
    people = [
        cell
        for cell in reader.people_of(scope.studies)
        if cell.answered.any() and not cell.is_of_episodes and choices.wants(cell.shots)
    ]
    steps = len(people) + 3
    table = compare(scope, choices, reader)
    sure, agreed = [], []
    for number, cell in enumerate(people):
        progress(number, steps, f"{cell.task}, {cell.shots} shots")
        assert cell.study is not None, "they are of people"
        about = _about(cell.study, cell.task, cell.shots, cell.pool, reader, cell.simulated)
        sure.append({**about, **uncertainty(cell, choices)})
        if len(cell.scores) > 1:
            together = table.consensus_of(cell)
            agreed.append({**about, **agreement(cell, together, seed=choices.seed)})
    progress(len(people), steps, "differences")
    progress(len(people) + 1, steps, "learning curves")
    learned = [
        curve
        for study in scope.studies
        for simulated in reader.kinds_of(study)
        for curve in curves(study, reader, simulated=simulated)
        if choices.wants(curve["shots"])
    ]
    progress(len(people) + 2, steps, "over tasks")
    return Analysis(
        tests=records_of(tables.TESTS.columns, table.tests),
        systems=records_of(
            tables.SYSTEMS.columns, table.systems if scope.study else _systems(scope, reader)
        ),
        changes=records_of(tables.CHANGES.columns, table.changes),
        uncertainty=tuple(sure),
        agreement=tuple(agreed),
        curves=tuple(learned),
        aggregates=records_of(
            tables.AVERAGES.columns, [one for one in table.averages if len(one.tasks) > 1]
        ),
        average_tests=records_of(tables.AVERAGE_TESTS.columns, table.average_tests),
        excluded=_excluded(table),
    )


def _systems(scope: Scope, reader: CellReader) -> list[Difference]:
    """Tests between systems of a benchmark; a study's comparison has those of its own."""
    every = [
        cell
        for task in scope.tasks
        for cell in reader.systems(task, scope.study)
        if not cell.is_partial
    ]
    return between_systems(every)


def _about(
    study: Study, task: Task, shots: int | str, pool: str, reader: CellReader, simulated: bool
) -> dict[str, Any]:
    return {
        "study": study.slug,
        "pool": pool or None,
        "simulated": simulated,
        "task": task.slug,
        "shots": shots,
        **reader.scored_under(task),
    }


def _excluded(table: Comparison) -> tuple[Record, ...]:
    of_people = [pair for pair in table.excluded if pair[1].kind != RowKind.SIMULATED]
    of_people.sort(key=lambda pair: (pair[1].study or "", pair[1].task))
    return tuple(tables.excluded_record(*pair) for pair in of_people)


def filled(table: Table, analysis: Analysis) -> Table:
    records: Iterable[Record] = getattr(analysis, table.name.replace("-", "_"))
    if table is tables.CURVES:
        records = [{**curve, **point} for curve in analysis.curves for point in curve["points"]]
    return replace(table, lines=lines_of(records))


def analysis_tables(analysis: Analysis) -> list[Table]:
    """Every table of a kept analysis; those without rows are left out."""
    return [table for table in (filled(table, analysis) for table in tables.ALL) if table.lines]


def curves(study: Study, reader: CellReader, *, simulated: bool = False) -> list[Record]:
    """One curve for each cell of a study that has training: of everybody who finished it, screened
    out or not. Leaving out the screened-out would show selection as learning."""
    assignments = Assignment.objects.filter(
        study=study, training_ended_at__isnull=False
    ).select_related(
        *("annotator", "batch__task", "batch__training_set", "batch__test_set", "batch__pool")
    )
    assignments = assignments.simulated() if simulated else assignments.of_people()
    if not reader.choices.with_excluded:
        assignments = assignments.filter(exclusion__isnull=True)
    cells: dict[CellKey, list[Assignment]] = {}
    for assignment in assignments.order_by("pk"):
        if assignment.batch.shots:
            cells.setdefault(cell_key(assignment.batch), []).append(assignment)
    return [
        {
            **_about(study, people[0].batch.task, shots, pool, reader, simulated),
            "annotators": len(people),
            **_learned(people, reader),
        }
        for (_, shots, pool), people in sorted(cells.items(), key=cell_order)
    ]


def _learned(members: Sequence[Assignment], reader: CellReader) -> dict[str, Any]:
    rows = _scored_judgements(members, reader)
    positions = {position for _, _, position, _ in rows}
    learning = learning_curve(
        *zip(*rows, strict=True), block=max(1, round(len(positions) / POINTS))
    )
    return {
        "points": [
            {
                "first": point.first,
                "last": point.last,
                "answers": point.n,
                "mean": percent(point.mean),
                "adjusted": percent(float(np.clip(point.adjusted, 0, 1))),
                "se": percent(point.se),
            }
            for point in learning.points
        ],
        "by_annotator": {
            str(name): [percent(mean) for mean in means]
            for name, means in learning.by_annotator.items()
        },
    }


def _scored_judgements(
    members: Sequence[Assignment], reader: CellReader
) -> list[tuple[str, int, int, float]]:
    """Every training judgement: by whom, of which example, at which position from 1, its S1."""
    task = members[0].batch.task
    names = {member.pk: member.annotator.pseudonym for member in members}
    golds: dict[int, list[list[str]]] = {}
    sets = {member.batch.training_set for member in members}
    for training_set in filter(None, sets):
        items = reader.items(task, training_set)
        golds |= dict(zip(items.example_ids, items.compared, strict=True))
    judgements = Judgement.objects.of_training().filter(assignment_id__in=names).order_by("pk")
    return [
        (
            names[owner],
            example,
            step + 1,
            score_one(
                normalised(answer, task.normalisation, golds[example]),
                golds[example],
                references=reader.policy(task),
            ),
        )
        for owner, example, step, answer in judgements.values_list(
            "assignment_id", "example_id", "step", "answer"
        )
    ]

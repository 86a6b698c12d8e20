from datetime import timedelta

import numpy as np
import pytest

from annotation.models import Assignment, Batch, Study
from scoring.cells.cell_rows import cell_row
from scoring.cells.cells import CellReader
from scoring.cells.scope import Choices, Scope
from scoring.comparison.comparing import compare
from scoring.core.bootstrap import SEED, episode_score
from scoring.models import Run
from tests import make
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def two_test_sets(*, episodes: bool = False) -> Study:
    """One task with two test sets that share an item; two people on each."""
    benchmark = make.benchmark()
    task = make.task(benchmark, training=3, tests=5)
    examples = list(task.item_sets.get(name="test").examples.order_by("pk"))
    sets = [
        make.item_set(task, part, name=f"test-{n}", role="test", episode=n if episodes else None)
        for n, part in enumerate([examples[:3], examples[2:]], start=1)
    ]
    study = make.study(benchmark)
    batches = [
        Batch.objects.create(
            study=study,
            task=task,
            training_set=task.item_sets.get(name="train-3-1"),
            test_set=test_set,
            wanted=2,
        )
        for test_set in sets
    ]
    make.start_study(study, at=make.NOON)
    for number, batch in enumerate(batches):
        batch.refresh_from_db()
        for wrong in (3 + number, 4):
            make.worked_through(batch, wrong=wrong)
    return study


def test_puts_people_of_one_task_and_number_of_shots_into_one_cell() -> None:
    batch = measured.cell([3, 4])
    [cell] = CellReader(Choices()).people(batch.study)
    assert (cell.task, cell.shots, cell.study) == (batch.task, 3, batch.study)
    assert cell.matrix.shape == (2, 6)


def test_puts_people_with_different_test_sets_side_by_side() -> None:
    [cell] = CellReader(Choices()).people(two_test_sets())
    assert np.isnan(cell.matrix).sum(axis=1).tolist() == [2, 2, 2, 2]
    assert cell.coverage == 1
    # Only the item shared by both episodes was seen by all.
    assert (~np.isnan(cell.matrix)).all(axis=0).tolist() == [False, False, True, False, False]


def test_gives_a_cell_with_different_test_sets_an_interval() -> None:
    study = two_test_sets()
    rows = compare(Scope(study.benchmark, study)).rows
    [cell] = [row for row in rows if row.kind == "human"]
    people = [row for row in rows if row.kind == "annotator"]
    assert cell.ci_method == "wilson-gaps"
    [whole] = CellReader(Choices()).people(study)
    assert cell.mean == pytest.approx(100 * np.nanmean(whole.matrix, axis=0).mean())
    assert cell.sd == pytest.approx(np.std([person.mean for person in people], ddof=1))
    assert [person.n for person in people] == [3, 3, 3, 3]


def test_takes_an_episode_as_the_unit_as_flex_does() -> None:
    study = two_test_sets(episodes=True)
    rows = compare(Scope(study.benchmark, study)).rows
    [cell] = [row for row in rows if row.kind == "human"]
    people = [row.mean for row in rows if row.kind == "annotator"]
    episodes = [np.mean(people[:2]) / 100, np.mean(people[2:]) / 100]
    expected = episode_score(episodes, rng=np.random.default_rng(SEED))
    assert (cell.shots, cell.n, cell.m, cell.ci_method) == ("few", 4, 2, "episode-bootstrap")
    assert (cell.mean, cell.sd) == pytest.approx((100 * expected.mean, 100 * expected.sd))
    assert (cell.ci_low, cell.ci_high) == pytest.approx((100 * expected.low, 100 * expected.high))
    assert cell.is_exploratory
    [cell] = compare(Scope(study.benchmark, study), Choices(estimand="these_items")).rows[:1]
    assert (cell.mean, cell.ci_low) == (pytest.approx(100 * expected.mean), None)


def test_puts_episodes_with_other_numbers_of_training_examples_into_one_cell() -> None:
    task = make.task(training=3, tests=4)
    for episode, shots in ((1, 5), (2, 9), (3, 0)):
        name = f"episode-{episode}-test"
        examples = list(task.item_sets.get(name="test").examples.all())
        test_set = make.item_set(task, examples, name=name, role="test", episode=episode)
        measured.run(task, test_set=test_set, shots=shots, split=None, episode=episode)
    measured.run(task, shots=10)
    cells = CellReader(Choices()).systems(task)
    assert {cell.shots: len(cell.members) for cell in cells} == {0: 1, 10: 1, "few": 2}
    [few] = CellReader(Choices(shots=("few",))).systems(task)
    assert few.is_of_episodes


def test_counts_every_run_alike() -> None:
    batch = measured.cell([])
    for wrong, split in ((1, 1), (3, 1), (2, 2)):
        measured.run(batch.task, wrong=wrong, split=split)
    [cell] = CellReader(Choices()).systems(batch.task)
    row = cell_row(cell, Choices())
    assert (row.n, row.ci_method) == (3, None), "fewer than five are these outputs alone"
    assert row.sd == pytest.approx(100 / 6)
    for split in (3, 4):
        measured.run(batch.task, wrong=2, split=split)
    [cell] = CellReader(Choices()).systems(batch.task)
    assert cell_row(cell, Choices()).ci_method == "wilson"


def test_keeps_systems_of_another_size_apart() -> None:
    batch = measured.cell([3, 4])
    for parameters, wrong in (("770M", 1), ("3B", 3)):
        for split in (1, 2):
            measured.run(batch.task, wrong=wrong, split=split, parameters=parameters)
    cells = CellReader(Choices()).systems(batch.task)
    assert [(cell.parameters, len(cell.members)) for cell in cells] == [("3B", 2), ("770M", 2)]
    rows = [cell_row(cell, Choices()) for cell in cells]
    assert [row.mean for row in rows] == pytest.approx([100 * 3 / 6, 100 * 5 / 6])


@pytest.mark.parametrize(
    ("splits", "compared", "why"),
    [
        ((1, 1), 2, ""),
        ((1, 2, 1), 2, ""),
        ((2, None), 2, "other shot sets"),
    ],
)
def test_compares_the_runs_on_the_splits_of_people(
    splits: tuple[int | None, ...], compared: int, why: str
) -> None:
    batch = measured.cell([3])
    for wrong, split in enumerate(splits):
        measured.run(batch.task, wrong=wrong, split=split)
    [system] = CellReader(Choices()).systems(batch.task)
    [people] = CellReader(Choices()).people(batch.study)
    other, exploratory = system.beside(people)
    assert (len(other.members), exploratory) == (compared, why)


def test_compares_all_runs_with_people_who_learned_nothing() -> None:
    batch = make.running_batch(zero_shot=True)
    make.worked_through(batch)
    for wrong, split in enumerate((1, None)):
        measured.run(batch.task, wrong=wrong, shots=0, split=split)
    [system] = CellReader(Choices()).systems(batch.task)
    [people] = CellReader(Choices()).people(batch.study)
    other, exploratory = system.beside(people)
    assert (len(other.members), exploratory) == (2, "")


@pytest.mark.parametrize(("missing", "why"), [(4, ""), (5, "other items")])
def test_reads_a_system_on_the_items_that_people_saw(missing: int, why: str) -> None:
    batch = measured.on_a_part()
    measured.run(batch.task, wrong=1, missing=missing)
    [system] = CellReader(Choices()).systems(batch.task)
    [people] = CellReader(Choices()).people(batch.study)
    other, exploratory = system.beside(people)
    assert set(other.example_ids) <= set(people.seen)
    assert exploratory == why


def test_reads_the_people_of_one_task_alone_on_request() -> None:
    batch = measured.cell([3])
    other = make.task(batch.study.benchmark)
    assert CellReader(Choices()).people(batch.study, task=other) == []


def test_orders_members_by_what_happened_and_not_by_the_keys_of_the_database() -> None:
    batch = measured.cell([3, 4, 5])
    for hours, assignment in enumerate(reversed(measured.all_assignments(batch))):
        joined = make.NOON - timedelta(hours=9 - hours)
        Assignment.objects.filter(pk=assignment.pk).update(joined_at=joined)
    [people] = CellReader(Choices()).people(batch.study)
    assert people.matrix.sum(axis=1).tolist() == [4, 5, 6]
    for wrong, checksum in ((1, "b"), (2, "a")):
        run = measured.run(batch.task, split=None, wrong=wrong, complete=False)
        complete = {"state": "complete", "completed_at": make.NOON, "checksum": checksum}
        Run.objects.filter(pk=run.pk).update(**complete)
    [system] = CellReader(Choices()).systems(batch.task)
    assert system.matrix.sum(axis=1).tolist() == [4, 5]
    assert system.splits == ["run a", "run b"]


def test_takes_people_who_learned_from_one_set_as_one_split_whatever_they_were_tested_on() -> None:
    [cell] = CellReader(Choices()).people(two_test_sets())
    assert len(set(cell.splits)) == 1
    row = cell_row(cell, Choices())
    assert (row.ci_method, row.n) == ("wilson-gaps", 4)

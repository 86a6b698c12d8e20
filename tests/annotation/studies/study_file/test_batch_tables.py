"""Tables of a study's file stand for many batches, and the same batches for the same tables."""

from typing import Any

import pytest

from annotation.models import Role, Study, Task
from annotation.models.errors import BadInput
from annotation.studies.cutting import cut_into_parts
from annotation.studies.drafting import possible_batches
from annotation.studies.study_file.applying import apply_study
from annotation.studies.study_file.batch_tables import batch_tables, key_of
from annotation.studies.study_file.reading import StudyFile
from annotation.studies.study_file.writing import content_of
from tests import make
from tests.annotation.benchmarks.sampled import sampled_task

pytestmark = pytest.mark.django_db


@pytest.fixture
def task() -> Task:
    """With shots of two sizes and three splits; a set whose file says no shots; two test sets."""
    make.channel("link")
    made = make.task(make.benchmark("bench"), slug="mood", training=0, tests=8)
    for shots in (2, 4):
        for split in (1, 2, 3):
            examples = [
                make.example(made, f"{shots} {split} {n}", role=Role.TRAINING) for n in range(shots)
            ]
            name = f"train-{shots}-{split}"
            make.item_set(made, examples, name=name, shots=shots, split=split)
    make.item_set(made, examples[:1], name="some")
    make.item_set(made, [make.example(made, "extra")], name="z-other", role=Role.TEST)
    return made


def applied(task: Task, *tables: dict[str, Any], pools: tuple[str, ...] = ()) -> Study:
    study = {"name": "bench", "title": "Bench", "benchmark": task.benchmark.name}
    named = [{"name": name, "title": name.title()} for name in pools]
    data = {"study": study, "pools": named, "batches": list(tables)}
    return apply_study(StudyFile(data)).study


def tables_of(study: Study) -> list[dict[str, Any]]:
    return batch_tables(content_of(study).batches)


def keys_of(study: Study) -> set[Any]:
    return {(key_of(one), one.wanted) for one in study.batches.select_related("pool")}


@pytest.mark.parametrize(
    "tables",
    [
        [{"tasks": ["mood"], "shots": [0], "people": 5}],
        [{"tasks": ["mood"], "shots": [2, 4], "splits": [1, 2, 3], "people": 1}],
        [
            {"tasks": ["mood"], "shots": [0], "people": 5},
            {"tasks": ["mood"], "shots": [2], "splits": [1], "people": 2},
            {"tasks": ["mood"], "shots": [2, 4], "splits": [2, 3], "people": 1},
        ],
        [{"tasks": ["mood"], "shots": [2], "splits": [1], "people": 3, "items_a_person": 5}],
        [
            {
                **{"tasks": ["mood"], "shots": [2, 4], "splits": [1, 2], "people": 1},
                **{"items_a_person": 4, "people_an_item": 2, "sample_seed": 3},
            }
        ],
        [{"tasks": ["mood"], "training_set": "some", "test_set": "test", "people": 3}],
        [{"tasks": ["mood"], "shots": [0], "test_set": "z-other", "people": 3}],
        [{"tasks": ["mood"], "shots": [2], "splits": [2], "test_set": "z-other", "people": 3}],
    ],
)
def test_writes_the_tables_that_were_read(task: Task, tables: list[dict[str, Any]]) -> None:
    study = applied(task, *tables)
    assert study.batches.exists()
    written = tables_of(study)
    before = keys_of(study)
    assert [{k: v for k, v in one.items() if k in tables[n]} for n, one in enumerate(written)] == (
        tables
    )
    assert keys_of(applied(task, *written)) == before


def test_puts_together_what_differs_in_one_thing_alone(task: Task) -> None:
    other = make.task(task.benchmark, slug="alike", training=2)
    of_each = [
        {"tasks": [name], "shots": [shots], "splits": [1], "pool": pool, "people": 2}
        for name, shots in (("mood", 4), ("mood", 2), ("alike", 2))
        for pool in ("b", "a")
    ]
    study = applied(task, *of_each, pools=("a", "b"))
    assert other.batches.count() == 2
    assert tables_of(study) == [
        {"tasks": ["alike"], "shots": [2], "splits": [1], "pool": "a", "people": 2},
        {"tasks": ["alike"], "shots": [2], "splits": [1], "pool": "b", "people": 2},
        {"tasks": ["mood"], "shots": [2, 4], "splits": [1], "pool": "a", "people": 2},
        {"tasks": ["mood"], "shots": [2, 4], "splits": [1], "pool": "b", "people": 2},
    ]


def test_takes_all_splits_where_none_are_said(task: Task) -> None:
    study = applied(task, {"tasks": ["mood"], "shots": [0, 2]})
    assert sorted((one.shots, one.split or 0) for one in study.batches.all()) == [
        *((0, 0), (2, 1), (2, 2), (2, 3)),
    ]


def test_names_the_parts_that_are_left_of_a_layout(task: Task) -> None:
    study = applied(
        task, {"tasks": ["mood"], "shots": [0], "items_a_person": 4, "people_an_item": 2}
    )
    parts = study.batches.count()
    assert parts == 4
    study.batches.filter(test_set__name__endswith="-2").delete()
    study.batches.filter(test_set__name__endswith="-3").update(wanted=2)
    written = tables_of(study)
    assert [(one["test_set"], one["people"]) for one in written] == [
        *(("test-part-4x2-1", 1), ("test-part-4x2-3", 2), ("test-part-4x2-4", 1)),
    ]
    assert keys_of(applied(task, *written)) == keys_of(study)


def test_says_episodes_by_their_numbers() -> None:
    make.channel("link")
    task = sampled_task()
    numbers = sorted({one.test_set.episode or 0 for one in possible_batches(task)})
    study = applied(task, {"tasks": [task.slug], "episodes": numbers, "people": 2})
    assert tables_of(study) == [{"tasks": [task.slug], "episodes": numbers, "people": 2}]
    assert study.batches.count() == len(numbers)
    # A part of one is named.
    batch = study.batches.first()
    assert batch
    part = cut_into_parts(batch.test_set, 2, 2)[0]
    study.batches.filter(pk=batch.pk).update(test_set=part)
    before = keys_of(study)
    assert keys_of(applied(task, *tables_of(study))) == before


def test_asks_for_the_test_set_where_a_task_has_none_of_its_own(task: Task) -> None:
    task.item_sets.filter(role=Role.TEST).delete()
    with pytest.raises(BadInput, match=r"batches\[0\]: The task mood has no test set of its own"):
        applied(task, {"tasks": ["mood"], "training_set": "some"})

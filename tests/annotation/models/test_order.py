"""The order in which an annotator meets the examples of a batch."""

from typing import Any

import pytest
from django.db import DatabaseError, transaction

from annotation.models import Batch, Role, Study
from annotation.models.frozen import batch_content, sequence
from annotation.studies.lifecycle import start_study
from tests import make
from tests.every import every

pytestmark = pytest.mark.django_db

SEEDS = [f"{number:016x}" for number in range(40)]


def batch_of(**fields: Any) -> Batch:
    """Six training and nine test examples, three on each text."""
    task = make.task(training=0, tests=0)
    for role, count in ((Role.TRAINING, 2), (Role.TEST, 3)):
        examples = [
            make.example(task, f"{role} {text} {question}", role=role, context=f"Text {text}.")
            for text in range(count)
            for question in range(3)
        ]
        task.item_sets.filter(role=role).delete()
        name, about = (
            ("train-6-1", {"shots": 6, "split": 1}) if role == Role.TRAINING else ("test", {})
        )
        make.item_set(task, examples, name=name, role=role, **about)
    made = make.batch(make.study(task.benchmark, **fields), task)
    start_study(made.study, at=make.NOON)
    return made


def orders(batch: Batch, seed: str) -> tuple[list[int], list[int]]:
    """The positions of training and test."""
    shown = sequence(batch.pk, seed)
    parts = [[e.position for e in shown if e.role == role] for role in (Role.TRAINING, Role.TEST)]
    return parts[0], parts[1]


def test_keeps_the_questions_of_a_text_in_a_row() -> None:
    batch = batch_of()
    # As it was for those who began under earlier versions.
    assert orders(batch, "5f0c8b2a9d3e4716") == ([3, 4, 5, 0, 1, 2], [6, 7, 8, 0, 1, 2, 3, 4, 5])
    for seed in SEEDS:
        for order in orders(batch, seed):
            texts = [order[n : n + 3] for n in range(0, len(order), 3)]
            assert sorted(texts) == [[n, n + 1, n + 2] for n in range(0, len(order), 3)]
    assert len({tuple(orders(batch, seed)[1]) for seed in SEEDS}) == 6


def test_shuffles_items_where_the_study_says_so() -> None:
    batch = batch_of(shuffle_by="item")
    found = [orders(batch, seed) for seed in SEEDS]
    assert every((sorted(a), sorted(b)) == (list(range(6)), list(range(9))) for a, b in found)
    assert len({tuple(test) for _, test in found}) == len(SEEDS)
    # Each item comes at each place now and then.
    assert every(len({test[place] for _, test in found}) > 6 for place in range(9))
    assert every([example.role for example in sequence(batch.pk, seed)][:6] == ["training"] * 6
               for seed in SEEDS)  # fmt: skip


@pytest.mark.both_databases
def test_is_kept_from_the_start_on() -> None:
    batch = batch_of()
    assert batch.study.frozen["rules"]["shuffle_by"] == "text"
    with pytest.raises(DatabaseError), transaction.atomic():
        Study.objects.update(shuffle_by="item")
    assert batch_content(batch.pk).rules.shuffle_by == "text"

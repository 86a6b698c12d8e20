"""People whose wrong answers are those of a stored run."""

from copy import deepcopy

import pytest

from annotation.models import Assignment, Batch, WorkSummary
from annotation.people.rows import rows
from annotation.people.summaries import refresh
from scoring.cells.scope import Choices, Scope
from scoring.comparison.comparing import compare
from tests import make
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db

TESTS = 30


def made_batch() -> Batch:
    """Four people who are wrong on few items, one after another; and one on a third of them."""
    batch = make.running_batch(wanted=10, tests=TESTS, training=3)
    for number in range(4):
        make.worked_through(batch, wrong=4 + number)
    make.worked_through(batch, wrong=3 + TESTS // 2)
    return batch


batch_once = once_a_module(made_batch)


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    return deepcopy(batch_once)


def signs(batch: Batch) -> list[dict[str, str]]:
    refresh(batch.study)
    found = WorkSummary.objects.filter(assignment__study=batch.study).order_by("pk")
    return [{name: text for name, text in one.signs.items() if name == "copied"} for one in found]


def as_the_last(batch: Batch) -> dict[int, list[str]]:
    last = Assignment.objects.latest("pk")
    return dict(last.judgements.of_test().values_list("example_id", "answer"))


def test_is_seen_whoever_was_there_first(batch: Batch) -> None:
    assert signs(batch) == [{}] * 5
    measured.run(batch.task, answers=as_the_last(batch))
    measured.run(batch.task, system="Other", wrong=2)
    found = signs(batch)
    assert found[:4] == [{}] * 4
    assert found[4]["copied"].startswith("15 of 15 wrong answers of BERT-Base (")
    flags = {row.person.pk: row.flag_names for row in rows(batch.study)}
    assert flags[Assignment.objects.latest("pk").pk].split()[0] == "copied"


def test_right_answers_that_agree_are_no_sign(batch: Batch) -> None:
    measured.run(batch.task)
    make.worked_through(batch)
    assert signs(batch) == [{}] * 6


def test_comparison_without_whoever_shows_signs(batch: Batch) -> None:
    measured.run(batch.task, answers=as_the_last(batch))
    scope = Scope(batch.study.benchmark, batch.study)
    n = {}
    for without in (False, True):
        table = compare(scope, Choices(without_signs=without))
        n[without] = [row.n for row in table.rows if row.kind == "human"]
    assert n == {False: [5], True: [4]}

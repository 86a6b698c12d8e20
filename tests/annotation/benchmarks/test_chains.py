from collections.abc import Callable
from typing import Any

import pytest

from annotation.benchmarks.chains import chains, shot_contents, unchained
from annotation.models import Example, ItemSet, Task
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def task() -> Task:
    return make.task(training=0)


def shot_set(task: Task, shots: int, split: int, names: str) -> ItemSet:
    """A shot set of one example for each letter."""
    examples = [
        Example.objects.filter(task=task, question=f"Question about {name}?").first()
        or make.example(task, name, role="training")
        for name in names
    ]
    return make.item_set(task, examples, name=f"train-{shots}-{split}", shots=shots, split=split)


def paths(task: Task) -> list[tuple[int, str]]:
    return [(chain.number, chain.path) for chain in chains(task)]


def test_follows_the_content_where_the_numbers_agree(task: Task) -> None:
    sets = [shot_set(task, 1, 1, "a"), shot_set(task, 2, 1, "ab"), shot_set(task, 3, 1, "abc")]
    (chain,) = chains(task)
    assert chain.number == 1
    assert chain.sets == dict(zip([1, 2, 3], sets, strict=True))
    assert unchained(shot_contents(task), chains(task)) == []


def test_follows_the_content_where_the_numbers_are_permuted(task: Task) -> None:
    shot_set(task, 1, 1, "a")
    shot_set(task, 1, 2, "x")
    shot_set(task, 2, 1, "xy")
    shot_set(task, 2, 2, "ab")
    assert paths(task) == [(1, "1→2"), (2, "2→1")]


def test_prefers_the_chains_own_number_where_two_sets_hold_it(task: Task) -> None:
    shot_set(task, 1, 1, "a")
    shot_set(task, 1, 2, "b")
    shot_set(task, 2, 1, "ab")
    shot_set(task, 2, 2, "ab")
    assert paths(task) == [(1, "1→1"), (2, "2→2")]


def test_puts_no_set_into_two_chains(task: Task) -> None:
    shot_set(task, 1, 1, "a")
    shot_set(task, 1, 2, "b")
    shot_set(task, 2, 7, "ab")
    assert paths(task) == [(1, "1→7"), (2, "2")]


def test_reports_sets_that_nest_nowhere(task: Task) -> None:
    shot_set(task, 1, 1, "a")
    odd = shot_set(task, 2, 1, "xy")
    shot_set(task, 3, 1, "abc")
    assert [list(chain.sets) for chain in chains(task)] == [[1, 3]]
    assert unchained(shot_contents(task), chains(task)) == [odd]


def test_needs_the_whole_of_the_largest_set_so_far(task: Task) -> None:
    shot_set(task, 1, 1, "a")
    shot_set(task, 2, 1, "ab")
    odd = shot_set(task, 3, 1, "acd")
    assert paths(task) == [(1, "1→1")]
    assert unchained(shot_contents(task), chains(task)) == [odd]


def test_finds_no_chain_in_a_task_without_shot_sets(task: Task) -> None:
    assert chains(task) == []
    assert unchained(shot_contents(task), chains(task)) == []


def test_asks_the_database_twice_however_many_sets_there_are(
    task: Task, django_assert_num_queries: Callable[[int], Any]
) -> None:
    for split in range(1, 6):
        shot_set(task, 1, split, "abcde"[split - 1])
        shot_set(task, 2, split, "abcde"[split - 1] + "z")
    with django_assert_num_queries(2):
        assert len(chains(task)) == 5

"""The page of a benchmark's systems: which runs there are of each, and what is not whole."""

import re
from copy import deepcopy

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.models import Task
from scoring.models import Run
from scoring.runs.systems import columns_of, systems_of
from tests import make
from tests.every import every
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def made() -> Task:
    task = make.task(tests=4, slug="reviews")
    for split in (2, 1):
        measured.run(task, system="BERT", shots=10, split=split, wrong=split)
    measured.run(task, system="BERT", shots="all", split=None, missing=1)
    measured.run(task, system="GPT", method="other", shots=0, split=None)
    measured.run(task, system="GPT", method="ICL", shots=10, split=1, repeat=3, complete=False)
    return task


task_once = once_a_module(made)


@pytest.fixture
def task(task_once: Task) -> Task:
    return deepcopy(task_once)


def address(task: Task) -> str:
    return reverse("scoring:systems", args=[task.benchmark.name])


def test_orders_runs_by_system_task_shots_and_split(task: Task) -> None:
    runs = list(Run.objects.of_benchmark(task.benchmark))
    columns = columns_of(runs)
    assert columns == ["0 shots", "10 shots", "all"]
    systems = systems_of(runs, columns)
    assert [(one.name, one.method, len(one.runs), one.partial_runs) for one in systems] == [
        ("BERT", "FT", 3, 1),
        ("GPT", "", 1, 0),
        ("GPT", "ICL", 1, 0),
    ]
    (line,) = systems[0].lines
    assert [[run.split for run in cell] for cell in line.cells] == [[], [1, 2], [None]]
    assert (line.task, line.share, line.owners) == (task, 75, ["–"])
    # Of one that is being uploaded nobody knows yet how whole it is.
    assert systems[2].lines[0].share is None


def test_marks_what_is_partial_or_not_there_yet(client: Client, task: Task) -> None:
    client.force_login(make.member(task.benchmark, "editor"))
    page = client.get(address(task)).content.decode()
    assert "1 partial, compared with nobody" in page
    assert len(re.findall(r"<span>partial</span>", page)) == 1
    assert len(re.findall(r"<span>uploading</span>", page)) == 1
    assert ">1.3 <" in page
    assert "75 %" in page


def test_takes_a_file_at_the_top(client: Client, task: Task) -> None:
    client.force_login(make.member(task.benchmark, "editor"))
    page = client.get(address(task)).content.decode()
    form = page.partition('class="panel r-drop"')[0].rpartition("<form")[2]
    assert reverse("scoring:add_system", args=["benchmark", task.benchmark.name]) in form
    assert 'type="file" name="file"' in page


def test_says_what_to_do_where_there_is_no_system(client: Client) -> None:
    empty = make.task()
    client.force_login(make.member(empty.benchmark, "editor"))
    assert "No system yet." in client.get(address(empty)).content.decode()


def test_asks_as_often_for_any_number_of_runs(
    client: Client, task: Task, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(make.member(task.benchmark, "editor"))
    client.get(address(task))
    with django_assert_max_num_queries(16):
        client.get(address(task))
    many = [measured.run(task, system=f"T{n}", shots=20, split=1, wrong=n) for n in range(4)]
    with django_assert_max_num_queries(16):
        page = client.get(address(task)).content.decode()
    assert every(run.system in page for run in many)


def test_counts_very_many_episodes(client: Client) -> None:
    task = make.task(tests=1, slug="many")
    examples = list(task.item_sets.get(name="test").examples.all())
    for episode in range(13):
        test = make.item_set(task, examples, name=f"e{episode}", role="test", episode=episode)
        measured.run(task, test_set=test, shots=0, split=None, episode=episode)
    client.force_login(make.member(task.benchmark, "editor"))
    page = client.get(address(task)).content.decode()
    assert ">Episodes<" in page
    assert ">13 runs</a>" in page

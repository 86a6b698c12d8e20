from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.benchmarks.correcting import correct_gold, delete_benchmark, uses_of
from annotation.models import Benchmark, Example, Gold, Item, ItemSet, Task
from annotation.models.errors import Refusal
from scoring.models import Comparison, Leaderboard, Part
from tests import make
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db

CONTENT = (Benchmark, Task, ItemSet, Item, Example, Gold)


@pytest.fixture
def benchmark() -> Benchmark:
    return make.task().benchmark


def counts() -> list[int]:
    return [model._default_manager.count() for model in CONTENT]


@pytest.mark.both_databases
def test_deletes_a_benchmark_with_all_that_it_holds(benchmark: Benchmark) -> None:
    make.member(benchmark)
    task = benchmark.tasks.get()
    both: Any = {"id:test 0": [[label] for label in make.LABELS]}
    correct_gold(task, both, author=None, reason="Both hold.")
    delete_benchmark(benchmark)
    assert counts() == [0] * len(CONTENT)


def test_leaves_other_benchmarks_alone(benchmark: Benchmark) -> None:
    before = counts()
    delete_benchmark(make.task().benchmark)
    assert counts() == before


def test_takes_along_what_was_only_computed_from_it(benchmark: Benchmark) -> None:
    Leaderboard.objects.create(benchmark=benchmark)
    about: dict[str, Any] = {"parameters": {}, "seed": 1, "scorer_version": 1}
    Comparison.objects.create(benchmark=benchmark, part=Part.TABLE, **about)
    delete_benchmark(benchmark)
    assert not Comparison.objects.exists()


def test_keeps_a_benchmark_that_a_study_uses(benchmark: Benchmark) -> None:
    make.study(benchmark)
    before = counts()
    assert uses_of(benchmark) == ["studies"]
    with pytest.raises(Refusal, match="since there are: studies"):
        delete_benchmark(benchmark)
    assert counts() == before


def test_keeps_a_benchmark_that_a_run_or_a_figure_uses(benchmark: Benchmark) -> None:
    task = benchmark.tasks.get()
    measured.reported(benchmark, task.slug)
    assert uses_of(benchmark) == ["published figures"]
    measured.run(task)
    assert "runs" in uses_of(benchmark)


def test_keeps_a_benchmark_whose_items_people_judged() -> None:
    batch = make.running_batch()
    make.worked_through(batch)
    assert {"studies", "batches", "judgements"} <= set(uses_of(batch.study.benchmark))


def test_asks_before_it_deletes(admin_client: Client, benchmark: Benchmark) -> None:
    address = reverse("admin:annotation_benchmark_delete", args=[benchmark.pk])
    page = admin_client.get(address).content.decode()
    assert benchmark.tasks.get().slug in page
    assert Benchmark.objects.exists()
    admin_client.post(address)
    assert not Benchmark.objects.exists()


def test_says_what_holds_it(admin_client: Client, benchmark: Benchmark) -> None:
    make.study(benchmark)
    address = reverse("admin:annotation_benchmark_delete", args=[benchmark.pk])
    for response in (
        admin_client.get(address, follow=True),
        admin_client.post(address, follow=True),
    ):
        assert "since there are: studies" in response.content.decode()
    assert Benchmark.objects.exists()

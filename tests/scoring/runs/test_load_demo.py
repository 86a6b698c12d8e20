"""The demonstration: filled by simulated annotators and a small real system."""

import pytest
from django.core.management import call_command

from annotation.benchmarks.importing import import_benchmark
from annotation.models import Assignment, Batch, Benchmark, Place, Study
from annotation.simulation.demonstration import BENCHMARK
from scoring.models import Prediction, Run
from scoring.runs.demonstration import load_demonstration_runs
from scoring.runs.word_overlap import NAME

pytestmark = pytest.mark.django_db


def test_loads_a_running_study_once(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("load_demo")
    printed = capsys.readouterr().out
    study = Study.objects.get(slug="demonstration")
    assert study.is_open
    assert Batch.objects.filter(study=study).count() == 24
    assert Assignment.objects.simulated().completed().count() == 72
    assert not Assignment.objects.of_people().exists()
    assert Place.objects.filter(simulated=False, holder__isnull=True).count() == 72
    assert f"/join/{study.join_token}/" in printed
    call_command("load_demo")
    assert capsys.readouterr().out == printed
    assert Assignment.objects.count() == 72


def test_runs_a_real_system_on_every_shot_set() -> None:
    import_benchmark(BENCHMARK, name="demo")
    benchmark = Benchmark.objects.get(name="demo")
    assert load_demonstration_runs(benchmark) == 6 * 3 * 5
    assert Run.objects.complete().filter(system=NAME).count() == 6 * 3 * 5
    test_set = benchmark.tasks.get(slug="reviews").item_sets.get(name="test")
    assert Prediction.objects.filter(run__test_set=test_set).count() == 15 * 24
    assert load_demonstration_runs(benchmark) == 0

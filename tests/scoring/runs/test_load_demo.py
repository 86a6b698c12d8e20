"""The demonstration's runs: of a rule, and of real models."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from django.test import Client

from annotation.benchmarks.importing import import_benchmark
from annotation.models import Benchmark
from annotation.simulation.demonstration import BENCHMARK, RUNS
from annotation.studies.cutting import cut_test_set
from scoring.models import Prediction, ReportedScore, Run
from scoring.runs import demonstration
from scoring.runs.demonstration import CLUES, load_demonstration_runs, load_published
from tests.every import every
from tests.made_once import once_a_module
from tests.scoring.runs.runs_from import answers
from tests.scoring.runs.word_overlap import WordOverlap

NAME = "Word overlap"
RULED, *MODELS = RUNS
pytestmark = pytest.mark.django_db


def imported(name: str) -> Benchmark:
    import_benchmark(BENCHMARK, name=name)
    return Benchmark.objects.get(name=name)


def with_runs() -> Benchmark:
    made = imported("demo")
    load_demonstration_runs(made)
    return made


benchmark = once_a_module(with_runs)


def test_runs_a_rule_on_every_shot_set(benchmark: Benchmark) -> None:
    assert Run.objects.complete().filter(system=NAME).count() == 6 * 3 * 5
    test_set = benchmark.tasks.get(slug="reviews").item_sets.get(name="test")
    predictions = Prediction.objects.filter(run__system=NAME, run__test_set=test_set)
    assert predictions.count() == 15 * 24
    assert load_demonstration_runs(benchmark) == 0


def test_stores_what_the_rule_answers(benchmark: Benchmark) -> None:
    _, *lines = map(json.loads, RULED.read_text(encoding="utf-8").splitlines())
    for line in lines:
        task = benchmark.tasks.get(slug=line["task"])
        shot_set = task.item_sets.get(role="training", shots=line["shots"], split=line["split"])
        rule = WordOverlap(task, shot_set)
        items = task.item_sets.get(name="test").items.select_related("example")
        assert line["answers"] == {item.source_id: rule.predict(item.example) for item in items}


def test_runs_on_whole_test_sets_where_a_study_asks_for_a_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(demonstration, "RUNS", (RULED,))
    benchmark = imported("cut")
    for task in benchmark.tasks.all():
        cut_test_set(task.item_sets.get(name="test"), 3)
    assert load_demonstration_runs(benchmark) == 6 * 3 * 5
    runs = Run.objects.filter(task__benchmark=benchmark)
    assert set(runs.values_list("test_set__name", flat=True)) == {"test"}


@pytest.mark.parametrize("path", MODELS, ids=[path.stem for path in MODELS])
def test_stores_what_a_model_answered(path: Path, benchmark: Benchmark) -> None:
    """All splits of each number of shots, whole, and with how it was made."""
    common, *lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    runs = Run.objects.complete().filter(system=common["system"])
    places = Counter((run.task.slug, run.shots, run.split) for run in runs)
    assert places == Counter((line["task"], line["shots"], line["split"]) for line in lines)
    cells = Counter((task, shots) for task, shots, _ in places)
    assert every(count == (5 if shots else 1) for (_, shots), count in cells.items())
    assert {(run.method, run.parameters, run.coverage) for run in runs} == {
        (common["method"], common["parameters"], 1)
    }
    line = lines[0]
    run = runs.get(task__slug=line["task"], shots=line["shots"], split=line["split"])
    given = {key: set(pieces) for key, pieces in answers(run).items()}
    assert given == {key: set(pieces) for key, pieces in line["answers"].items()}
    report = run.report
    assert re.search(r"answered on 20\d\d-\d\d-\d\d, .*SHA-256 [0-9a-f]{64}", report["notes"][0])
    if common["method"] == "FT":
        assert report["tuning"]["settings"]["learning_rate"] > 0
        assert report["tuned"]["steps"] > 0
    else:
        assert report["asked"]["input_tokens"] > 0
    assert len(report["prompts"]["shown"]) >= line["shots"]


def test_shows_clues_as_it_was_published(oracles: Path, admin_client: Client) -> None:
    assert CLUES.read_bytes() == (oracles / "clues_results.json").read_bytes()
    load_published()
    assert ReportedScore.objects.filter(benchmark__name="clues").count() == 182
    page = admin_client.get("/benchmarks/clues/comparison/").content.decode()
    assert "Human, CLUES Table 5" in page
    assert "83.7" in page


def test_leaves_a_benchmark_of_that_name_alone() -> None:
    Benchmark.objects.create(name="clues")
    load_published()
    assert not ReportedScore.objects.exists()

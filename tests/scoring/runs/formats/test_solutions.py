"""What GSM8K's authors released of their models."""

import json
from pathlib import Path

import pytest

from annotation.benchmarks.importing import import_benchmark
from annotation.models import Benchmark
from scoring.cells.vectors import run_scores, scored_items
from scoring.models import Run
from scoring.runs.formats.detecting import find_sources
from scoring.runs.formats.records import ReadOptions, RunFields
from scoring.runs.importing import import_predictions
from tests.skips import SHARED, WITHOUT_FILES

GSM8K = SHARED / "todays" / "gsm8k"
OPTIONS = ReadOptions(run=RunFields(method="FT", shots="all"))


def imported(test: Path, solutions: Path) -> dict[str, list[float]]:
    """By system, S1 of every item."""
    import_benchmark(test, name="gsm8k")
    ((reader, path),) = find_sources(solutions)[0]
    benchmark = Benchmark.objects.get()
    import_predictions(reader=reader, path=path, benchmark=benchmark, options=OPTIONS)
    return {run.system: scores_of(run) for run in Run.objects.all()}


def scores_of(run: Run) -> list[float]:
    items = scored_items(run.task, [run.test_set], 1)[run.test_set_id]
    scores: list[float] = run_scores({run.pk: items}, "any")[run.pk].tolist()
    return scores


def test_is_a_run_for_every_system(tmp_path: Path, db: None) -> None:
    rows = [{"question": f"{n}?", "answer": f"Thus.\n#### {n},000"} for n in range(1, 4)]
    (tmp_path / "sums_test.jsonl").write_text("\n".join(map(json.dumps, rows)))
    solved = [
        {"question": f"{n}?", "a": {"solution": f"So {n}.\nA: {n}000"}, "b": {"solution": "7"}}
        for n in (3, 1, 2)
    ]
    (tmp_path / "solved.jsonl").write_text("\n".join(map(json.dumps, solved)))
    found = imported(tmp_path / "sums_test.jsonl", tmp_path / "solved.jsonl")
    assert found == {"a": [1, 1, 1], "b": [0, 0, 0]}


@pytest.mark.django_db
@pytest.mark.skipif(not GSM8K.is_dir(), reason=WITHOUT_FILES)
def test_judges_every_answer_as_the_authors_did() -> None:
    solutions = GSM8K / "example_model_solutions.jsonl"
    found = imported(GSM8K / "test.jsonl", solutions)
    rows = [json.loads(line) for line in solutions.read_text().splitlines()]
    assert {name: round(100 * sum(scores) / 300, 2) for name, scores in found.items()} == {
        "6b_finetuning": 23.67,
        "6b_verification": 39.33,
        "175b_finetuning": 37.67,
        "175b_verification": 56.67,
    }
    for name, scores in found.items():
        assert scores == [float(row[name]["is_correct"]) for row in rows]

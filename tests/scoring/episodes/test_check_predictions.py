import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.benchmarks.importing import import_episodes
from annotation.models import Benchmark
from scoring.models import Run
from tests.annotation.benchmarks.flex_files import small

pytestmark = pytest.mark.django_db

Predictions = dict[str, Any]


@pytest.fixture
def flex(tmp_path: Path) -> Predictions:
    """The benchmark, and right predictions for it."""
    import_episodes(small().save(tmp_path), name="flex")
    return {row["question_id"]: {"label": row["label"]} for row in small().answers}


def written(folder: Path, predictions: Predictions, name: str = "predictions.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(predictions))
    return path


def check(*paths: Path, **options: Any) -> str:
    out = StringIO()
    call_command("check_predictions", *paths, stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


def test_accepts_whole_predictions(flex: Predictions, tmp_path: Path) -> None:
    assert check(written(tmp_path, flex)) == "4 of 4 questions are answered\n"


def test_lists_the_first_faults_of_each_kind(flex: Predictions, tmp_path: Path) -> None:
    first, second, third, fourth = flex
    faulty = {
        first: {"label": "2"},
        second: "1",
        third: {"label": "2"},
        "elsewhere": {"label": "0"},
    }
    with pytest.raises(CommandError) as refused:
        check(written(tmp_path, faulty))
    lines = str(refused.value).splitlines()
    assert lines[0] == "These predictions have 6 faults:"
    assert "  1 × the label is not a class of the episode, which has 2" in lines
    shown = lines[lines.index("The first of them:") + 1 :]
    assert shown == [
        f"  predictions.json, question {first}, label '2': the label is not a class of the "
        "episode, "
        "which has 2",
        f"  predictions.json, question {second}: the prediction is not an object with a label",
        "  predictions.json, question elsewhere: no episode asks this question",
        f"  question {first}: the question is not answered",
        f"  question {second}: the question is not answered",
        f"  question {fourth}: the question is not answered",
    ]


def test_finds_a_question_that_one_file_answers_twice(flex: Predictions, tmp_path: Path) -> None:
    text = json.dumps(flex)
    again = f', "{next(iter(flex))}": {{"label": "1"}}}}'
    path = tmp_path / "predictions.json"
    path.write_text(text[:-1] + again)
    with pytest.raises(CommandError, match="1 × the question is answered again"):
        check(path)


def test_merges_partial_files(flex: Predictions, tmp_path: Path) -> None:
    first, *rest = flex
    parts = [
        written(tmp_path, {first: flex[first], rest[0]: {"label": ""}}, "a.json"),
        written(tmp_path, {question: flex[question] for question in rest}, "b.json"),
    ]
    merged = tmp_path / "all.json"
    check(*parts, merge=merged)
    assert json.loads(merged.read_text()) == flex
    call_command(
        "import_runs", merged, system="UniFew", method="PT", stdout=StringIO(), stderr=StringIO()
    )
    assert Run.objects.complete().count() == 3


def test_writes_over_no_file(flex: Predictions, tmp_path: Path) -> None:
    path = written(tmp_path, flex)
    with pytest.raises(CommandError, match="File exists"):
        check(path, merge=path)
    assert json.loads(path.read_text()) == flex


def test_merges_nothing_that_is_faulty(flex: Predictions, tmp_path: Path) -> None:
    merged = tmp_path / "all.json"
    flex.popitem()
    with pytest.raises(CommandError, match="not answered"):
        check(written(tmp_path, flex), merge=merged)
    assert not merged.exists()
    check(written(tmp_path, flex), merge=merged, partial=True)
    assert json.loads(merged.read_text()) == flex


def test_checks_some_tasks_alone(flex: Predictions, tmp_path: Path) -> None:
    subj = [row["question_id"] for row in small().answers if row["dataset"] == "subj"]
    path = written(tmp_path, {question: flex[question] for question in subj})
    assert check(path, task=["subj"]) == "3 of 3 questions are answered\n"


@pytest.mark.parametrize("text", ["", "[]", '{"a": {"label"', "\xff"])
def test_refuses_what_is_no_json_object(flex: Predictions, tmp_path: Path, text: str) -> None:
    path = tmp_path / "predictions.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(CommandError, match=r"predictions.json is not a whole JSON document"):
        check(path)


def test_needs_a_benchmark_with_episodes(tmp_path: Path) -> None:
    Benchmark.objects.create(name="empty")
    with pytest.raises(CommandError, match="has no episodes here"):
        check(written(tmp_path, {}))

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models.errors import BadInput
from scoring.models import Run
from tests.scoring.runs.runs_from import WHO, answers, imported, toy_benchmark

pytestmark = pytest.mark.django_db

IDS = [f"test {n}" for n in range(4)]
# The other way round than the project has them: only the file's own order counts.
LABELS = ("good", "bad")


def file_of(folder: Path, predictions: list[Any], uids: list[Any] = IDS) -> Path:
    path = folder / "sst_fewshot_test_scores_2.json"
    content = {"metrics": {}, "predictions": predictions, "uids": uids, "scores": [0.5] * 8}
    path.write_text(json.dumps(content))
    return path


def test_reads_label_numbers_by_the_labels_that_are_given(tmp_path: Path) -> None:
    report = imported(
        file_of(tmp_path, [0, 1, 0, 2]),
        toy_benchmark(),
        run={**WHO, "task": "mood"},
        labels=LABELS,
    )
    assert report.format == "MT-DNN"
    assert answers(Run.objects.get()) == {
        "test 0": ["good"],
        "test 1": ["bad"],
        "test 2": ["good"],
        "test 3": ["label 2"],
    }


def test_does_not_guess_what_a_number_means(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="with --labels"):
        imported(file_of(tmp_path, [0, 1, 0, 1]), toy_benchmark(), run={**WHO, "task": "mood"})
    assert not Run.objects.exists()


def test_reads_texts_and_refuses_tags(tmp_path: Path) -> None:
    path = file_of(tmp_path, ["Belgrade", "", ["a", "b"], [0, 1, 1]])
    report = imported(path, toy_benchmark(), run={**WHO, "task": "names"})
    assert answers(Run.objects.get()) == {
        "test 0": ["Belgrade"],
        "test 1": [],
        "test 2": ["a", "b"],
    }
    assert "list of tags" in "".join(report.total.reasons_in_words())


def test_refuses_ids_and_predictions_that_are_not_as_many(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has 4 uids, but 3 predictions"):
        imported(file_of(tmp_path, ["a", "b", "c"]), toy_benchmark(), run=WHO)


def test_takes_the_labels_from_the_command(tmp_path: Path) -> None:
    toy_benchmark()
    call_command(
        "import_runs",
        file_of(tmp_path, [0, 0, 0, 1]),
        *["--task", "mood", "--system", "BERT-Base", "--method", "FT"],
        *["--shots", "3", "--split", "1", "--labels", "good", "bad"],
    )
    assert answers(Run.objects.get())["test 3"] == ["bad"]


@pytest.mark.parametrize("name", ["logits.npy", "logits"])
def test_says_why_logits_alone_cannot_be_read(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"\x93NUMPY\x01\x00v\x00{'descr': '<f4'}")
    for path in (tmp_path, tmp_path / name):
        with pytest.raises(CommandError, match="neither the examples nor the labels are in it"):
            call_command("import_runs", path)

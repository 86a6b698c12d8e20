import json
from pathlib import Path

import pytest

from annotation.models.errors import BadInput
from tests.scoring.runs.runs_from import WHO, answers, imported, toy_benchmark

pytestmark = pytest.mark.django_db

NAMES = {**WHO, "task": "names"}
GIVEN = [["Anna"], [], ["Anna", "Boris"], ["Boris"]]
IN_ORDER = {f"test {number}": answer for number, answer in enumerate(GIVEN)}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GIVEN),
        json.dumps(GIVEN, indent=2),
        "\n".join(map(json.dumps, GIVEN)),
        "\n".join(map(json.dumps, GIVEN)) + "\n\n",
    ],
    ids=["document", "indented", "lines", "blank end"],
)
def test_takes_lists_in_the_order_of_the_test_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    path.write_text(text)
    [run] = imported(path, toy_benchmark(), run=NAMES).runs
    assert answers(run.run) == IN_ORDER
    assert run.run.source_format == "CLUES lists"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (GIVEN[:3], "has 3 answers without ids, but the test set of names has 4 items"),
        ([*GIVEN, []], "has 5 answers without ids"),
        ([*GIVEN[:3], "Anna"], "answer 4 must be a list of strings"),
        ([*GIVEN[:3], [1]], "answer 4 must be a list of strings"),
    ],
)
def test_refuses_a_file_whose_order_says_nothing(
    given: list[object], sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps(given))
    with pytest.raises(BadInput, match=sentence):
        imported(path, toy_benchmark(), run=NAMES)

"""Published sets by a row of each, as its files hold it: recognised, and read whole."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from annotation.benchmarks.formats.content import ReadTask
from annotation.benchmarks.formats.known_sets import SETS
from annotation.models.errors import BadInput
from tests.annotation.benchmarks.test_published_files import gold_of
from tests.annotation.benchmarks.test_tables import lines, read_text

FILE = Path(__file__).with_name("known_sets.jsonl")
CASES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def named(case: dict[str, Any]) -> str:
    return str(case["set"])


def read_case(case: dict[str, Any], **more: Any) -> ReadTask:
    return read_text(case["file"], lines([{**case["row"], **more}]))


@pytest.mark.parametrize("case", CASES, ids=named)
def test_is_recognised_and_read_whole(case: dict[str, Any]) -> None:
    task = read_case(case)
    row = task.sets[-1].examples[0]
    assert task.notes["recognised"] == [case["set"]]
    assert (list(row.context), row.question) == (case["context"], case["question"])
    assert gold_of(task) == [case["gold"]]
    assert task.kind == case["kind"]
    # Where the right one comes first in the file, they are in another order on the page.
    wanted = case["options"] or []
    assert sorted(row.options) == sorted(wanted)
    assert "unused_columns" not in task.notes


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_text_that_the_set_does_not_have_is_asked_about(case: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=r"“House rules” holds text in most rows and is not used"):
        read_case(case, **{"House rules": "Answer as a lawyer would."})


def test_each_known_set_has_a_row_here() -> None:
    assert {one.name for one in SETS} == {case["set"] for case in CASES}


def test_the_documentation_names_them_all() -> None:
    text = " ".join((settings.BASE_DIR / "docs/reference/formats.md").read_text().split())
    assert f"Known sets: {', '.join(one.name for one in SETS)}." in text


def test_the_right_one_does_not_stand_first_everywhere() -> None:
    rows = [
        {"question": f"{n}?", "correct_answer": f"a{n}", "incorrect_answers": [f"b{n}", f"c{n}"]}
        for n in range(30)
    ]
    task = read_text("t.jsonl", lines(rows))
    places = [int(row.gold_texts[0][0]) for row in task.sets[-1].examples]
    assert gold_of(task) == [f"a{n}" for n in range(30)]
    assert min(places.count(place) for place in range(3)) >= 4
    again = read_text("t.jsonl", lines(rows))
    assert [row.options for row in again.sets[-1].examples] == [
        row.options for row in task.sets[-1].examples
    ]

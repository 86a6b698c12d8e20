import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def planned(**options: Any) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("plan_study", stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def test_prints_the_frontier_the_recommendation_and_three_annotators() -> None:
    out, err = planned(budget=30.0, max_items=210, train_s=12.0, item_s=8.0)
    lines = out.splitlines()
    assert [line.split() for line in lines if line.startswith(("recommended", "three"))] == [
        ["recommended", "9", "42", "29.88", "18.8", "0.959", "21.6"],
        ["three", "annotators", "3", "210", "23.40", "36.7", "0.929", "54.0"],
    ]
    assert sum(line.startswith("   ") for line in lines) == 8
    assert "Assumed, so check them: --rate" in err
    assert "--items" not in err


def test_prints_one_json_document_in_percent() -> None:
    out, _ = planned(width=18.0, max_items=400, difference=12.0, format="json")
    document = json.loads(out)
    best = document["recommended"]
    assert best["width"] <= 18
    assert 0 < best["power"] < 1
    chances = {key: best[key] for key in ("probable", "sure")}
    assert best in [{**row, **chances} for row in document["frontier"]]
    assert document["contrast"]["difference"] == 0.12
    assert document["strong_enough"]["probable"] >= 0.8


def test_takes_from_a_pilot_what_is_not_given() -> None:
    batch = measured.cell([3, 4, 5, 6, 3])
    out, err = planned(
        budget=500.0, study=batch.study.slug, shots=30, format="json", no_simulation=True
    )
    assumptions = json.loads(out)["assumptions"]
    assert (assumptions["shots"], assumptions["max_items"], assumptions["rate"]) == (30, 6, 12.0)
    assert f"From 5 annotators of the study {batch.study}" in err
    assert "Assumed, so check them: --fee." in err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"budget": 30.0, "study": "nowhere"}, "There is no study"),
        ({"budget": 30.0, "item_s": -1.0}, "item_s is -1.0"),
        ({"budget": 30.0, "margin": 2.0}, "difference in points"),
        ({"budget": 30.0, "difference": 5.0, "run_sd": 70.0}, "SD over runs is 0.7"),
        ({"budget": 30.0, "max_items": 10**6}, "at most 10000 items"),
    ],
)
def test_says_in_one_sentence_what_is_wrong(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        planned(**options)

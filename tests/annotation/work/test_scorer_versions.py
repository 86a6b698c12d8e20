"""A study that has started goes on under the scorer that it started under: what its annotators are
shown and who is let in. Figures take the newest, and name it."""

import json
from collections.abc import Iterator

import pytest

from annotation.models import Assignment, Outcome, Study
from annotation.models.frozen import batch_content
from annotation.studies.exported_judgements import export_judgements
from scoring.core.normalisation import as_of, normalised
from scoring.core.s1 import SCORER_VERSION
from tests import make


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    batch_content.cache_clear()
    yield
    batch_content.cache_clear()


@pytest.mark.parametrize(
    ("text", "normalisation", "first", "now"),
    [
        # Letters as they came; fewer numbers read, and some of them as others.
        ("E\u0301ric", "none", "E\u0301ric", "\xc9ric"),
        ("E\u0301ric!", "squad", "e\u0301ric", "\xe9ric"),
        ("2\xbd", "number", "2", "2.5"),
        ("3 million", "number", "3", "3 million"),
        ("3 million", "number\xb11%", "3", "3 million"),
        ("1,130.0", "number", "1130", "1130"),
    ],
)
def test_each_version_compares_by_its_own_rules(
    text: str, normalisation: str, first: str, now: str
) -> None:
    assert normalised([text], as_of(normalisation, 1)) == [first]
    assert normalised([text], as_of(normalisation, SCORER_VERSION)) == [now]


def test_a_tolerance_is_read_by_its_own_rules_too() -> None:
    golds = [["3"]]
    assert normalised(["3.01 million"], as_of("number\xb11%", 1), golds) == ["3"]
    assert normalised(["3.01 million"], as_of("number\xb11%", 2), golds) == ["3.01 million"]


def practised(version: int) -> Assignment:
    """Somebody who answered with signs of full width, which only version 2 reads."""
    batch = make.running_batch(kind="number", min_training_score=100)
    study = Study.objects.get(pk=batch.study_id)
    assert study.frozen["scorer_version"] == SCORER_VERSION
    study.frozen["scorer_version"] = version
    with make.unlocked():
        Study.objects.filter(pk=study.pk).update(frozen=study.frozen)
    assignment = make.at_work(batch)
    while not assignment.is_finished:
        (gold,) = make.gold_of(assignment)
        make.answer(assignment, {"number": f"\uff0b{gold}"})
    return assignment


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("version", "score", "outcome"), [(1, 0, Outcome.SCREENED_OUT), (2, 100, Outcome.COMPLETED)]
)
def test_decides_by_the_version_that_the_study_started_under(
    version: int, score: float, outcome: str
) -> None:
    assignment = practised(version)
    assert (assignment.training_score, assignment.outcome) == (score, outcome)
    rows = [json.loads(line) for line in export_judgements(assignment.study, "jsonl")]
    assert {(row["scorer_version"], row["s1_any"]) for row in rows} == {(SCORER_VERSION, 1)}

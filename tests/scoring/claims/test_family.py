"""Which systems a study compares itself with, by which runs."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from annotation.models import Study, Task
from annotation.studies.lifecycle import close_study, start_study
from scoring.models import Run
from scoring.models.claims import family_of, named_matches, runs_for_claims
from tests import make
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db

CLOSING = make.NOON + timedelta(hours=1)
LATER = CLOSING + timedelta(hours=1)


def started(named: list[str]) -> tuple[Study, list[Task]]:
    """A study on two tasks."""
    benchmark = make.benchmark()
    study = make.study(benchmark, named_systems=named)
    tasks = [make.task(benchmark) for _ in range(2)]
    for task in tasks:
        make.batch(study, task)
    start_study(study, at=make.NOON)
    return study, tasks


def runs_on(tasks: list[Task], system: str, at: datetime, **fields: Any) -> list[Run]:
    return [measured.run(task, system=system, at=at, **fields) for task in tasks]


def names(study: Study) -> list[str]:
    return [system for system, _method, _parameters in family_of(study)]


def test_takes_all_that_have_every_task_where_none_was_named() -> None:
    study, tasks = started([])
    runs = [*runs_on(tasks, "T5", CLOSING), *runs_on(tasks[:1], "BERT", make.NOON)]
    measured.run(tasks[1], system="BERT", missing=1, at=make.NOON)
    measured.run(make.task(study.benchmark), system="T5", at=make.NOON)
    late = runs_on(tasks, "GPT", LATER)
    assert names(study) == ["GPT", "T5"]
    assert set(runs_for_claims(study)) == {*runs, *late}
    close_study(study, at=CLOSING)
    assert names(study) == ["T5"]
    assert set(runs_for_claims(study)) == set(runs)


def test_takes_those_that_were_named_whenever_they_came() -> None:
    study, tasks = started(["gpt icl", "BERT", "Never there"])
    early = runs_on(tasks, "T5", make.NOON)
    late = [
        *runs_on(tasks[:1], "BERT", LATER, parameters="110M"),
        *runs_on(tasks, "GPT", LATER, method="ICL"),
    ]
    runs_on(tasks, "GPT", LATER, method="FT")
    close_study(study, at=CLOSING)
    assert set(runs_for_claims(study)) == {*early, *late}
    assert family_of(study) == [("BERT", "FT", "110M"), ("GPT", "ICL", "")]


@pytest.mark.parametrize(
    ("name", "system", "method", "matches"),
    [
        ("BERT", "BERT", "FT", True),
        ("bert ft", "BERT", "FT", True),
        ("BERT FT", "BERT", "PT", False),
        ("BERT", "BERT-Base", "FT", False),
        ("Word overlap", "Word  overlap", "other", True),
        ("BERT other", "BERT", "other", False),
    ],
)
def test_finds_a_system_by_its_name(name: str, system: str, method: str, matches: bool) -> None:
    assert named_matches(Study(named_systems=[name]), system, method) is matches


def test_names_nothing_where_no_name_was_given() -> None:
    assert not named_matches(Study(), "BERT", "FT")

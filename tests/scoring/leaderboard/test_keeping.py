from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone, translation

from annotation.models import Task
from annotation.studies.lifecycle import close_study
from scoring.leaderboard.approving import decide_runs
from scoring.leaderboard.board import Board, place_all
from scoring.models import Comparison, Part, Run
from tests import make
from tests.every import every
from tests.scoring.comparison import measured
from tests.scoring.leaderboard.board import published, system

pytestmark = pytest.mark.django_db


@pytest.fixture
def task() -> Task:
    made = make.task(make.benchmark("mine"), tests=4, slug="one")
    system(made, citation="Somebody 2021")
    published(made.benchmark, "one", {10: 60.0, 20: 70.0, 30: 80.0})
    return made


def placed(task: Task, **chosen: Any) -> Board:
    return place_all(task.benchmark, sees_gold=True, **chosen)


def fingerprints() -> list[str]:
    kept = Comparison.objects.filter(part=Part.BOARD).order_by("pk")
    return list(kept.values_list("fingerprint", flat=True))


def test_shows_what_was_kept_as_it_was(task: Task) -> None:
    first = placed(task)
    assert len(fingerprints()) == 1
    assert placed(task) == first


def test_gathers_nothing_again_while_nothing_changes(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed(task)
    monkeypatch.setattr("scoring.leaderboard.board.gather_entries", lambda *parts: 1 / 0)
    assert [entry.name for entry in placed(task).entries]


def test_keeps_one_for_each_policy(task: Task) -> None:
    placed(task)
    placed(task, references="set")
    with translation.override("de"):
        placed(task)
    assert len(fingerprints()) == 2


def test_follows_a_decision_and_new_runs(task: Task) -> None:
    owner = User.objects.create_user("submitter")
    system(task, "Waiting", owner=owner)
    assert "Waiting" not in {entry.name for entry in placed(task).entries}
    decide_runs(Run.objects.filter(owner=owner), stands=True, author=owner, at=timezone.now())
    assert "Waiting" in {entry.name for entry in placed(task).entries}


def test_shows_running_people_to_researchers_alone() -> None:
    batch = measured.cell([3, 4, 5], training=10)
    benchmark = batch.task.benchmark

    def people(*, for_researchers: bool) -> list[bool]:
        board = place_all(benchmark, for_researchers=for_researchers, sees_gold=True)
        return [entry.is_running for entry in board.entries if entry.kind == "people"]

    assert people(for_researchers=True) == [True]
    assert people(for_researchers=False) == []
    close_study(batch.study, at=make.NOON)
    assert people(for_researchers=False) == [False]


def test_withholds_from_what_is_kept_for_all(task: Task) -> None:
    whole = placed(task)
    withheld = place_all(task.benchmark)
    assert len(fingerprints()) == 1
    rows = [row for entry in withheld.entries for row in entry.rows if row.kind == "run"]
    assert rows
    assert every(row.ci_low is None for row in rows)
    assert any(row.ci_low is not None for entry in whole.entries for row in entry.rows)

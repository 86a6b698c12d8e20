"""An import of runs is written bit by bit, and seen whole or not at all."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotation.jobs import pacing
from annotation.models import Benchmark
from scoring.models import Prediction, Run, RunState
from scoring.runs import storing
from scoring.runs.storing import remove_abandoned
from tests.scoring.runs.runs_from import WHO, imported, toy_benchmark, written

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def benchmark() -> Benchmark:
    return toy_benchmark()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two runs, whose answers differ."""
    return written(
        tmp_path / "runs.jsonl",
        [
            {**WHO, "task": "names", "split": split, "id": f"test {n}", "prediction": [f"A{split}"]}
            for split in (1, 2)
            for n in range(4)
        ],
    )


def leave_behind(path: Path, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process leaves that is killed when all is written and nothing is published."""

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(storing, "publish", die)
        patch.setattr(storing, "remove", lambda runs: None)
        with pytest.raises(KeyboardInterrupt):
            imported(path, benchmark)
    assert Run.every.filter(state=RunState.STAGED).count() == 2
    assert Prediction.objects.count() == 8


def test_writes_in_short_transactions(
    path: Path, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    paced = pacing.write

    def counted(act: Callable[[], Any]) -> Any:
        assert not connection.in_atomic_block
        sizes.append(Prediction.objects.count())
        return paced(act)

    monkeypatch.setattr(storing, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr(storing, "write", counted)
    imported(path, benchmark)
    assert {0, 2, 4, 6, 8} <= set(sizes)


def test_shows_nobody_a_run_before_all_are_there(
    path: Path, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_behind(path, benchmark, monkeypatch)
    assert not Run.objects.exists()
    assert not benchmark.tasks.get(slug="names").runs.exists()
    client = Client()
    client.force_login(User.objects.create_superuser("ada"))
    assert client.get("/api/runs/").json()["count"] == 0
    pk = Run.every.latest("pk").pk
    assert client.get(f"/api/runs/{pk}/").status_code == 404
    assert b"0 runs" in client.get("/admin/scoring/run/").content


def test_is_imported_whole_after_it_was_interrupted(
    path: Path, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_behind(path, benchmark, monkeypatch)
    assert [run.is_new for run in imported(path, benchmark).runs] == [True, True]
    assert Run.objects.complete().count() == 2


def test_removes_later_what_was_left_behind(
    path: Path, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(path, benchmark)
    Run.objects.all().delete()
    leave_behind(path, benchmark, monkeypatch)
    remove_abandoned(at=timezone.now() + timedelta(hours=5))
    assert Run.every.count() == 2, "that import may still be going on"
    remove_abandoned(at=timezone.now() + timedelta(hours=7))
    assert not Run.every.exists()
    assert not Prediction.objects.exists()


def test_finds_what_somebody_else_has_stored_meanwhile(
    path: Path, benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = storing.publish

    def second(runs: Any) -> None:
        monkeypatch.setattr(storing, "publish", publish)
        imported(path, benchmark)
        publish(runs)

    monkeypatch.setattr(storing, "publish", second)
    report = imported(path, benchmark)
    assert [run.is_new for run in report.runs] == [False, False]
    assert Run.every.count() == 2
    assert {run.run.pk for run in report.runs} == set(Run.objects.values_list("pk", flat=True))

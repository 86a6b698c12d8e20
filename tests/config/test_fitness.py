"""A process whose clock or version is not the database's takes no work."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError
from django.db import OperationalError, connection, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from annotation.jobs import queue
from annotation.models import Judgement, Place, clock
from annotation.models.resting import Rest
from annotation.tasks import run_job
from config import celery, health, migrations, serve
from config.health import fitness
from tests import make
from tests.annotation.models.test_clock import APART
from tests.annotation.work.test_entering import WORK

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def look_again() -> None:
    fitness._rest = Rest()


# SQLite has no clock but this machine's.
if connection.vendor == "postgresql":

    @pytest.mark.parametrize("by", APART, ids=str)
    def test_serves_nobody_at_a_machine_whose_clock_is_wrong(
        client: Client, monkeypatch: pytest.MonkeyPatch, by: timedelta
    ) -> None:
        assignment = make.at_work(make.running_batch(zero_shot=True), at=clock.now())
        client.get(f"/resume/{assignment.resume_token}/")
        lease = Place.objects.get(holder=assignment).lease_until
        now = timezone.now
        monkeypatch.setattr(timezone, "now", lambda: now() + by)
        look_again()
        answer = client.post("/work/submit/", {"step": "0", "option": "1"})
        assert (answer.status_code, answer["Retry-After"]) == (503, "5")
        assert '<input type="hidden" name="option" value="1">' in answer.content.decode()
        assert not Judgement.objects.exists()
        assert Place.objects.get(holder=assignment).lease_until == lease
        assert client.get(WORK).status_code == 503
        wrong = f"This machine's clock is {by.total_seconds():.0f} s from the database's"
        ready = client.get("/readyz")
        assert ready.status_code == 503
        assert ready.json()["clock"].startswith(wrong)
        alive = client.get("/healthz")
        assert alive.status_code == 200
        assert alive.content.decode().startswith(wrong)


def test_no_other_page_waits_for_a_database_that_does_not_answer(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def silent() -> str:
        asked.append("version")
        raise OperationalError("timeout expired")

    monkeypatch.setattr(health, "misfit", silent)
    look_again()
    for _ in range(3):
        assert client.get("/").status_code == 503
    assert asked == ["version"]
    monkeypatch.undo()
    look_again()
    assert client.get("/").status_code == 200


class TestVersion:
    def test_serves_on_its_own_database(self, client: Client) -> None:
        look_again()
        assert client.get("/").status_code == 200
        assert client.get("/readyz").json()["version"] == "ok"
        migrations.refuse_another_database()

    @pytest.mark.parametrize("sentence", [migrations.LATER, migrations.EARLIER])
    def test_takes_no_work_on_another_versions_database(
        self, client: Client, sentence: str
    ) -> None:
        another_version(sentence)
        assert client.get("/").status_code == 200, "not asked at every page"
        look_again()
        assert client.get("/").status_code == 503
        assert client.get("/readyz").json()["version"] == sentence
        alive = client.get("/healthz")
        assert (alive.status_code, alive.content.decode()) == (200, f"{sentence}\n")

    @pytest.mark.parametrize("sentence", [migrations.LATER, migrations.EARLIER])
    @pytest.mark.parametrize("start", [migrations, celery], ids=["web", "worker"])
    def test_does_not_start_on_another_versions_database(
        self, sentence: str, start: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        another_version(sentence)
        monkeypatch.setattr(connections, "close_all", lambda: None)
        with pytest.raises(SystemExit, match=sentence):
            start.refuse_another_database()

    def test_a_worker_ends_when_the_database_moves_on(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        ended: list[list[str]] = []
        ran: list[int] = []
        monkeypatch.setattr(celery.app.control, "shutdown", ended.append)
        monkeypatch.setattr(queue, "run_job", ran.append)
        request: dict[str, Any] = {"hostname": "second@here", "called_directly": False}
        run_job.push_request(**request)
        try:
            run_job(7)
            assert (ran, ended) == ([7], [])
            another_version(migrations.LATER)
            run_job(7)
        finally:
            run_job.pop_request()
        assert (ran, ended) == ([7], [["second@here"]])
        assert migrations.LATER in caplog.text

    def test_make_run_migrates_no_later_database(self, monkeypatch: pytest.MonkeyPatch) -> None:
        another_version(migrations.LATER)
        called: list[str] = []
        monkeypatch.setattr(serve, "call_command", lambda name, **options: called.append(name))
        with pytest.raises((SystemExit, CommandError), match=migrations.LATER):
            serve.prepared_data()
        assert called == []

    def test_is_looked_up_now_and_then_only(
        self, client: Client, django_assert_num_queries: Any
    ) -> None:
        look_again()
        fitness.trouble()
        with django_assert_num_queries(0):
            assert fitness.trouble() == ""


def another_version(sentence: str) -> None:
    """As if later code had migrated the database, or this code's last migration had not run."""
    recorder = MigrationRecorder(connection)
    if sentence == migrations.LATER:
        recorder.record_applied("annotation", "9999_of_another_day")
    else:
        newest = dict(MigrationLoader(None).graph.leaf_nodes())
        recorder.record_unapplied("scoring", newest["scoring"])

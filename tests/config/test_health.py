from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from celery import Celery
from django.conf import settings as installed
from django.db import OperationalError, connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Job, JobState
from config import health

pytestmark = pytest.mark.django_db


@pytest.mark.both_databases
def test_answers_200_when_the_database_answers(client: Client) -> None:
    response = client.get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")


@pytest.mark.both_databases
def test_answers_503_in_one_sentence_when_the_database_does_not(client: Client) -> None:
    with patch.object(connection, "cursor", side_effect=OperationalError("gone")):
        response = client.get("/healthz")
    assert response.status_code == 503
    assert response.content == b"The database does not answer.\n"


@pytest.mark.both_databases
def test_answers_503_when_the_database_cannot_write(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor == "sqlite":
        monkeypatch.setattr(health, "LEAST_FREE_BYTES", 10**18)
    else:
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.content.startswith(b"The database can't write: make room")


def test_is_never_cached(client: Client) -> None:
    assert "no-store" in client.get("/healthz")["Cache-Control"]


@pytest.mark.both_databases
def test_refuses_to_be_posted_to(client: Client) -> None:
    assert client.post("/healthz").status_code == 405


class TestReady:
    def test_tells_of_every_part(self, client: Client) -> None:
        response = client.get("/readyz")
        assert response.status_code == 200
        assert response.json() == dict.fromkeys(
            ("database", "queue", "worker", "cache", "disk", "clock", "version"), "ok"
        )

    def test_tells_that_the_queue_is_away(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        away = Celery(broker="redis://127.0.0.1:1/0", set_as_current=False)
        away.conf.broker_transport_options = installed.CELERY_BROKER_TRANSPORT_OPTIONS
        monkeypatch.setattr(health, "queue", away)
        response = client.get("/readyz")
        assert response.status_code == 503
        assert response.json()["queue"].startswith("The queue does not answer")
        assert response.json()["database"] == "ok"

    def test_tells_that_the_cache_is_away(
        self, client: Client, admin_client: Client, settings: Any
    ) -> None:
        page = reverse("admin:index")
        told = "The cache does not answer: work goes on, and nothing is throttled."
        assert told not in admin_client.get(page).content.decode()
        redis = "django.core.cache.backends.redis.RedisCache"
        settings.CACHES = {"default": {"BACKEND": redis, "LOCATION": "redis://127.0.0.1:1/0"}}
        response = client.get("/readyz")
        assert response.status_code == 503
        assert response.json()["cache"] == told
        assert told in admin_client.get(page).content.decode()

    @pytest.mark.both_databases
    def test_tells_that_the_disk_is_full(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(health, "LEAST_FREE_BYTES", 10**18)
        response = client.get("/readyz")
        assert response.status_code == 503
        assert response.json()["disk"] == "The disk of DATA_DIR is full."

    @pytest.mark.both_databases
    def test_tells_that_the_database_is_away(self, client: Client) -> None:
        with patch.object(connection, "cursor", side_effect=OperationalError("gone")):
            response = client.get("/readyz")
        assert response.status_code == 503
        assert response.json()["database"] == "The database does not answer."

    @pytest.mark.both_databases
    def test_tells_that_the_clock_differs(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        late = timezone.now() - timedelta(minutes=2)
        monkeypatch.setattr(timezone, "now", lambda: late)
        clock = client.get("/readyz").json()["clock"]
        if connection.vendor == "postgresql":
            assert clock.startswith("This machine's clock is -120 s from the database's")
        else:
            assert clock == "ok"  # one machine, one clock


class TestWorker:
    def waits(self, minutes: float) -> Job:
        job = Job.objects.create(kind="test", arguments={})
        at = timezone.now() - timedelta(minutes=minutes)
        Job.objects.filter(pk=job.pk).update(created_at=at)
        return job

    def test_says_where_none_takes_what_waits(self, client: Client) -> None:
        self.waits(1)
        assert client.get("/readyz").status_code == 200
        self.waits(3)
        response = client.get("/readyz")
        assert response.status_code == 503
        assert response.json()["worker"] == ("No worker takes the long work that waits: start one.")

    def test_a_long_queue_is_no_trouble(self, client: Client) -> None:
        self.waits(30)
        Job.objects.filter(pk=self.waits(40).pk).update(state=JobState.RUNNING, attempt=1)
        assert client.get("/readyz").status_code == 200

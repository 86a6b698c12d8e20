"""A database that is locked for longer than a page waits: what was sent is kept and sent again."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from annotation.models import Judgement, prepared
from tests import make
from tests.annotation.benchmarks.clues_files import write_task, zipped
from tests.scoring.runs.runs_from import WHO, toy_benchmark

pytestmark = pytest.mark.django_db(transaction=True)
TABLES = "annotation_judgement, annotation_assignment, annotation_upload, scoring_run"


@contextmanager
def locked() -> Iterator[None]:
    """By another process, while this one waits for a tenth of a second."""
    other = connection.copy()
    sqlite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout=100" if sqlite else "SET lock_timeout='100ms'")
    other.connect()
    try:
        cursor = other.cursor()
        if sqlite:
            other.connection.execute("BEGIN IMMEDIATE")
        else:
            other.set_autocommit(False)
            cursor.execute(f"LOCK TABLE {TABLES}")
        with patch.dict(connection.settings_dict["OPTIONS"], timeout=0.1):
            yield
    finally:
        other.rollback()
        other.close()
        connection.close()


@pytest.fixture
def at_work(client: Client) -> Client:
    assignment = make.at_work(make.running_batch(zero_shot=True))
    client.get(f"/resume/{assignment.resume_token}/")
    return client


def send(client: Client, **headers: Any) -> Any:
    sent = {"step": "0", "option": "1", "csrfmiddlewaretoken": "token"}
    return client.post("/work/submit/", sent, **headers)


@pytest.mark.both_databases
def test_keeps_an_answer_and_a_button_that_sends_it(at_work: Client) -> None:
    with locked():
        response = send(at_work)
    page = response.content.decode()
    assert response.status_code == 503
    assert response["Retry-After"] == "5"
    assert "no-store" in response["Cache-Control"]
    assert '<form method="post" action="/work/submit/"' in page
    assert '<input type="hidden" name="step" value="0">' in page
    assert '<input type="hidden" name="option" value="1">' in page
    assert page.count('name="csrfmiddlewaretoken"') == 1
    assert "again.js" in page
    assert not Judgement.objects.exists()
    send(at_work)
    assert Judgement.objects.get().answer == ["good"]


# SQLite has no such limit, nor a way to sleep.
if connection.vendor == "postgresql":

    @pytest.mark.both_databases
    def test_keeps_an_answer_whose_statement_takes_too_long(at_work: Client) -> None:
        def sleep(row: object) -> None:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_sleep(60)")

        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout='100ms'")
        with patch.object(prepared, "insert", sleep):
            response = send(at_work)
        assert (response.status_code, response["Retry-After"]) == (503, "5")
        assert '<input type="hidden" name="option" value="1">' in response.content.decode()
        assert not Judgement.objects.exists()
        send(at_work)
        assert Judgement.objects.get().answer == ["good"]
        connection.close()


def test_answers_htmx_by_the_status_that_its_page_sends_again_for(at_work: Client) -> None:
    with locked():
        assert send(at_work, HTTP_HX_REQUEST="true").status_code == 503


def test_never_repeats_a_password(client: Client) -> None:
    with locked():
        response = client.post("/admin/login/", {"username": "ada", "password": "s3cret"})
    assert b"s3cret" not in response.content


@pytest.mark.parametrize(
    "name", ["password", "old_password", "new_password1", "Passwords", "token", "webhook_secret"]
)
def test_repeats_no_secret_of_any_name_nor_sends_the_rest_without_it(
    at_work: Client, name: str
) -> None:
    with locked():
        response = at_work.post("/work/submit/", {"step": "0", "option": "1", name: "s3cret"})
    page = response.content.decode()
    assert response.status_code == 503
    assert "s3cret" not in page
    assert "<form" not in page
    assert "Go back, and send the form again" in page


def test_shows_the_front_page_without_a_write(client: Client) -> None:
    with locked():
        assert client.get("/").status_code == 200


def test_tells_a_program_in_its_own_words() -> None:
    user = User.objects.create_user("rita")
    client = APIClient(HTTP_AUTHORIZATION=f"Token {Token.objects.create(user=user).key}")
    toy_benchmark()
    run = {**WHO, "task": "names", "parameters": "110M", "uses_labelled": False}
    with locked():
        response = client.post("/api/runs/", run, format="json")
    assert response.status_code == 503
    assert response.json()["detail"].startswith("The database is busy, and nothing was stored.")
    assert client.post("/api/runs/", run, format="json").status_code == 201


def test_asks_for_a_file_once_more(admin_client: Client, tmp_path: Path) -> None:
    write_task(tmp_path / "Reviews", description="Good or bad?")
    file = SimpleUploadedFile("mine.zip", zipped(tmp_path).getvalue())
    with locked():
        response = admin_client.post(
            "/admin/annotation/benchmark/import/", {"name": "mine", "file": file}
        )
    assert response.status_code == 503
    assert b"send the form again" in response.content

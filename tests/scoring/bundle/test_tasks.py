"""A bundle that comes by the page is checked by a job, within limits that the page says."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.jobs import queue
from annotation.models import Job, JobState, Upload
from scoring.bundle import tasks
from scoring.bundle.packing import Limits
from scoring.models import ImportedStudy
from tests import make
from tests.made_once import once_a_module
from tests.scoring.bundle.packed import packed, rows, with_rows, zipped
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db

Files = dict[str, bytes]


files = once_a_module(lambda: packed(measured.cell([0, 1, 4]).study))


@pytest.fixture
def researcher() -> User:
    return make.researcher()


@pytest.fixture
def desk(client: Client, researcher: User) -> Client:
    client.force_login(researcher)
    return client


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Other limits than the product's."""
    return lambda **limits: monkeypatch.setattr(tasks, "LIMITS", Limits(**limits))


def sent(desk: Client, files: Files, folder: Path) -> Any:
    path = zipped(files, folder / "bundle.zip")
    upload = SimpleUploadedFile("bundle.zip", path.read_bytes())
    return desk.post(reverse("scoring:imported_studies"), {"file": upload})


def job_of(files: Files, by: User | None, folder: Path) -> Job:
    """One that has been run."""
    data = zipped(files, folder / "bundle.zip").read_bytes()
    upload = Upload.objects.create(name="bundle.zip", data=data)
    job = Job.objects.create(kind=tasks.JOB, upload=upload, author=by)
    queue.run_job(job.pk)
    job.refresh_from_db()
    return job


@pytest.mark.both_databases
def test_makes_a_job_that_leads_to_the_study(
    desk: Client, files: Files, tmp_path: Path, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        response = sent(desk, files, tmp_path)
    job = Job.objects.get()
    assert (job.state, Upload.objects.count()) == (JobState.DONE, 0)
    study = ImportedStudy.objects.get()
    assert study.figures == rows(files, "figures.jsonl")
    page = reverse("scoring:imported_study", args=[study.pk])
    assert page in desk.get(response.url).content.decode()
    assert study.title in desk.get(page).content.decode()


def test_says_its_limits_before(desk: Client) -> None:
    text = desk.get(reverse("scoring:imported_studies")).content.decode()
    for said in ("500,000 rows", "4,000,000 people × items", "120 seconds", "1,000 MB of memory"):
        assert said in text


def test_takes_a_permission_of_its_own(client: Client, files: Files, tmp_path: Path) -> None:
    reader = User.objects.create_user("reader", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_study"))
    client.force_login(reader)
    assert 'type="file"' not in client.get(reverse("scoring:imported_studies")).content.decode()
    response = sent(client, files, tmp_path)
    assert response.status_code == 403
    assert "You may not check bundles here" in response.content.decode()
    assert not Job.objects.exists()


def test_refuses_whoever_lost_the_permission_meanwhile(files: Files, tmp_path: Path) -> None:
    job = job_of(files, User.objects.create_user("former"), tmp_path)
    assert (job.state, ImportedStudy.objects.count()) == (JobState.FAILED, 0)
    assert "may no longer check bundles" in job.message


def test_fails_with_the_sentence_of_what_is_wrong(
    files: Files, researcher: User, tmp_path: Path
) -> None:
    job = job_of({**files, "gold.jsonl": b""}, researcher, tmp_path)
    assert job.message == "The file gold.jsonl was changed after the bundle was packed."


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        ({"seconds": 0}, "takes more than 1,000 MB of memory or 0 seconds"),
        ({"rows": 5}, "rows; at most 5 are checked."),
        ({"scores": 2}, "people × items; at most 2 are checked."),
    ],
)
def test_ends_where_it_takes_too_much(
    here: Callable[..., None],
    files: Files,
    researcher: User,
    tmp_path: Path,
    limit: dict[str, int],
    sentence: str,
) -> None:
    here(**limit)
    job = job_of(files, researcher, tmp_path)
    assert (job.state, ImportedStudy.objects.count()) == (JobState.FAILED, 0)
    assert sentence in job.message


@pytest.mark.both_databases
def test_its_process_ends_with_the_job_that_is_stopped(
    files: Files, researcher: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def stopped(*args: Any, **kwargs: Any) -> Any:
        Job.objects.update(cancel_requested=True)
        started.append(process(*args, **kwargs))
        return started[0]

    process = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", stopped)
    job = job_of(files, researcher, tmp_path)
    assert job.state == JobState.CANCELLED
    assert started[0].returncode is not None


def large(files: Files, people: int, items: int) -> Files:
    """As many people on as many items, each with two answers, in a few kilobytes."""
    batch, item, gold, person, judgement = (
        rows(files, f"{name}.jsonl")[-1]
        for name in ("batches", "items", "gold", "assignments", "judgements")
    )
    batch["batch"] = 1
    tables = {
        "batches": [batch],
        "items": [{**item, "example": str(n), "context_hash": str(n // 2)} for n in range(items)],
        "gold": [{**gold, "example": str(n)} for n in range(items)],
        "assignments": [{**person, "assignment": n, "batch": 1} for n in range(people)],
        "judgements": [
            {**judgement, "assignment": n, "example": str((n + step) % items), "role": "test"}
            for n in range(people)
            for step in (0, 1)
        ],
    }
    for name, table in tables.items():
        files = with_rows(files, f"{name}.jsonl", table)
    return files


def test_refuses_a_huge_matrix_before_it_is_made(
    files: Files, researcher: User, tmp_path: Path
) -> None:
    job = job_of(large(files, 4_000, 4_000), researcher, tmp_path)
    assert job.message == (
        "The bundle has 16,000,000 people × items; at most 4,000,000 are checked."
    )


def test_ends_with_the_memory_that_it_may_have(
    here: Callable[..., None],
    files: Files,
    researcher: User,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    here(megabytes=250)
    job = job_of(large(files, 1_000, 4_000), researcher, tmp_path)
    assert "takes more than 250 MB of memory" in job.message
    # The sentence is that of the time as well.
    assert "MemoryError" in caplog.text


def test_ends_with_the_time_that_it_may_have(
    here: Callable[..., None],
    files: Files,
    researcher: User,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tasks, "CHILD", [sys.executable, "-c", "while True: pass"])
    here(seconds=1)
    assert "or 1 seconds" in job_of(files, researcher, tmp_path).message

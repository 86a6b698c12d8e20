"""A large export is made by a worker, and fetched when it is ready."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from secrets import token_hex
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.jobs import files
from annotation.jobs.queue import run_job
from annotation.models import Annotator, Batch, Job, JobFile, Study
from annotation.studies import exported_judgements as exporting
from annotation.studies.exported_judgements import Chosen, export_judgements
from tests import make

pytestmark = pytest.mark.django_db

Committing = Callable[..., Any]


@pytest.fixture
def batch(monkeypatch: pytest.MonkeyPatch) -> Batch:
    """Of a study that counts as large."""
    monkeypatch.setattr(files, "MOST_AT_ONCE", 1)
    batch = make.running_batch()
    make.worked_through(batch)
    return batch


def page_of(batch: Batch) -> str:
    return reverse("annotation:export_judgements", args=[batch.study.slug, "jsonl"])


@pytest.mark.both_databases
def test_is_ordered_made_and_fetched(admin_client: Client, batch: Batch) -> None:
    assert "Make the file" in admin_client.get(page_of(batch)).content.decode()
    assert admin_client.post(page_of(batch)).status_code == 302
    job = Job.objects.get()
    waiting = admin_client.get(page_of(batch), headers={"HX-Request": "true"}).content.decode()
    assert "every 2s" in waiting
    assert "<html" not in waiting
    run_job(job.pk)
    link = f"{page_of(batch)}?file={job.pk}"
    assert f'href="?file={job.pk}"' in admin_client.get(page_of(batch)).content.decode()
    whole = "".join(export_judgements(batch.study, "jsonl")).encode()
    file: Any = admin_client.get(link)
    assert file.content == whole
    assert file["Content-Type"] == "application/x-ndjson"
    assert f'filename="{batch.study.slug}-judgements.jsonl"' in file["Content-Disposition"]
    packed: Any = admin_client.get(link, headers={"Accept-Encoding": "gzip"})
    assert packed["Content-Encoding"] == "gzip"
    assert files.uncompressed(packed.content) == whole


@pytest.mark.both_databases
def test_is_made_once_for_two_clicks(admin_client: Client, batch: Batch) -> None:
    for _ in range(2):
        admin_client.post(page_of(batch))
    run_job(Job.objects.get().pk)
    admin_client.post(page_of(batch))
    assert Job.objects.count() == 2


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_is_made_while_others_write(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite refuses a write past a query that is half read once somebody else has written."""
    monkeypatch.setattr(exporting, "TELLS_EVERY", 1)

    def beside_others(study: Study, file_format: str, chosen: Chosen) -> Iterator[str]:
        for line in export_judgements(study, file_format, chosen):
            write_from_elsewhere()
            yield line

    monkeypatch.setattr(exporting, "export_judgements", beside_others)
    job = exporting.judgements_file(batch.study, "csv").order()
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.progress > 0) == ("done", True)


def write_from_elsewhere() -> None:
    def write() -> None:
        Annotator.objects.create(channel=make.channel(), identity_hash=token_hex(8))
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(write).result()


def test_is_of_its_study_alone(admin_client: Client, batch: Batch) -> None:
    job = exporting.judgements_file(batch.study, "csv").order()
    run_job(job.pk)
    other = make.running_batch(slug="other").study
    make.worked_through(other.batches.get())
    elsewhere = reverse("annotation:export_judgements", args=[other.slug, "csv"])
    assert admin_client.get(f"{elsewhere}?file={job.pk}").status_code == 404
    for other_file in (str(job.pk), "x", "", "-1", "9" * 30):
        # Another format, or nothing that there is.
        assert admin_client.get(f"{page_of(batch)}?file={other_file}").status_code == 404


def test_is_removed_after_a_week(batch: Batch) -> None:
    run_job(exporting.judgements_file(batch.study, "csv").order().pk)
    files.remove_old(at=timezone.now() + timedelta(days=6))
    assert JobFile.objects.exists()
    files.remove_old(at=timezone.now() + timedelta(days=8))
    assert not JobFile.objects.exists()


def test_says_when_its_study_is_gone(batch: Batch) -> None:
    job = Job.objects.create(kind=exporting.JOB, arguments={"study": 0, "format": "csv"})
    run_job(job.pk)
    job.refresh_from_db()
    assert job.message == "The study is no longer there."


def test_is_the_file_itself_where_it_is_small(
    admin_client: Client, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_AT_ONCE", 100)
    response = admin_client.get(page_of(batch))
    assert not response.streaming
    assert response.content == "".join(export_judgements(batch.study, "jsonl")).encode()

from datetime import timedelta

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Job
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def job() -> Job:
    fields = {"state": "running", "progress": 3, "total": 10, "message": "Reading SST-2"}
    return Job.objects.create(kind="import_benchmark", **fields)


def address(job: Job, page: str = "change") -> str:
    return reverse(f"admin:annotation_job_{page}", args=[job.pk])


def test_shows_how_far_a_job_is(admin_client: Client, job: Job) -> None:
    page = admin_client.get(address(job)).content.decode()
    assert "3 / 10" in page
    assert "Reading SST-2" in page
    assert "import benchmark" in page


@pytest.mark.parametrize(("seconds", "is_left_lying"), [(10, False), (60, True)])
def test_says_that_no_worker_takes_it(
    admin_client: Client, job: Job, seconds: int, is_left_lying: bool
) -> None:
    Job.objects.update(state="queued", created_at=timezone.now() - timedelta(seconds=seconds))
    page = admin_client.get(address(job)).content.decode()
    assert ("No worker has taken it yet" in page) == is_left_lying
    Job.objects.update(state="running")
    assert "No worker" not in admin_client.get(address(job)).content.decode()


def test_gives_htmx_the_progress_alone(admin_client: Client, job: Job) -> None:
    response = admin_client.get(address(job, "progress"), headers={"HX-Request": "true"})
    text = response.content.decode().strip()
    assert text.startswith("<section")
    assert 'hx-trigger="every 1s"' in text


def test_says_nothing_of_the_way_once_a_job_is_done(admin_client: Client, job: Job) -> None:
    """How far it was is told now and then, and seldom at the very end."""
    Job.objects.update(state="done")
    assert "3 / 10" not in admin_client.get(address(job)).content.decode()


@pytest.mark.parametrize("state", ["done", "failed", "cancelled"])
def test_stops_polling_when_the_job_is_over(admin_client: Client, job: Job, state: str) -> None:
    Job.objects.update(state=state)
    assert "hx-trigger" not in admin_client.get(address(job)).content.decode()


def test_asks_a_job_to_stop(admin_client: Client, job: Job) -> None:
    response = admin_client.post(address(job, "cancel"))
    job.refresh_from_db()
    assert response["Location"] == address(job)
    assert job.cancel_requested


def test_does_not_stop_a_job_that_is_over(admin_client: Client, job: Job) -> None:
    Job.objects.update(state="done", finished_at=timezone.now())
    response = admin_client.post(address(job, "cancel"))
    assert "is over" in str(next(iter(get_messages(response.wsgi_request))))
    job.refresh_from_db()
    assert not job.cancel_requested


def test_stops_nothing_by_looking(admin_client: Client, job: Job) -> None:
    admin_client.get(address(job, "cancel"))
    job.refresh_from_db()
    assert not job.cancel_requested


def test_lets_nobody_write_a_job(admin_client: Client, job: Job) -> None:
    assert admin_client.post(address(job), {"state": "done"}).status_code == 403
    assert admin_client.get(reverse("admin:annotation_job_add")).status_code == 403


def test_links_an_import_with_its_benchmark(admin_client: Client, job: Job) -> None:
    benchmark = make.benchmark("clues")
    task = {"slug": "sst2", "kind": "choice", "shot_sets": 15, "findings": [{}, {}]}
    named = {**task, "slug": "mnli", "name": "MNLI"}
    Job.objects.update(state="done", result={"benchmark": "clues", "tasks": [task, named]})
    page = admin_client.get(address(job)).content.decode()
    assert reverse("annotation:benchmark", args=[benchmark.name]) in page
    assert "sst2" in page
    assert "MNLI" in page
    assert "mnli" not in page

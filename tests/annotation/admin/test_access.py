"""What holds for every page of the admin; who may see which is in tests/test_roles.py."""

from collections.abc import Callable
from copy import deepcopy

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Benchmark, Job
from tests import make
from tests.made_once import once_a_module

pytestmark = pytest.mark.django_db


def made_assignment() -> Assignment:
    assignment = make.worked_through(make.running_batch(training=1, tests=1))
    Job.objects.create(kind="import_benchmark")
    return assignment


assignment_once = once_a_module(made_assignment)


@pytest.fixture
def assignment(assignment_once: Assignment) -> Assignment:
    return deepcopy(assignment_once)


def page(name: str, *arguments: int) -> str:
    return reverse(f"admin:annotation_{name}", args=arguments)


PAGES: dict[str, Callable[[Assignment], str]] = {
    "studies": lambda a: page("study_changelist"),
    "study": lambda a: page("study_change", a.study_id),
    "new study": lambda a: page("study_add"),
    "start": lambda a: page("study_pause", a.study_id),
    "close": lambda a: page("study_close", a.study_id),
    "copy": lambda a: page("study_copy", a.study_id),
    "invitations": lambda a: page("study_invitations", a.study_id),
    "batch": lambda a: page("batch_change", a.batch_id),
    "more places": lambda a: page("batch_more-places", a.batch_id),
    "benchmarks": lambda a: page("benchmark_changelist"),
    "import": lambda a: page("benchmark_import"),
    "benchmark": lambda a: page("benchmark_change", a.study.benchmark_id),
    "task": lambda a: page("task_change", a.batch.task_id),
    "item set": lambda a: page("itemset_change", a.batch.test_set_id),
    "example": lambda a: page("example_change", example_of(a)),
    "correct": lambda a: page("example_correct", example_of(a)),
    "channels": lambda a: page("channel_changelist"),
    "assignments": lambda a: page("assignment_changelist"),
    "assignment": lambda a: page("assignment_change", a.pk),
    "exclude": lambda a: page("assignment_exclude", a.pk),
    "lift": lambda a: page("assignment_lift", a.pk),
    "annotator": lambda a: page("annotator_change", a.annotator_id),
    "erase": lambda a: page("annotator_erase", a.annotator_id),
    "judgements": lambda a: page("judgement_changelist"),
    "judgement": (lambda a: page("judgement_change", a.judgements.first().pk)),
    "job": lambda a: page("job_change", Job.objects.get().pk),
    "job's progress": lambda a: page("job_progress", Job.objects.get().pk),
}


def example_of(assignment: Assignment) -> int:
    return assignment.judgements.first().example_id


@pytest.mark.parametrize("name", PAGES)
def test_shows_every_page_under_the_content_policy(
    name: str, assignment: Assignment, admin_client: Client
) -> None:
    page = admin_client.get(PAGES[name](assignment))
    assert "default-src 'self'" in page["Content-Security-Policy"]
    text = page.content.decode()
    assert "<style" not in text
    assert " style=" not in text
    assert "onclick" not in text
    assert "<script>" not in text


WRITES = ["study_pause", "study_close", "annotator_erase", "assignment_exclude"]


@pytest.mark.parametrize("name", WRITES)
def test_refuses_an_act_without_the_form_token(name: str, assignment: Assignment) -> None:
    User.objects.create_superuser("root", password="root")
    client = Client(enforce_csrf_checks=True)
    client.login(username="root", password="root")
    row = {"study": assignment.study_id, "annotator": assignment.annotator_id}
    pk = row.get(name.split("_", maxsplit=1)[0], assignment.pk)
    assert client.post(page(name, pk), {"reason": "bot"}).status_code == 403


@pytest.mark.parametrize("name", ["study_pause", "study_close", "annotator_erase"])
def test_changes_nothing_by_looking(
    name: str, assignment: Assignment, admin_client: Client
) -> None:
    pk = assignment.study_id if name.startswith("study") else assignment.annotator_id
    admin_client.get(page(name, pk))
    assignment.refresh_from_db()
    assert assignment.study.state == "open"
    assert assignment.annotator.erased_at is None


def test_finds_nothing_under_a_wrong_number(admin_client: Client) -> None:
    assert admin_client.get(page("study_pause", 999)).status_code == 404
    assert not Benchmark.objects.filter(pk=999).exists()

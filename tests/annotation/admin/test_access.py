"""Who may see which admin page: actor × page → status."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Benchmark, Job
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def assignment() -> Assignment:
    assignment = make.worked_through(make.running_batch(training=1, tests=1))
    Job.objects.create(kind="import_benchmark")
    return assignment


def page(name: str, *arguments: int) -> str:
    return reverse(f"admin:annotation_{name}", args=arguments)


# The page, and what a member of staff needs for it.
PAGES: dict[str, tuple[Callable[[Assignment], str], str]] = {
    "studies": (lambda a: page("study_changelist"), "view_study"),
    "study": (lambda a: page("study_change", a.study_id), "view_study"),
    "new study": (lambda a: page("study_add"), "add_study"),
    "start": (lambda a: page("study_pause", a.study_id), "change_study"),
    "close": (lambda a: page("study_close", a.study_id), "change_study"),
    "copy": (lambda a: page("study_copy", a.study_id), "add_study"),
    "invitations": (lambda a: page("study_invitations", a.study_id), "add_invitation"),
    "batch": (lambda a: page("batch_change", a.batch_id), "view_batch"),
    "more places": (lambda a: page("batch_more-places", a.batch_id), "change_batch"),
    "benchmarks": (lambda a: page("benchmark_changelist"), "view_benchmark"),
    "import": (lambda a: page("benchmark_import"), "add_benchmark"),
    "benchmark": (lambda a: page("benchmark_change", a.study.benchmark_id), "view_benchmark"),
    "task": (lambda a: page("task_change", a.batch.task_id), "view_task"),
    "item set": (lambda a: page("itemset_change", a.batch.test_set_id), "view_itemset"),
    "example": (lambda a: page("example_change", example_of(a)), "view_example"),
    "correct": (lambda a: page("example_correct", example_of(a)), "add_goldversion"),
    "channels": (lambda a: page("channel_changelist"), "view_channel"),
    "assignments": (lambda a: page("assignment_changelist"), "view_assignment"),
    "assignment": (lambda a: page("assignment_change", a.pk), "view_assignment"),
    "exclude": (lambda a: page("assignment_exclude", a.pk), "add_exclusion"),
    "lift": (lambda a: page("assignment_lift", a.pk), "delete_exclusion"),
    "annotator": (lambda a: page("annotator_change", a.annotator_id), "view_annotator"),
    "erase": (lambda a: page("annotator_erase", a.annotator_id), "change_annotator"),
    "judgements": (lambda a: page("judgement_changelist"), "view_judgement"),
    "judgement": (
        lambda a: page("judgement_change", a.judgements.first().pk),
        "view_judgement",
    ),
    "job": (lambda a: page("job_change", Job.objects.get().pk), "view_job"),
    "job's progress": (lambda a: page("job_progress", Job.objects.get().pk), "view_job"),
}


def example_of(assignment: Assignment) -> int:
    return assignment.judgements.first().example_id


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(
    ("actor", "status"),
    [("anonymous", 302), ("annotator", 302), ("staff", 403), ("member", 200)],
)
def test_lets_in_who_may(name: str, actor: str, status: int, assignment: Assignment) -> None:
    address, permission = PAGES[name]
    client = Client()
    if actor != "anonymous":
        user = User.objects.create_user(actor, is_staff=actor in ("staff", "member"))
        if actor == "member":
            user.user_permissions.add(Permission.objects.get(codename=permission))
        client.force_login(user)
    response = client.get(address(assignment))
    assert response.status_code == status
    if status == 302:
        assert response["Location"].startswith(reverse("admin:login"))


@pytest.mark.parametrize("name", PAGES)
def test_shows_every_page_under_the_content_policy(
    name: str, assignment: Assignment, admin_client: Client
) -> None:
    address, _permission = PAGES[name]
    page = admin_client.get(address(assignment))
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
    assert admin_client.get(page("study_start", 999)).status_code == 404
    assert not Benchmark.objects.filter(pk=999).exists()

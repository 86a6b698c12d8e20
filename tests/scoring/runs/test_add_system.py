"""A system that is added from a page: looked at, and stored on a second press."""

import json
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.jobs import queue
from annotation.models import Job, Task, Upload
from scoring.models import Run
from tests import make

pytestmark = pytest.mark.django_db

LINES = [{"id": f"test {number}", "prediction": ["good"]} for number in range(2)]
FILE = "\n".join(map(json.dumps, LINES)).encode()
SAID = {"system": "GPT-9", "method": "ICL", "shots": "10", "split": "1"}


@pytest.fixture
def task() -> Task:
    return make.task(tests=2)


@pytest.fixture
def desk(client: Client, task: Task) -> Client:
    client.force_login(make.member(task.benchmark, "editor"))
    return client


def page(task: Task) -> str:
    return reverse("scoring:add_system", args=["benchmark", task.benchmark.name])


def sent(
    desk: Client, task: Task, data: bytes = FILE, name: str = "answers.jsonl", **said: str
) -> Any:
    file = SimpleUploadedFile(name, data)
    return desk.post(page(task), {"file": file, **SAID, **said})


def job_done() -> Job:
    job = Job.objects.latest("pk")
    queue.run_job(job.pk)
    job.refresh_from_db()
    return job


def told(job: Job) -> str:
    return " ".join([*job.result.get("lines", []), job.message])


def test_shows_what_was_read_and_stores_it_on_a_second_press(desk: Client, task: Task) -> None:
    comparison = reverse("scoring:comparison", args=["benchmark", task.benchmark.name])
    assert page(task) in desk.get(comparison).content.decode()
    assert sent(desk, task).status_code == 302
    look = job_done()
    assert "GPT-9" in told(look)
    assert "1 new of 1 runs: 2 matched" in told(look)
    assert not Run.every.exists()
    shown = desk.get(reverse("admin:annotation_job_change", args=[look.pk])).content.decode()
    assert look.result["store"] in shown
    desk.post(look.result["store"])
    stored = job_done()
    run = Run.objects.get()
    assert (run.system, run.shots, run.split, run.owner) == ("GPT-9", 10, 1, look.author)
    assert stored.result["page"] == comparison
    assert not Upload.objects.exists()
    desk.post(look.result["store"])  # once more, when the file is gone
    assert Job.objects.count() == 2


def test_reads_a_zip_and_names_what_it_does_not_read(desk: Client, task: Task) -> None:
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr("logs/answers.jsonl", FILE)
        archive.writestr("logs/notes.md", "Nothing.")
    sent(desk, task, packed.getvalue(), "logs.zip")
    said = told(job_done())
    assert "2 matched" in said
    assert "in no known format: notes.md" in said


@pytest.mark.parametrize(
    ("data", "said", "sentence"),
    [
        (b"hello", {}, "answers.jsonl does not begin with a JSON object."),
        (FILE, {"system": ""}, "nothing names the system"),
        (FILE.replace(b"test", b"nobody"), {}, "Nothing was imported from answers.jsonl"),
    ],
)
def test_says_why_nothing_can_be_read(
    desk: Client, task: Task, data: bytes, said: dict[str, str], sentence: str
) -> None:
    sent(desk, task, data, **said)
    job = job_done()
    assert (job.state, job.result) == ("failed", {})
    assert sentence in job.message
    assert "/tmp" not in job.message
    assert not Run.every.exists()


def test_refuses_what_is_no_number_of_shots(desk: Client, task: Task) -> None:
    response = sent(desk, task, shots="many")
    assert response.status_code == 422
    assert "“shots” must be" in response.content.decode()
    assert not Job.objects.exists()


def test_looks_at_nothing_for_who_may_not_see_the_gold(desk: Client, task: Task) -> None:
    """A log with made-up verdicts would tell it: only whoever may see it gets a look at all."""
    sent(desk, task)
    task.benchmark.memberships.update(role="viewer")
    look = job_done()
    assert (look.state, look.result) == ("failed", {})
    assert "may not store runs" in look.message
    assert sent(desk, task).status_code == 403


def test_stores_nothing_for_who_has_lost_the_right(desk: Client, task: Task) -> None:
    sent(desk, task)
    look = job_done()
    desk.post(look.result["store"])
    task.benchmark.memberships.all().delete()
    assert "may not store runs" in told(job_done())
    assert not Run.every.exists()


def test_shows_how_a_file_looks_and_gives_one_to_fill_in(desk: Client, task: Task) -> None:
    shown = desk.get(page(task)).content.decode()
    assert "r-tabs" in shown
    assert "&quot;id&quot;: &quot;test 0&quot;" in shown
    scope = ["benchmark", task.benchmark.name]
    blank = reverse("scoring:blank_predictions", args=[*scope, task.slug])
    assert blank in shown
    lines = [json.loads(line) for line in desk.get(blank).content.decode().splitlines()]
    assert [line["id"] for line in lines] == ["test 0", "test 1"]
    filled = "\n".join(json.dumps({**line, "prediction": ["good"]}) for line in lines).encode()
    sent(desk, task, filled)
    assert "1 new of 1 runs: 2 matched" in told(job_done())


def test_speaks_of_the_form_where_it_refuses_and_keeps_the_file(desk: Client, task: Task) -> None:
    make.task(task.benchmark, tests=2)
    sent(desk, task)
    failed = job_done()
    assert "choose one under “Task”, or put “task” in the file's first line" in failed.message
    shown = desk.get(reverse("admin:annotation_job_change", args=[failed.pk])).content.decode()
    assert "r-tabs" in shown
    back = f"{page(task)}?job={failed.pk}"
    assert back in shown
    again = desk.get(back).content.decode()
    assert "answers.jsonl is kept" in again
    assert 'value="GPT-9"' in again
    desk.post(back, {**SAID, "task": task.slug})
    assert "1 new of 1 runs: 2 matched" in told(job_done())


def test_leads_from_what_was_stored_to_the_comparison(desk: Client, task: Task) -> None:
    sent(desk, task)
    desk.post(job_done().result["store"])
    stored = desk.get(reverse("admin:annotation_job_change", args=[job_done().pk]))
    assert ">Open the comparison</a>" in stored.content.decode()


def test_shows_the_operator_no_lists_inside_a_frame(admin_client: Client, task: Task) -> None:
    lists = 'id="nav-sidebar"'
    sent(admin_client, task)
    job = Job.objects.get()
    shown = admin_client.get(reverse("admin:annotation_job_change", args=[job.pk]))
    assert lists not in shown.content.decode()
    assert lists in admin_client.get(reverse("admin:annotation_job_changelist")).content.decode()

"""The page that takes people from elsewhere, and the pages of their study."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.jobs import queue
from annotation.models import Batch, Job, JobState, Study, Task, Upload
from tests import make
from tests.annotation.api.token_client import token_client
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db

SOURCE = "Doe et al. 2020, example.org"
ROWS = "person,item,{gives}\nA,test 0,{one}\nA,test 1,{one}\nB,test 0,{other}\nB,test 1,{one}\n"
ANSWERS = ROWS.format(gives="answer", one="good", other="bad")
SCORES = ROWS.format(gives="score", one=1, other=0)


@pytest.fixture
def task() -> Task:
    return make.task(tests=2)


@pytest.fixture
def editor(task: Task) -> User:
    return make.member(task.benchmark, "editor")


@pytest.fixture
def desk(client: Client, editor: User) -> Client:
    client.force_login(editor)
    return client


def sent(desk: Client, task: Task, text: str = ANSWERS, **fields: Any) -> Any:
    file = SimpleUploadedFile("people.csv", text.encode())
    given = {"file": file, "name": "Doe 2020", "source": SOURCE, **fields}
    return desk.post(reverse("scoring:elsewhere", args=[task.benchmark.name]), given)


def run_jobs() -> Job:
    job = Job.objects.get()
    queue.run_job(job.pk)
    job.refresh_from_db()
    return job


def test_comes_in_over_the_api_too(task: Task, editor: User) -> None:
    client = token_client(editor)
    address = f"/api/benchmarks/{task.benchmark.name}/people/"

    def asked(**fields: Any) -> Any:
        file = SimpleUploadedFile("people.csv", ANSWERS.encode())
        return client.post(address, {"file": file, **fields}, format="multipart")

    refused = asked(name="Doe 2020", sourc=SOURCE)
    assert refused.status_code == 400
    assert refused.json() == {"sourc": ["There is no such field here; did you mean “source”?"]}
    assert asked(name="Doe 2020").json() == {"source": ["This is missing: send it too."]}
    answer = asked(name="Doe 2020", source=SOURCE)
    assert (answer.status_code, answer.json()["job"]) == (202, run_jobs().pk)
    assert Study.objects.get().source == SOURCE


@pytest.mark.parametrize(("said", "stores"), [("0", True), ("no", True), ("1", False)])
def test_reads_what_is_said_of_a_box_over_the_api(
    task: Task, editor: User, said: str, *, stores: bool
) -> None:
    file = SimpleUploadedFile("people.csv", ANSWERS.encode())
    given = {"file": file, "name": "Doe 2020", "source": SOURCE, "dry_run": said}
    address = f"/api/benchmarks/{task.benchmark.name}/people/"
    assert token_client(editor).post(address, given, format="multipart").status_code == 202
    run_jobs()
    assert Study.objects.exists() is stores
    given |= {"file": SimpleUploadedFile("people.csv", b"x"), "dry_run": "maybe"}
    answer = token_client(editor).post(address, given, format="multipart")
    assert (answer.status_code, answer.json()) == (400, {"dry_run": ["This is true or false."]})


def test_declares_clusters_in_lines(desk: Client, task: Task) -> None:
    refused = sent(desk, task, clusters="ner")
    assert (refused.status_code, Job.objects.count()) == (400, 0)
    assert "A group is missing" in refused.content.decode()
    sent(desk, task, clusters=f"{task.slug}: story")
    assert f"No test item of {task.slug} has the group “story”" in run_jobs().message


def test_a_file_becomes_a_study_by_a_job(desk: Client, task: Task, editor: User) -> None:
    response = sent(desk, task)
    job = run_jobs()
    assert response.url == reverse("admin:annotation_job_change", args=[job.pk])
    study = Study.objects.get()
    assert (study.slug, study.source, study.memberships.get().user) == ("doe-2020", SOURCE, editor)
    assert job.state == JobState.DONE
    assert "4 rows read, 4 kept (2 people), 0 left out" in job.message
    assert job.result["page"] == reverse("scoring:comparison", args=["study", "doe-2020"])


def test_only_checks_on_request(desk: Client, task: Task) -> None:
    sent(desk, task, dry_run="on")
    job = run_jobs()
    assert "Nothing was stored." in job.message
    assert not Study.objects.exists()


def test_fails_with_the_sentence_of_what_is_wrong(desk: Client, task: Task) -> None:
    sent(desk, task, ANSWERS.replace("test 1", "test 9"))
    job = run_jobs()
    assert job.state == JobState.FAILED
    assert "people.csv, line 3" in job.message
    assert not Study.objects.exists()


def test_a_lost_attempt_is_not_repeated(desk: Client, task: Task) -> None:
    sent(desk, task)
    job = run_jobs()
    # Of a job that was lost the upload is still there.
    upload = Upload.objects.create(name="people.csv", data=ANSWERS.encode())
    Job.objects.filter(pk=job.pk).update(state=JobState.QUEUED, upload=upload)
    assert run_jobs().state == JobState.DONE
    assert Study.objects.count() == 1


def test_refuses_a_name_that_is_taken_and_whoever_may_not(
    desk: Client, client: Client, task: Task
) -> None:
    make.study(task.benchmark, slug="doe-2020")
    assert "There is a study" in sent(desk, task).content.decode()
    page = reverse("scoring:elsewhere", args=[task.benchmark.name])
    client.force_login(make.member(task.benchmark, "viewer"))
    assert client.get(page).status_code == 403
    client.force_login(make.researcher())
    assert client.get(page).status_code == 404
    assert not Job.objects.exists()


def imported(task: Task, text: str, folder: Path) -> Study:
    path = folder / "people.csv"
    path.write_text(text)
    about = {"benchmark": task.benchmark.name, "study": "Doe 2020", "source": SOURCE}
    call_command("import_people", path, **about)
    return Study.objects.get(slug="doe-2020")


PAGES: dict[str, tuple[str, list[str]]] = {
    "overview": ("annotation:watch", []),
    "comparison": ("scoring:comparison", ["study"]),
    "tests": ("scoring:analysis", ["study"]),
    "items": ("scoring:items", ["study"]),
}
# With what stands in their addresses behind the study.
CLOSED_PAGES: dict[str, list[str]] = {
    "annotation:people": [],
    "annotation:payments": [],
    "annotation:exports": [],
    "scoring:report": [],
    "scoring:report_export": ["methods", "text"],
    "scoring:preregistration": ["markdown"],
}


@pytest.mark.both_databases
@pytest.mark.parametrize("text", [ANSWERS, SCORES], ids=["answers", "scores"])
def test_its_pages_say_whose_people_they_are(
    text: str, client: Client, task: Task, tmp_path: Path
) -> None:
    study = imported(task, text, tmp_path)
    measured.run(task, shots=0, split=None)
    client.force_login(make.member(study, "owner"))
    for page, before in PAGES.values():
        response = client.get(reverse(page, args=[*before, study.slug]), follow=True)
        assert response.status_code == 200, page
        assert SOURCE in response.content.decode(), page
    assert SOURCE in client.get(reverse("annotation:home")).content.decode()


@pytest.mark.parametrize("page", CLOSED_PAGES)
def test_has_no_page_of_what_nobody_here_did(
    page: str, client: Client, task: Task, tmp_path: Path
) -> None:
    study = imported(task, ANSWERS, tmp_path)
    own: Batch = make.running_batch()
    client.force_login(User.objects.create_superuser("anna"))
    behind = CLOSED_PAGES[page]
    assert client.get(reverse(page, args=[own.study.slug, *behind])).status_code == 200
    assert client.get(reverse(page, args=[study.slug, *behind])).status_code == 404


@pytest.mark.parametrize("command", ["export_bundle", "export_report", "export_preregistration"])
def test_refuses_what_only_those_can_write_who_asked_them(
    command: str, task: Task, tmp_path: Path
) -> None:
    study = imported(task, ANSWERS, tmp_path)
    with pytest.raises(CommandError, match="Others asked the people of “Doe 2020”"):
        call_command(command, study=study.slug, output=tmp_path / "file")

"""Benchmarks and jobs over the API."""

from io import BytesIO
from typing import Any

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from annotation.jobs.files import keep
from annotation.jobs.queue import run_job
from annotation.models import Benchmark, Job, Study, Task
from tests import make
from tests.annotation.api.token_client import token_client

pytestmark = pytest.mark.django_db

ROWS = [f"{n},Is {n} even?,{'no' if n % 2 else 'yes'}\n" for n in range(40)]
TABLE = "".join(["id,question,answer\n", *ROWS]).encode()


@pytest.fixture
def task() -> Task:
    return make.task(slug="sst2")


def upload(
    client: APIClient, name: str, content: bytes = TABLE, **said: str
) -> tuple[int, dict[str, object]]:
    file = BytesIO(content)
    file.name = "quiz.csv"
    answer = client.post("/api/benchmarks/", {"name": name, "file": file, **said})
    return answer.status_code, answer.json()


def test_lists_ones_own(task: Task) -> None:
    make.benchmark("theirs")
    client = token_client(make.member(task.benchmark, "viewer"))
    found = client.get("/api/benchmarks/").json()["results"]
    assert [one["name"] for one in found] == [task.benchmark.name]


def test_tells_tasks_with_their_sets_and_audit(task: Task) -> None:
    Task.objects.update(audit=[{"code": "floors", "severity": "note"}])
    client = token_client(make.member(task.benchmark, "editor"))
    told = client.get(f"/api/benchmarks/{task.benchmark.name}/").json()
    assert [one["slug"] for one in told["tasks"]] == ["sst2"]
    assert {one["name"]: one["items"] for one in told["tasks"][0]["sets"]} == {
        "train-3-1": 3,
        "test": 4,
    }
    assert told["tasks"][0]["audit"] == [{"code": "floors", "severity": "note"}]


def test_lets_an_editor_of_a_study_read_its_benchmark(task: Task) -> None:
    client = token_client(make.member(make.study(task.benchmark), "editor"))
    assert client.get(f"/api/benchmarks/{task.benchmark.name}/").status_code == 200


def test_imports_a_file_by_a_job() -> None:
    client = token_client(make.researcher("ann"))
    status, told = upload(client, "quiz")
    assert status == 202
    run_job(Job.objects.get().pk)
    job = client.get(str(told["address"])).json()
    assert (job["state"], job["benchmark"]) == ("done", "quiz"), job["message"]
    benchmark = Benchmark.objects.get(name="quiz")
    assert [str(one.user) for one in benchmark.memberships.all()] == ["ann"]


def test_imports_a_table_with_what_is_asked() -> None:
    client = token_client(make.researcher())
    assert upload(client, "quiz", description="Say whether the number is even.")[0] == 202
    run_job(Job.objects.get().pk)
    [task] = client.get("/api/benchmarks/quiz/").json()["tasks"]
    assert task["description"] == "Say whether the number is even."


@pytest.mark.parametrize(
    ("said", "field"), [({"descripton": "x"}, "descripton"), ({"seed": "-1"}, "seed")]
)
def test_refuses_what_it_does_not_know_of_a_file(said: dict[str, Any], field: str) -> None:
    status, told = upload(token_client(make.researcher()), "quiz", **said)
    assert (status, [*told]) == (400, [field])


def test_refuses_anothers_benchmark_by_its_field(task: Task) -> None:
    status, told = upload(token_client(make.researcher()), task.benchmark.name)
    assert status == 400
    assert list(told) == ["name"]
    assert not Job.objects.exists()


@pytest.mark.parametrize("sent", [{}, {"name": "quiz"}, {"name": "quiz", "file": "text"}])
def test_asks_for_the_file(sent: dict[str, str]) -> None:
    answer = token_client(make.researcher()).post("/api/benchmarks/", sent)
    assert answer.status_code == 400
    assert "file" in answer.json()


def test_refuses_what_is_too_large(settings: Settings) -> None:
    settings.BENCHMARK_UPLOAD_MAX_BYTES = 1_000
    client = token_client(make.researcher())
    assert upload(client, "quiz", b"x" * 2_000)[0] == 413
    assert upload(token_client(make.researcher(), write=False), "quiz")[0] == 403


# Jobs


def test_keeps_a_job_to_who_ordered_it() -> None:
    user = make.researcher()
    job = Job.objects.create(kind="import_benchmark", author=user)
    address = f"/api/jobs/{job.pk}/"
    assert token_client(user).get(address).json()["state"] == "queued"
    assert token_client(make.researcher()).get(address).status_code == 404


def made_file(study: Study, role: str, **arguments: object) -> tuple[Job, APIClient]:
    user = make.member(study, role)
    job = Job.objects.create(kind="x", author=user, arguments={"study": study.pk, **arguments})
    keep(job, "judgements.csv", [b"a,b\n"])
    return job, token_client(user)


def test_sends_what_a_job_made(task: Task) -> None:
    job, client = made_file(make.study(task.benchmark), "editor")
    answer = client.get(client.get(f"/api/jobs/{job.pk}/").json()["file"])
    assert (answer.status_code, answer.content) == (200, b"a,b\n")
    assert answer["Content-Type"] == "text/csv"


def test_sends_no_file_to_whose_role_was_taken_back(task: Task) -> None:
    study = make.study(task.benchmark)
    job, client = made_file(study, "editor")
    study.memberships.all().delete()
    assert client.get(f"/api/jobs/{job.pk}/file/").status_code == 404


def test_sends_pay_to_owners_alone(task: Task) -> None:
    job, client = made_file(make.study(task.benchmark), "editor", with_pay=True)
    assert client.get(f"/api/jobs/{job.pk}/file/").status_code == 403

"""The page of a benchmark that runs a model, and the job that it orders."""

import sys
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.access.rights import give_role
from annotation.jobs import queue
from annotation.models import Benchmark, Job, JobState
from scoring.asking.asking import Tally, Tell, ask_model
from scoring.models import Reply, Run, RunState
from tests import make
from tests.scoring.asking.endpoint import Endpoint, Said, endpoint
from tests.scoring.asking.ranking_model import RankingModel

pytestmark = pytest.mark.django_db

MODEL = "toy@http://127.0.0.1:1/v1"
FIELDS = {
    "model": MODEL,
    "shots": ["0"],
    "format": "icl",
    "answers": "text",
    "temperature": "0",
    "seed": "3",
    "max_tokens": "20",
}


@pytest.fixture(autouse=True)
def offered(settings: Any) -> None:
    settings.MODELS = {MODEL: (1.0, 2.0)}


def offer(settings: Any, served: Endpoint) -> str:
    model = f"toy@{served.url}"
    settings.MODELS = {model: (1.0, 2.0)}
    return model


def sent(client: Client, benchmark: Benchmark, button: str = "run", **fields: Any) -> Any:
    form = {**FIELDS, "tasks": [task.slug for task in benchmark.tasks.all()], button: "1"}
    address = reverse("admin:scoring_run_ask", args=[benchmark.pk])
    return client.post(address, {**form, **fields})


def signed_in(benchmark: Benchmark, role: str = "editor") -> Client:
    client = Client()
    client.force_login(make.member(benchmark, role))
    return client


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where requirements-asking.txt alone is installed."""
    for name in ("torch", "transformers", "accelerate", "scoring.asking.folder"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("without_torch")
def test_runs_a_model_as_a_job(settings: Any) -> None:
    benchmark = make.task(training=3, tests=4).benchmark
    client = signed_in(benchmark)
    with endpoint(lambda *_: Said("good")) as served:
        response = sent(client, benchmark, model=offer(settings, served))
        job = Job.objects.get()
        assert response["Location"] == reverse("admin:annotation_job_change", args=[job.pk])
        queue.run_job(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.DONE, job.message
    assert job.message == "4 of 4 answers; 400 tokens read, 20 written; 0.0004 USD"
    run = Run.objects.get()
    assert (run.owner, run.shots, run.coverage) == (job.author, 0, 1)
    page = client.get(reverse("admin:scoring_run_change", args=[run.pk])).content.decode()
    assert "stand-in-2026-11-01" in page
    assert "Cost: 0.0004" in page
    assert client.get(response["Location"]).status_code == 200


def test_shows_prompts_and_cost_before_anything_is_asked() -> None:
    task = make.task(training=3, tests=4)
    client = signed_in(task.benchmark)
    page = sent(client, task.benchmark, "show", shots=["0", "3"]).content.decode()
    assert "8 prompts in 2 runs; 8 to be asked." in page
    assert "USD to read" in page
    assert task.description in page
    assert not Job.objects.exists()


def test_stops_and_takes_up_again(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = make.task(training=0, tests=30).benchmark
    client = signed_in(benchmark)

    def stopped_soon(*arguments: Any, tell: Tell, **options: Any) -> Tally:
        def tell_and_stop(tally: Tally, at: str) -> None:
            Job.objects.update(cancel_requested=tally.answered > 0)
            tell(tally, at)

        return ask_model(*arguments, tell=tell_and_stop, **options)

    monkeypatch.setattr("scoring.asking.tasks.EVERY_S", 0)
    with endpoint(lambda *_: Said("good")) as served:
        model = offer(settings, served)
        sent(client, benchmark, model=model)
        with monkeypatch.context() as patched:
            patched.setattr("scoring.asking.tasks.ask_model", stopped_soon)
            queue.run_job(Job.objects.get().pk)
        stopped = Job.objects.get()
        assert stopped.state == JobState.CANCELLED
        assert stopped.message.startswith(f"Stopped: {Reply.objects.count()} of 30 answers; ")
        assert Run.objects.get().state == RunState.UPLOADING
        assert 0 < len(served.requests) < 30
        sent(client, benchmark, model=model)
        queue.run_job(Job.objects.latest("pk").pk)
    assert Job.objects.latest("pk").state == JobState.DONE
    assert len(served.requests) == 30, "nothing twice"
    assert Run.objects.get().coverage == 1


def test_stops_at_the_budget_and_shows_what_was_spent(settings: Any) -> None:
    """A prompt costs 0.00011 USD, but may cost more: 20 tokens written, and an estimate of those
    that are read."""
    benchmark = make.task(training=0, tests=30).benchmark
    client = signed_in(benchmark)
    with endpoint(lambda *_: Said("good")) as served:
        model = offer(settings, served)
        sent(client, benchmark, model=model, budget="0.001")
        address = reverse("admin:scoring_run_ask", args=[benchmark.pk])
        before = client.get(address).content.decode()
        assert "1 USD for a million tokens read, 2 written" in before
        assert "0 of 0" in before, "it is under way"
        queue.run_job(Job.objects.get().pk)
    job, run = Job.objects.get(), Run.objects.get()
    assert (job.state, run.state) == (JobState.CANCELLED, RunState.UPLOADING)
    assert "does not pay for another prompt" in job.message
    assert "of 0.001 USD" in job.message
    answered = Reply.objects.count()
    assert 0 < answered < 10
    spent = benchmark.spending.get()
    assert (spent.author, spent.usd) == (job.author, pytest.approx(0.00011 * answered))
    assert spent.usd <= 0.001
    page = client.get(address).content.decode()
    assert "Spent so far" in page
    assert f"{spent.usd:.4f}" in page
    assert job.author.username in page
    assert "Under way" not in page


def test_takes_a_job_up_again_with_what_is_left_of_its_budget(settings: Any) -> None:
    benchmark = make.task(training=0, tests=3).benchmark
    with endpoint(lambda *_: Said("good")) as served:
        sent(signed_in(benchmark), benchmark, model=offer(settings, served), budget="1")
        job = Job.objects.get()
        benchmark.spending.create(author=job.author, model="toy", usd=0.99999)
        queue.run_job(job.pk)
        assert not served.requests
    job.refresh_from_db()
    assert "does not pay for another prompt" in job.message


@pytest.mark.usefixtures("without_torch")
def test_ranks_options_from_the_page(settings: Any) -> None:
    benchmark = make.task(training=0, tests=2).benchmark
    client = signed_in(benchmark)
    with endpoint(documents=RankingModel().echoing) as served:
        sent(client, benchmark, model=offer(settings, served), answers="likelihood")
        queue.run_job(Job.objects.get().pk)
    assert Job.objects.get().state == JobState.DONE, Job.objects.get().message
    assert Run.objects.get().system == "toy, by likelihood"


def test_has_no_budget_for_a_model_without_a_price(settings: Any) -> None:
    benchmark = make.task(training=0, tests=2).benchmark
    settings.MODELS = {MODEL: None}
    page = sent(signed_in(benchmark), benchmark, budget="1").content.decode()
    assert "its price is not known" in page
    assert "which are not known" in page


def test_orders_the_same_only_once_at_a_time() -> None:
    benchmark = make.task(training=0).benchmark
    client = signed_in(benchmark)
    first, second = (sent(client, benchmark)["Location"] for _ in range(2))
    assert first == second
    assert Job.objects.count() == 1


def test_asks_by_the_study_and_the_templates_that_are_chosen(settings: Any) -> None:
    batch = make.running_batch(zero_shot=True, tests=2)
    benchmark = batch.study.benchmark
    client = signed_in(benchmark)
    client.force_login(make.researcher("both"))
    for thing in (benchmark, batch.study):
        thing.memberships.create(user_id=client.session["_auth_user_id"], role="editor")
    text = (
        f'{{"{batch.task.slug}": {{"question": "Good?", "joining": "{{question}} {{options}}"}}}}'
    )
    templates = SimpleUploadedFile("templates.json", text.encode())
    with endpoint(lambda *_: Said("(B) good")) as served:
        sent(
            client,
            benchmark,
            model=offer(settings, served),
            study=batch.study.pk,
            format="unifew",
            templates=templates,
        )
        queue.run_job(Job.objects.get().pk)
    assert set(served.prompts) == {"Good? (A) bad  (B) good "}
    assert Run.objects.get().report["prompts"]["study"] == batch.study.slug


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"tasks": []}, "This field is required"),
        ({"budget": "0"}, "a budget more than 0 USD"),
        ({"answers": "likelihood", "format": "chat"}, "ranked after a plain text"),
        ({"episodes": "one"}, "Write numbers of episodes"),
        ({"model": "openai/other"}, "Select a valid choice"),
        ({"format": "unifew"}, "UniFew&#x27;s wording for the task"),
        ({"splits": ["1"]}, "has no such sets"),
    ],
)
def test_says_what_is_wrong_and_keeps_what_was_written(
    fields: dict[str, Any], sentence: str
) -> None:
    benchmark = make.task(training=3).benchmark
    response = sent(signed_in(benchmark), benchmark, **fields)
    page = response.content.decode()
    assert sentence in page
    assert 'value="20"' in page
    assert not Job.objects.exists()


def test_runs_nothing_for_somebody_who_has_lost_the_role(settings: Any) -> None:
    benchmark = make.task(training=0).benchmark
    client = signed_in(benchmark)
    with endpoint(lambda *_: Said("good")) as served:
        sent(client, benchmark, model=offer(settings, served))
        job = Job.objects.get()
        give_role(benchmark, job.author, None, by=make.member(benchmark))
        queue.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, served.requests) == (JobState.FAILED, [])
    assert "may no longer run models" in job.message


def test_asks_no_model_that_is_no_longer_offered(settings: Any) -> None:
    benchmark = make.task(training=0).benchmark
    sent(signed_in(benchmark), benchmark)
    settings.MODELS = {}
    queue.run_job(Job.objects.get().pk)
    assert "is not offered here any more" in Job.objects.get().message


def test_says_who_must_do_what_where_no_model_is_offered(settings: Any) -> None:
    benchmark = make.task(training=0).benchmark
    settings.MODELS = {}
    address = reverse("admin:scoring_run_ask", args=[benchmark.pk])
    page = signed_in(benchmark).get(address).content.decode()
    assert "environment variable MODELS" in page
    assert 'name="run"' not in page


def test_is_reached_from_the_page_of_the_benchmark() -> None:
    benchmark = make.task(training=0).benchmark
    address = reverse("scoring:systems", args=[benchmark.name])
    page = signed_in(benchmark).get(address).content.decode()
    assert reverse("admin:scoring_run_ask", args=[benchmark.pk]) in page

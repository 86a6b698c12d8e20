"""A study over the API: made, read, changed, started, closed, rehearsed."""

import json
import tomllib
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.models import Benchmark, Change, Job, Study, StudyState, clock
from annotation.studies.study_file.writing import study_as_toml
from tests import make
from tests.annotation.api.token_client import token_client
from tests.together import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Benchmark:
    made = make.task(slug="sst2").benchmark
    make.channel()
    return made


@pytest.fixture
def user(benchmark: Benchmark) -> User:
    return make.member(benchmark, "owner")


@pytest.fixture
def client(user: User) -> APIClient:
    return token_client(user)


def content(benchmark: Benchmark, **study: Any) -> dict[str, Any]:
    return {
        "study": {
            **{"name": "nurses", "title": "Nurses", "benchmark": benchmark.name},
            **{"channel": "link", "consent": "We store your answers."},
            **study,
        },
        "batches": [{"tasks": ["sst2"], "shots": [3], "people": 3}],
    }


def made(client: APIClient, benchmark: Benchmark, **study: Any) -> str:
    """The address of a draft."""
    answer = client.post("/api/studies/", content(benchmark, **study), format="json")
    assert answer.status_code == 201, answer.content
    return "/api/studies/nurses/"


def test_makes_a_draft_that_its_file_says(client: APIClient, benchmark: Benchmark) -> None:
    address = made(client, benchmark)
    study = Study.objects.get(slug="nurses")
    assert study.batches.get().wanted == 3
    file = client.get(f"{address}?format=toml")
    assert file.content.decode() == study_as_toml(study)
    told = json.loads(json.dumps(tomllib.loads(file.content.decode()), default=str))
    assert client.get(address).json() == told
    assert client.get(address)["ETag"] == file["ETag"]


def test_lists_ones_own(client: APIClient, benchmark: Benchmark) -> None:
    made(client, benchmark)
    make.study(make.benchmark())
    assert [one["name"] for one in client.get("/api/studies/").json()["results"]] == ["nurses"]


@pytest.mark.parametrize(
    ("given", "key", "said"),
    [
        ({"study": {"nam": "x"}}, "study.nam", "did you mean “name”?"),
        ({"study": []}, "study", "This is a table of keys"),
        ({"study": {"name": 3}}, "study.name", "This is a text between quotes, not 3."),
        ({}, "study", "A study needs its name"),
        ({"study": {"name": "x", "title": "X", "benchmark": "no"}}, "study.benchmark", "There is"),
        ({"study": {"name": "\ud800"}}, "study.name", "This is a text between quotes"),
        ({"study": {"consent_file": "/etc/passwd"}}, "study", "A study needs its name"),
        ([], "detail", "Send an object"),
        ("text", "detail", "Send an object"),
    ],
)
def test_refuses_bad_content_by_its_key(client: APIClient, given: Any, key: str, said: str) -> None:
    sent = json.dumps(given)
    answer = client.post("/api/studies/", sent, content_type="application/json")
    assert answer.status_code == 400
    told = answer.json()[key]
    assert said in (told if isinstance(told, str) else told[0])
    assert not Study.objects.exists()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ("[" * 100_000, 400),
        ('{"study": {"a": ' * 900 + "1" + "}}" * 900, 400),
        ('{"study": {"seed": ' + "9" * 5_000 + "}}", 400),
        ('{"study": {"seed": NaN}}', 400),
        ('{"study": "' + "x" * 2_600_000 + '"}', 413),
    ],
)
def test_refuses_deep_and_huge_content(client: APIClient, sent: str, status: int) -> None:
    answer = client.post("/api/studies/", sent, content_type="application/json")
    assert answer.status_code == status, answer.content
    assert not Study.objects.exists()


def test_keeps_to_benchmarks_whose_gold_one_may_see(client: APIClient) -> None:
    others = make.task(slug="sst2").benchmark
    answer = client.post("/api/studies/", content(others), format="json")
    assert answer.status_code == 400
    assert "study.benchmark" in answer.json()


def test_makes_no_second_study_of_a_name(client: APIClient, benchmark: Benchmark) -> None:
    address = made(client, benchmark)
    before = client.get(address).json()
    answer = client.post("/api/studies/", content(benchmark, title="Other"), format="json")
    assert "already" in answer.json()["study.name"][0]
    assert client.get(address).json() == before


def test_deletes_a_draft_alone(client: APIClient, benchmark: Benchmark) -> None:
    address = made(client, benchmark)
    client.post(f"{address}rehearse/")
    assert client.delete(address).status_code == 204
    assert not Study.objects.filter(slug="nurses").exists()
    started = make.running_batch().study
    owner = token_client(make.member(started, "owner"))
    answer = owner.delete(f"/api/studies/{started.slug}/")
    assert (answer.status_code, "close it instead" in answer.json()["detail"]) == (409, True)


# Changing


def test_replaces_what_was_read(client: APIClient, benchmark: Benchmark) -> None:
    address = made(client, benchmark, contact="ann@example.org")
    version = client.get(address)["ETag"]
    sent = content(benchmark, title="Doctors")
    answer = client.put(address, sent, format="json", headers={"If-Match": version})
    assert answer.status_code == 200
    assert answer.json()["study"]["title"] == "Doctors"
    assert "contact" not in answer.json()["study"]
    assert answer["ETag"] == client.get(address)["ETag"] != version


@pytest.mark.parametrize(("sent", "status"), [({}, 428), ({"If-Match": '"other"'}, 412)])
@pytest.mark.parametrize("method", ["put", "patch"])
def test_changes_only_what_was_read(
    client: APIClient, benchmark: Benchmark, method: str, sent: dict[str, str], status: int
) -> None:
    address = made(client, benchmark)
    given = content(benchmark, title="Doctors")
    answer = getattr(client, method)(address, given, format="json", headers=sent)
    assert answer.status_code == status
    assert Study.objects.get(slug="nurses").title == "Nurses"


@pytest.mark.parametrize("said", ["W/{}", '"another", {}', "*"])
def test_takes_versions_as_http_names_them(
    client: APIClient, benchmark: Benchmark, said: str
) -> None:
    """Marked as weak by a proxy, among others, or whichever there is."""
    address = made(client, benchmark)
    version = {"If-Match": said.format(client.get(address)["ETag"])}
    sent = {"study": {"title": "Doctors"}}
    assert client.patch(address, sent, format="json", headers=version).status_code == 200


def test_changes_the_keys_that_are_named(client: APIClient, benchmark: Benchmark) -> None:
    address = made(client, benchmark, contact="ann@example.org", question="Do they?")
    version = {"If-Match": client.get(address)["ETag"]}
    sent = {"study": {"contact": None}, "pay": {"hourly_rate": 15}}
    answer = client.patch(address, sent, format="json", headers=version).json()
    assert answer["pay"]["hourly_rate"] == 15
    assert answer["study"]["question"] == "Do they?"
    assert "contact" not in answer["study"]
    assert Study.objects.get(slug="nurses").batches.count() == 1


def test_leaves_a_study_its_name(client: APIClient, benchmark: Benchmark) -> None:
    address = made(client, benchmark)
    version = {"If-Match": client.get(address)["ETag"]}
    sent = content(benchmark, name="doctors")
    answer = client.put(address, sent, format="json", headers=version)
    assert answer.json() == {"study.name": ["This is the study nurses: leave its name as it is."]}


def test_changes_nothing_that_has_started(user: User) -> None:
    study = make.running_batch().study
    study.memberships.create(user=user, role="editor")
    client, address = token_client(user), f"/api/studies/{study.slug}/"
    version = {"If-Match": client.get(address)["ETag"]}
    sent = {"pay": {"hourly_rate": 1}}
    answer = client.patch(address, sent, format="json", headers=version)
    assert answer.status_code == 409
    assert "frozen" in answer.json()["detail"]


@pytest.mark.parametrize(("pay", "codes"), [(True, 7), (False, 0)])
def test_shows_codes_to_tokens_that_may_pay(
    user: User, benchmark: Benchmark, pay: bool, codes: int
) -> None:
    """They are worth money. Without them the file says the same study."""
    address = made(token_client(user), benchmark)
    client = token_client(user, pay=pay)
    read = client.get(address)
    page = reverse("annotation:study_file", args=["nurses"])
    shown = [read.content, *(client.get(one).content for one in (f"{address}?format=toml", page))]
    assert [one.count(b"code") for one in shown] == [codes] * 3
    version = {"If-Match": read["ETag"]}
    put = client.put(address, read.json(), format="json", headers=version)
    assert (put.content, put["ETag"]) == (read.content, read["ETag"])
    for page in ("start", "settings"):
        answer = client.get(reverse(f"annotation:{page}", args=["nurses"]))
        assert answer.status_code == (200 if pay else 403)


# Its life


def test_says_what_a_start_lacks(client: APIClient, benchmark: Benchmark) -> None:
    address = made(client, benchmark, consent="")
    answer = client.post(f"{address}start/")
    assert answer.status_code == 409
    assert "The consent text is empty: write one." in answer.json()["missing"]
    assert Study.objects.get(slug="nurses").state == StudyState.DRAFT


def test_goes_through_the_states_once_each(user: User) -> None:
    study = make.running_batch().study
    study.memberships.create(user=user, role="editor")
    client, address = token_client(user), f"/api/studies/{study.slug}/"
    acts = ["start", "pause", "pause", "resume", "close", "close"]
    statuses = [client.post(f"{address}{act}/").status_code for act in acts]
    assert statuses == [409, 200, 409, 200, 200, 409]
    assert Change.objects.filter(token=f"{user}'s 1").count() == 3


def test_says_before_a_start_what_it_lacks_and_what_to_know(
    client: APIClient, benchmark: Benchmark
) -> None:
    address = made(client, benchmark, consent="")
    Study.objects.update(currency="XYZ")
    told = client.get(f"{address}start/").json()
    assert "The consent text is empty: write one." in told["missing"]
    assert "“XYZ” is no currency" in " ".join(told["warnings"])
    Study.objects.update(screening_reason="Whoever comes is welcome.", consent_text="We store.")
    ready = client.get(f"{address}start/").json()
    assert ready == {"missing": [], "warnings": told["warnings"]}
    assert client.post(f"{address}start/").json()["warnings"] == told["warnings"]
    assert client.get(f"{address}start/").status_code == 409


def test_says_at_a_closing_who_may_still_send_a_page(user: User) -> None:
    batch = make.running_batch()
    batch.study.memberships.create(user=user, role="editor")
    make.at_work(batch, at=clock.now())
    client, address = token_client(user), f"/api/studies/{batch.study.slug}/"
    paused = client.post(f"{address}pause/").json()
    assert (paused["working"], paused["sends_until"]) == (1, None)
    closed = client.post(f"{address}close/").json()
    assert (closed["working"], closed["sends_until"] > closed["closed_at"]) == (1, True)
    assert client.get(f"{address}progress/").json()["sends_until"] == closed["sends_until"]


def test_starts_what_lacks_nothing(client: APIClient, benchmark: Benchmark) -> None:
    address = made(client, benchmark)
    Study.objects.update(screening_reason="Whoever comes is welcome.")
    answer = client.post(f"{address}start/")
    assert answer.status_code == 200, answer.content
    assert answer.json()["state"] == "open"
    [link] = answer.json()["links"].values()
    assert f"/join/{Study.objects.get().join_token}/" in link
    assert client.get(f"{address}progress/").json()["links"] == answer.json()["links"]
    assert client.post(f"{address}start/").status_code == 409


def test_rehearses_a_draft(client: APIClient, benchmark: Benchmark) -> None:
    address = made(client, benchmark)
    answer = client.post(f"{address}rehearse/")
    assert answer.status_code == 202, answer.content
    rehearsal = Study.objects.get(slug=answer.json()["study"])
    assert rehearsal.is_rehearsal
    assert Job.objects.get(pk=answer.json()["job"]).arguments["study"] == rehearsal.pk


def test_has_nothing_for_strangers_and_little_for_viewers(benchmark: Benchmark) -> None:
    study = make.study(benchmark)
    address = f"/api/studies/{study.slug}/"
    hidden, missing = (
        token_client(make.researcher()).get(where) for where in (address, "/api/studies/none/")
    )
    assert hidden.status_code == missing.status_code == 404
    assert hidden.content == missing.content
    viewer = token_client(make.member(study, "viewer"))
    assert viewer.get(address).status_code == 403
    assert viewer.get(f"{address}progress/").json()["links"] == {}
    assert APIClient().get(address).status_code == 401


# At the same moment


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_takes_one_of_several_changes_of_the_same_version() -> None:
    study = make.study(make.task().benchmark)
    user = make.member(study)
    clients = [token_client(user) for _ in range(3)]
    address = f"/api/studies/{study.slug}/"
    version = {"If-Match": clients[0].get(address)["ETag"]}

    def change(number: int) -> int:
        sent = {"study": {"title": f"Title {number}"}}
        answer = clients[number].patch(address, sent, format="json", headers=version)
        return int(answer.status_code)

    assert sorted(at_once(change, 3)) == [200, 412, 412]


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_closes_once_for_several_who_ask_at_once() -> None:
    study = make.running_batch().study
    clients = [token_client(make.member(study)) for _ in range(3)]
    address = f"/api/studies/{study.slug}/close/"
    statuses = at_once(lambda number: int(clients[number].post(address).status_code), 3)
    assert sorted(statuses) == [200, 409, 409]
    assert study.changes.filter(action="closed").count() == 1


@pytest.mark.both_databases
@pytest.mark.django_db
def test_makes_and_reads_on_both_databases(client: APIClient, benchmark: Benchmark) -> None:
    address = made(client, benchmark)
    assert client.get(f"{address}progress/").json()["wanted"] == 3
    assert client.get(f"{address}assignments/").getvalue() == b""
    assert client.get("/api/jobs/99999999999999999999/").status_code == 404

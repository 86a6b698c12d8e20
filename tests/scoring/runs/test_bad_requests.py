"""What no client should send is refused in JSON, with one sentence."""

import json

import pytest
import yaml
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.authtoken.models import Token

from scoring.models import Run
from scoring.runs.api import RunViewSet
from tests.scoring.runs.runs_from import toy_benchmark

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(client: Client) -> Client:
    user = User.objects.create_user("anna")
    client.defaults["HTTP_AUTHORIZATION"] = f"Token {Token.objects.create(user=user).key}"
    client.raise_request_exception = False
    return client


def sentence(client: Client, body: str | bytes, content_type: str, status: int) -> str:
    response = client.post("/api/runs/", body, content_type=content_type)
    assert (response.status_code, response["Content-Type"]) == (status, "application/json")
    return str(response.json()["detail"])


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_refuses_deep_json(api: Client, opening: str) -> None:
    assert "nested" in sentence(api, opening * 100_000, "application/json", 400)


FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize("content_type", ["application/json", FORM])
def test_refuses_a_body_beyond_the_limit(api: Client, content_type: str) -> None:
    body = (
        json.dumps({"system": "x" * 3_000_000})
        if "json" in content_type
        else "a=" + "x" * 3_000_000
    )
    assert "2.5 MB" in sentence(api, body, content_type, 413)


@pytest.mark.both_databases
@pytest.mark.parametrize("name", ["benchmark", "task", "system", "state"])
def test_finds_nothing_under_a_name_with_a_nul(api: Client, name: str) -> None:
    assert api.get("/api/runs/", {name: "a\0b"}).status_code in (200, 400)


@pytest.mark.both_databases
@pytest.mark.parametrize("field", ["system", "parameters", "citation", "url", "task", "benchmark"])
def test_refuses_a_nul_in_a_field(api: Client, field: str) -> None:
    response = api.post("/api/runs/", json.dumps({field: "a\0b"}), content_type="application/json")
    assert response.status_code == 400
    assert field in response.json()


@pytest.mark.parametrize("method", ["get", "post", "put", "delete", "options"])
@pytest.mark.parametrize(
    "address", ["nowhere/", "nowhere", "runs/x/", "runs/1/nothing/", "\u202e/"]
)
def test_finds_nothing_at_other_addresses(address: str, method: str, api: Client) -> None:
    response = getattr(api, method)(f"/api/{address}")
    assert (response.status_code, response["Content-Type"]) == (404, "application/json")
    assert response.json() == {"detail": "There is nothing at this address."}


def test_says_that_the_slash_is_missing_where_a_body_would_be_lost(api: Client) -> None:
    response = api.post("/api/runs", "{}", content_type="application/json")
    assert (response.status_code, "slash" in response.json()["detail"]) == (404, True)
    assert api.get("/api/runs?task=a").headers["Location"] == "/api/runs/?task=a"


def test_says_in_json_that_something_failed(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunViewSet, "get_queryset", lambda view: 1 / 0)
    response = api.get("/api/runs/")
    assert (response.status_code, response["Content-Type"]) == (500, "application/json")
    assert "Something failed" in response.json()["detail"]


def test_refuses_another_host_in_json(api: Client) -> None:
    response = api.get("/api/runs/", HTTP_HOST="evil.example")
    assert (response.status_code, response["Content-Type"]) == (400, "application/json")


NEW = {"benchmark": "toy", "task": "names", "system": "A", "method": "FT", "shots": 3, "split": 1}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("system", 7), ("system", ""), ("system", "x" * 201), ("parameters", 110)),
        *(("task", 7), ("shots", "3"), ("shots", -1), ("shots", 2**31), ("shots", True)),
        *(("split", "1"), ("split", True), ("split", -1), ("split", 2**31), ("split", 0.5)),
        *(("uses_labelled", "true"), ("uses_labelled", 1), ("url", "x" * 501)),
    ],
)
def test_refuses_what_the_schema_forbids(api: Client, field: str, value: object) -> None:
    toy_benchmark()
    response = api.post("/api/runs/", {**NEW, field: value}, content_type="application/json")
    assert (response.status_code, list(response.json())) == (400, [field])
    assert not Run.objects.exists()


@pytest.mark.both_databases
def test_takes_what_the_schema_allows(api: Client) -> None:
    toy_benchmark()
    run = {**NEW, "shots": "all", "split": 1.0, "episode": None, "uses_labelled": None, "url": ""}
    response = api.post("/api/runs/", run, content_type="application/json")
    assert response.status_code == 201, response.content
    address = f"/api/runs/{response.json()['id']}/predictions/"
    for identity, status in ((True, 400), (1.5, 400), ([], 400), ("test 1", 200)):
        piece = {"predictions": [{"id": identity, "prediction": ["Anna"]}]}
        sent = api.post(address, piece, content_type="application/json")
        assert sent.status_code == status, identity
    assert (
        api.post(address, {"predictions": []}, content_type="application/json").status_code == 400
    )


def test_takes_json_alone(api: Client) -> None:
    assert "media type" in sentence(api, "system=A", FORM, 415)


def test_the_schema_names_every_answer(api: Client) -> None:
    paths = yaml.safe_load(api.get("/api/schema/").content)["paths"]
    statuses = {
        f"{method} {path.removeprefix('/api/runs/')}": "".join(
            f" {s}" for s in sorted(act["responses"])
        )
        for path, methods in paths.items()
        if path.startswith("/api/runs/")
        for method, act in methods.items()
    }
    assert statuses == {
        "get ": " 200 400 401 404 429",
        "post ": " 201 400 401 403 409 413 415 429",
        "get {id}/": " 200 400 401 404 429",
        "delete {id}/": " 204 400 401 403 404 409 429",
        "post {id}/predictions/": " 200 400 401 403 404 409 413 415 429",
        "post {id}/finish/": " 200 400 401 403 404 409 413 415 429",
        "get {id}/scores/": " 200 400 401 404 409 429",
    }


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 200), ("page=1", 200), ("page=", 404), ("page=last", 404), ("page=2&page=1", 404)],
)
def test_has_pages_by_their_number_alone(api: Client, query: str, status: int) -> None:
    assert api.get(f"/api/runs/?{query}").status_code == status

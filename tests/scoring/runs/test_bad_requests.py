"""What no client should send is refused in JSON, with one sentence."""

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.authtoken.models import Token

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


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


@pytest.mark.parametrize("name", ["benchmark", "task", "system", "state"])
def test_finds_nothing_under_a_name_with_a_nul(api: Client, name: str) -> None:
    assert api.get("/api/runs/", {name: "a\0b"}).status_code in (200, 400)


@pytest.mark.parametrize("field", ["system", "parameters", "citation", "url", "task", "benchmark"])
def test_refuses_a_nul_in_a_field(api: Client, field: str) -> None:
    response = api.post("/api/runs/", json.dumps({field: "a\0b"}), content_type="application/json")
    assert response.status_code == 400
    assert field in response.json()

"""Whoever tries many names from one address."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

pytestmark = pytest.mark.django_db


def sign_in(name: str, password: str = "wrong", address: str = "203.0.113.9") -> int:
    client = Client(REMOTE_ADDR=address)
    return client.post("/admin/login/", {"username": name, "password": password}).status_code


def test_slows_forty_names_from_one_address() -> None:
    answers = [sign_in(f"name{number}") for number in range(40)]
    assert answers[:30] == [200] * 30
    assert set(answers[30:]) == {429}
    assert sign_in("name", address="203.0.113.10") == 200


def test_slows_tokens_too(client: Client) -> None:
    answers = [
        client.get("/api/schema/", headers={"Authorization": f"Token {number}"})
        for number in range(31)
    ]
    assert [answer.status_code for answer in answers] == [401] * 30 + [429]
    assert int(answers[-1]["Retry-After"]) > 0
    assert "try again in" in answers[-1].json()["detail"]


def test_says_when_to_try_again() -> None:
    for number in range(30):
        sign_in(f"name{number}")
    response = Client(REMOTE_ADDR="203.0.113.9").post("/admin/login/", {})
    assert int(response["Retry-After"]) > 0
    assert "Too many attempts to sign in" in response.content.decode()
    assert "Content-Security-Policy" in response.headers


def test_does_not_count_who_signs_in(settings: Settings) -> None:
    User.objects.create_superuser("ann", password="right")
    assert {sign_in("ann", "right") for _ in range(40)} == {302}

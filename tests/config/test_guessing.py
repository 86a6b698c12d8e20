"""Whoever tries many names from one address."""

from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
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


# A laboratory behind one address


def test_takes_the_right_password_after_many_wrong_ones_from_the_same_address() -> None:
    User.objects.create_superuser("ann", password="right")
    for number in range(40):
        sign_in(f"name{number}")
    assert sign_in("ann", "wrong") == 429
    assert sign_in("ann", "right") == 302


def test_lets_a_name_wait_a_minute_at_an_address_and_nobody_else(settings: Settings) -> None:
    settings.AXES_ENABLED = True
    for name in ("ann", "ben"):
        User.objects.create_superuser(name, password="right")
    assert [sign_in("ann") for _ in range(10)][:9] == [200] * 9
    # As long as it waits, its own right password does not help, and no longer than that.
    assert sign_in("ann", "right") == 429
    assert sign_in("ben", "right") == 302
    assert sign_in("ann", "right", address="203.0.113.10") == 302
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(seconds=61))
    assert sign_in("ann", "right") == 302


def test_is_no_longer_locked_by_whoever_goes_on_guessing(settings: Settings) -> None:
    settings.AXES_ENABLED = True
    User.objects.create_superuser("ann", password="right")
    for _ in range(10):
        sign_in("ann")
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(seconds=59))
    before = AccessAttempt.objects.get().attempt_time
    sign_in("ann")
    assert AccessAttempt.objects.get().attempt_time == before


def test_slows_guesses_of_one_name_from_many_addresses(settings: Settings) -> None:
    settings.AXES_ENABLED = True
    settings.THROTTLES = {**settings.THROTTLES, "failed_sign_ins_per_name": 20}
    User.objects.create_superuser("ann", password="right")
    User.objects.create_superuser("ben", password="right")
    at_home = "198.51.100.7"
    assert sign_in("ann", "right", address=at_home) == 302
    answers = [sign_in("ann", address=f"203.0.113.{number}") for number in range(25)]
    assert answers == [200] * 20 + [429] * 5
    assert sign_in("ann", "right", address="203.0.113.99") == 429
    assert sign_in("ben", "right", address="203.0.113.99") == 302
    # Where ann has signed in before, nobody else's guesses keep her out.
    assert sign_in("ann", "right", address=at_home) == 302


def test_looks_at_no_password_in_a_flood(settings: Settings) -> None:
    settings.AXES_ENABLED = True
    settings.THROTTLES = {**settings.THROTTLES, "failed_sign_ins_per_address": 2}
    for name in ("ann", "ben"):
        User.objects.create_superuser(name, password="right")
    assert sign_in("ann", "right") == 302
    for number in range(20):
        sign_in(f"name{number}")
    assert sign_in("ben", "right") == 429
    assert sign_in("ann", "right") == 302

"""What a visitor of `make run` sees where something is missing or broken."""

from typing import Any

import pytest
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from pytest_django import Settings

from config.urls import urlpatterns as all_pages

pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]


@login_not_required
def break_down(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("a secret of the code")


urlpatterns = [*all_pages, path("broken/", break_down)]
PROGRAMMERS = "DEBUG = True"


def told(address: str, **options: Any) -> tuple[int, str]:
    response = Client(raise_request_exception=False).get(address, **options)
    return response.status_code, response.content.decode()


@pytest.mark.parametrize("accept", ["text/html", "*/*"])
def test_shows_our_own_pages(accept: str) -> None:
    status, page = told("/nowhere/", HTTP_ACCEPT=accept)
    assert (status, "There is nothing at this address." in page) == (404, True)
    status, page = told("/broken/", HTTP_ACCEPT=accept)
    assert status == 500
    for word in (PROGRAMMERS, "a secret of the code", "Traceback"):
        assert word not in page


def test_shows_a_wrong_host_nothing_of_the_settings() -> None:
    status, page = told("/", HTTP_HOST="evil.example")
    assert (status, PROGRAMMERS in page, "ALLOWED_HOSTS" in page) == (400, False, False)


def test_says_of_a_form_that_is_too_long_what_to_do(settings: Settings) -> None:
    form = {"text": "x" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)}
    response = Client(raise_request_exception=False).post("/admin/login/", form)
    page = response.content.decode()
    assert (response.status_code, PROGRAMMERS in page) == (400, False)
    assert "go back, shorten it" in page


def test_shows_programmers_theirs_when_asked_for(settings: Settings) -> None:
    settings.DEBUG = True
    assert PROGRAMMERS in told("/nowhere/")[1]
    assert "a secret of the code" in told("/broken/")[1]

import pytest
from django.test import Client
from pytest_django import Settings

PAGES = ["/healthz", "/admin/login/", "/api/schema/", "/nothing-here"]


def policy(client: Client, page: str) -> dict[str, set[str]]:
    header = client.get(page)["Content-Security-Policy"]
    return {name: set(sources) for name, *sources in map(str.split, header.split(";"))}


@pytest.mark.django_db
@pytest.mark.parametrize("page", PAGES)
def test_sends_a_strict_policy_with_every_page(client: Client, page: str) -> None:
    assert policy(client, page) == {
        "default-src": {"'self'"},
        "img-src": {"'self'", "data:"},
        "object-src": {"'none'"},
        "base-uri": {"'none'"},
        "form-action": {"'self'"},
        "frame-ancestors": {"'none'"},
    }


@pytest.mark.django_db
def test_stands_in_no_frame_and_names_no_page_to_others(client: Client) -> None:
    response = client.get("/healthz")
    assert response["X-Frame-Options"] == "DENY"
    assert response["Referrer-Policy"] == "same-origin"
    assert response["X-Content-Type-Options"] == "nosniff"


@pytest.mark.django_db
def test_asks_whoever_is_not_known_to_sign_in(client: Client) -> None:
    assert client.get("/admin/").status_code == 302
    assert client.get("/api/schema/").status_code == 401


@pytest.mark.django_db
def test_locks_a_name_out_after_many_wrong_passwords(client: Client, settings: Settings) -> None:
    settings.AXES_ENABLED = True
    form = {"username": "admin", "password": "wrong"}
    answers = [client.post("/admin/login/", form).status_code for _ in range(11)]
    assert answers[0] == 200
    assert answers[-1] == 429

import pytest
from django.conf import settings as installed
from django.core.files.uploadedfile import SimpleUploadedFile
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
@pytest.mark.parametrize(
    "page", ["/work/submit/", "/join/x/", "/admin/login/", "/admin/annotation/benchmark/import/"]
)
def test_takes_no_large_file_of_somebody_without_an_account(
    client: Client, admin_client: Client, page: str
) -> None:
    sent = {"file": SimpleUploadedFile("large.zip", b"0" * 2_500_001)}
    client.cookies[installed.SESSION_COOKIE_NAME] = "made-up"
    response = client.post(page, sent)
    assert (response.status_code, b"it was too long" in response.content) == (400, True)
    small = client.post(page, {"file": SimpleUploadedFile("small.zip", b"0")})
    assert b"it was too long" not in small.content
    giant = client.post(page, "x", content_type="text/plain", CONTENT_LENGTH="9" * 5000)
    assert giant.status_code == 400
    if page.endswith("import/"):
        assert b"it was too long" not in admin_client.post(page, sent).content


@pytest.mark.django_db
def test_locks_a_name_out_after_many_wrong_passwords(client: Client, settings: Settings) -> None:
    settings.AXES_ENABLED = True
    form = {"username": "admin", "password": "wrong"}
    answers = [client.post("/admin/login/", form).status_code for _ in range(11)]
    assert answers[0] == 200
    assert answers[-1] == 429

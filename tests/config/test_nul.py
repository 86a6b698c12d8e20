import pytest
from django.test import Client

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.mark.parametrize("path", ["/join/a%00b/", "/resume/a%00b/", "/studies/a%00b/", "/a%00"])
def test_finds_nothing_at_an_address_with_nul(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    "path", ["/admin/annotation/study/", "/admin/annotation/study/?q=", "/plan/", "/api/runs/"]
)
def test_refuses_nul_in_a_parameter(admin_client: Client, path: str) -> None:
    response = admin_client.get(f"{path.split('?', maxsplit=1)[0]}?q=a%00b")
    assert response.status_code == 400
    assert b"NUL" in response.content

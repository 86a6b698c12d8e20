from ipaddress import ip_network

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from pytest_django import Settings

from config import env
from config.middleware import client_address, name_the_client

FORWARDED = {"X-Forwarded-For": "10.1.1.1, 203.0.113.7", "X-Forwarded-Proto": "https"}


@pytest.fixture(autouse=True)
def our_proxy(settings: Settings) -> None:
    settings.PROXIES = [ip_network("192.0.2.1"), ip_network("2001:db8::/64")]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")


def seen(rf: RequestFactory, connection: str) -> tuple[str, bool]:
    """Who is asking, and whether over TLS, to everything behind."""
    found: list[tuple[str, bool]] = []

    def behind(request: object) -> HttpResponse:
        found.append((asked.META["REMOTE_ADDR"], asked.is_secure()))
        return HttpResponse()

    asked = rf.get("/", headers=FORWARDED, REMOTE_ADDR=connection)
    name_the_client(behind)(asked)
    return found[0]


def test_takes_the_address_that_the_proxy_saw(rf: RequestFactory) -> None:
    assert client_address(rf.get("/", headers=FORWARDED)) == "203.0.113.7"


def test_takes_the_connection_where_no_proxy_wrote(rf: RequestFactory) -> None:
    assert client_address(rf.get("/", REMOTE_ADDR="203.0.113.9")) == "203.0.113.9"


@pytest.mark.parametrize("connection", ["192.0.2.1", "2001:db8::5"])
def test_believes_our_proxy(rf: RequestFactory, connection: str) -> None:
    assert seen(rf, connection) == ("203.0.113.7", True)


@pytest.mark.parametrize("connection", ["192.0.2.2", "127.0.0.1", "2001:db9::5", "", "unix:"])
def test_believes_nobody_else(rf: RequestFactory, connection: str) -> None:
    assert seen(rf, connection) == (connection, False)


def test_reads_networks_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXIES", "192.0.2.1, 10.0.0.0/8")
    assert env.networks("PROXIES", []) == [ip_network("192.0.2.1"), ip_network("10.0.0.0/8")]
    monkeypatch.setenv("PROXIES", "my-proxy")
    with pytest.raises(env.EnvironmentRefused, match="PROXIES names 'my-proxy'"):
        env.networks("PROXIES", [])

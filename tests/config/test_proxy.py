from django.test import RequestFactory

from config.proxy import client_address


def test_takes_the_address_that_the_proxy_saw(rf: RequestFactory) -> None:
    request = rf.get("/", headers={"X-Forwarded-For": "10.1.1.1, 203.0.113.7"})
    assert client_address(request) == "203.0.113.7"


def test_takes_the_connection_where_no_proxy_wrote(rf: RequestFactory) -> None:
    assert client_address(rf.get("/", REMOTE_ADDR="203.0.113.9")) == "203.0.113.9"

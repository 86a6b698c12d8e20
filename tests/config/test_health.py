from unittest.mock import patch

import pytest
from django.db import OperationalError, connection
from django.test import Client

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def test_answers_200_when_the_database_answers(client: Client) -> None:
    response = client.get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")


def test_answers_503_in_one_sentence_when_the_database_does_not(client: Client) -> None:
    with patch.object(connection, "cursor", side_effect=OperationalError("gone")):
        response = client.get("/healthz")
    assert response.status_code == 503
    assert response.content == b"The database does not answer.\n"


def test_is_never_cached(client: Client) -> None:
    assert "no-store" in client.get("/healthz")["Cache-Control"]


def test_refuses_to_be_posted_to(client: Client) -> None:
    assert client.post("/healthz").status_code == 405

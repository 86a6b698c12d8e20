from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from annotation.models import Example, Gold
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def example() -> Example:
    task = make.task(kind="spans", training=0, tests=1)
    example = task.examples.get()
    span = {"text": "Anna", "segment": 0, "start": 0}
    Gold.objects.update(alternatives=[[span, {"text": "Boris"}], []])
    return example


def address(example: Example, page: str = "correct") -> str:
    return reverse(f"admin:annotation_example_{page}", args=[example.pk])


def correct(client: Client, example: Example, gold: str) -> Any:
    return client.post(address(example), {"gold": gold, "reason": "A name was missing."})


def texts(example: Example) -> list[list[str]]:
    return example.golds.latest("version__number").alternative_texts()


def messages_of(response: Any) -> str:
    return " ".join(str(message) for message in get_messages(response.wsgi_request))


def test_adds_a_version_with_who_and_why(admin_client: Client, example: Example) -> None:
    response = correct(admin_client, example, "Anna\nBoris\n---\nmet Boris")
    assert response["Location"] == address(example, "change")
    version = example.task.latest_gold_version()
    assert (version.number, version.reason, version.author.username) == (
        2,
        "A name was missing.",
        "admin",
    )
    assert texts(example) == [["Anna", "Boris"], ["met Boris"]]


def test_keeps_the_place_of_a_piece_that_stays(admin_client: Client, example: Example) -> None:
    correct(admin_client, example, "Anna")
    gold = example.golds.latest("version__number")
    assert gold.alternatives == [[{"text": "Anna", "segment": 0, "start": 0}]]


@pytest.mark.parametrize(
    ("gold", "alternatives"),
    [("", [[]]), ("Anna\n---\n", [["Anna"], []]), ("\n Anna \n\n", [["Anna"]])],
)
def test_reads_what_is_written(
    admin_client: Client, example: Example, gold: str, alternatives: list[list[str]]
) -> None:
    correct(admin_client, example, gold)
    assert texts(example) == alternatives


def test_shows_the_gold_as_it_would_be_written(admin_client: Client, example: Example) -> None:
    page = admin_client.get(address(example)).content.decode()
    assert "Anna\nBoris\n---\n</textarea>" in page


def test_refuses_what_stands_nowhere(admin_client: Client, example: Example) -> None:
    page = correct(admin_client, example, "Nobody")
    assert page.status_code == 200
    assert "“Nobody” is not among the answers" in page.content.decode()
    assert example.task.latest_gold_version().number == 1


def test_asks_for_a_reason(admin_client: Client, example: Example) -> None:
    page = admin_client.post(address(example), {"gold": "Anna", "reason": ""})
    assert "This field is required" in page.content.decode()
    assert example.task.latest_gold_version().number == 1


def test_shows_how_the_gold_came_about(admin_client: Client, example: Example) -> None:
    correct(admin_client, example, "Anna")
    page = admin_client.get(address(example, "change")).content.decode()
    assert "Version 1: import" in page
    assert "Version 2: A name was missing. (admin)" in " ".join(page.split())

import csv
import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.models import Batch
from annotation.studies.lifecycle import close_study
from annotation.studies.people import invite
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch() -> Batch:
    make.channel("simulated")
    return make.running_batch(via="prolific", wanted=2, training=1, tests=1)


@pytest.fixture
def researcher(admin_client: Client) -> Client:
    return admin_client


def watch_url(batch: Batch) -> str:
    return reverse("annotation:watch", args=[batch.study.slug])


def test_shows_how_a_study_runs(researcher: Client, batch: Batch) -> None:
    make.worked_through(batch)
    page = researcher.get(watch_url(batch))
    assert page.status_code == 200
    text = page.content.decode()
    assert "1 of 2 places finished, 1 taken" in text
    assert "1 of 2 finished, 0 at work" in text
    assert "no-store" in page["Cache-Control"]


def test_polls_while_the_study_runs_and_stops_when_it_is_closed(
    researcher: Client, batch: Batch
) -> None:
    assert "hx-trigger" in researcher.get(watch_url(batch)).content.decode()
    close_study(batch.study, at=make.NOON)
    assert "hx-trigger" not in researcher.get(watch_url(batch)).content.decode()


def test_gives_htmx_the_figures_alone(researcher: Client, batch: Batch) -> None:
    fragment = researcher.get(watch_url(batch), headers={"HX-Request": "true"}).content.decode()
    assert fragment.strip().startswith('<div id="figures"')
    assert "<html" not in fragment


def test_names_those_whom_the_rule_would_now_drop(researcher: Client) -> None:
    batch = make.running_batch(wanted=3, training=10, max_drop=20, drop_group_size=2)
    weak = make.worked_through(batch, wrong=4)
    make.worked_through(batch)
    make.worked_through(batch)
    page = researcher.get(watch_url(batch)).content.decode()
    assert reverse("annotation:person", args=[batch.study.slug, weak.pk]) in page
    assert "the rule would drop them" in page


def test_names_nobody_by_their_external_id(researcher: Client, batch: Batch) -> None:
    make.worked_through(batch, who=make.annotator("prolific", "PERSON-7"))
    assert "PERSON-7" not in researcher.get(watch_url(batch)).content.decode()


def test_downloads_judgements(researcher: Client, batch: Batch) -> None:
    make.worked_through(batch)
    url = reverse("annotation:export_judgements", args=[batch.study.slug, "jsonl"])
    response: Any = researcher.get(url)
    lines = response.content.decode().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [0, 1]
    assert f'filename="{batch.study.slug}-judgements.jsonl"' in response["Content-Disposition"]


def test_knows_no_other_format(researcher: Client, batch: Batch) -> None:
    url = reverse("annotation:export_judgements", args=[batch.study.slug, "exe"])
    assert researcher.get(url).status_code == 404


def test_downloads_links_that_let_people_in(researcher: Client, batch: Batch) -> None:
    invite(batch.study, ["ann"])
    url = reverse("annotation:invitation_links", args=[batch.study.slug])
    response: Any = researcher.get(url)
    text = response.content.decode("utf-8-sig")
    (row,) = csv.DictReader(text.splitlines())
    assert row["id"] == "ann"
    path = row["link"].removeprefix("http://testserver")
    assert b"I agree" in Client().get(path).content


# Method, page, the permission for it, and the response to those who have it.
PAGES = [
    ("get", "watch", "view_study", 200),
    ("get", "export_judgements", "view_judgement", 200),
    ("get", "invitation_links", "view_invitation", 200),
]


def address(batch: Batch, name: str) -> str:
    arguments: dict[str, list[Any]] = {
        "watch": [batch.study.slug],
        "export_judgements": [batch.study.slug, "csv"],
        "invitation_links": [batch.study.slug],
    }
    return reverse(f"annotation:{name}", args=arguments[name])


@pytest.mark.parametrize(("method", "name", "permission", "status"), PAGES)
def test_asks_the_anonymous_to_sign_in(
    batch: Batch, method: str, name: str, permission: str, status: int
) -> None:
    response = getattr(Client(), method)(address(batch, name))
    assert response.status_code == 302
    assert response["Location"].startswith(reverse("admin:login"))


def test_needs_no_more_queries_for_more_people(
    researcher: Client, batch: Batch, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    make.worked_through(batch)
    researcher.get(watch_url(batch))
    make.worked_through(batch)
    with django_assert_max_num_queries(30):
        researcher.get(watch_url(batch))

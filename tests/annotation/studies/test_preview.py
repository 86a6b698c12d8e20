"""A preview goes through a draft's batch by the real pages, and leaves no row behind."""

import re
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse

from annotation.kinds.base import Form
from annotation.models import Batch, Kind
from annotation.studies import views
from annotation.studies.lifecycle import start_study
from tests import make

pytestmark = pytest.mark.django_db


def draft_batch(kind: str = Kind.CHOICE, **fields: Any) -> Batch:
    task = make.task(kind=kind, training=2, tests=2)
    return make.batch(make.study(task.benchmark, **fields), task)


def address(batch: Batch) -> str:
    return reverse("annotation:preview", args=[batch.pk])


def state_of(page: str) -> str:
    found = re.search(r'name="state" value="([^"]+)"', page)
    assert found, page
    return found[1]


def panel_of(page: str) -> str:
    found = re.search(r'data-panel="([^"]+)"', page)
    assert found, page
    return found[1]


def rows() -> dict[str, int]:
    """Of every table but the session's own."""
    return {
        model._meta.label: model._default_manager.count()
        for model in apps.get_models()
        if model._meta.label != "sessions.Session"
    }


def play(client: Client, batch: Batch, answer: Form) -> list[str]:
    """The panels from the description to the end."""
    page = client.get(address(batch)).content.decode()
    panels = [panel_of(page)]
    while panels[-1] != "finished":
        assert "Nothing you do here is stored" in page
        response = client.post(address(batch), {**answer, "state": state_of(page), "step": "0"})
        assert response.status_code == 200
        page = response.content.decode()
        panels.append(panel_of(page))
    return panels


@pytest.mark.parametrize("kind", Kind.values)
def test_goes_through_the_pages_of_an_annotator_and_stores_nothing(
    admin_client: Client, kind: str
) -> None:
    batch = draft_batch(kind)
    before = rows()
    assert play(admin_client, batch, make.TWO_ANSWERS[kind][0]) == [
        "description",
        *["answer", "reveal"] * 2,
        "practice-done",
        *["answer"] * 2,
        "finished",
    ]
    assert rows() == before


def test_ends_after_the_practice_where_the_floor_would(admin_client: Client) -> None:
    batch = draft_batch(min_training_score=100)
    page = admin_client.get(address(batch), {"at": "practice"}).content.decode()
    for number in ("1", "0", "1", "0"):
        sent = {"option": number, "state": state_of(page)}
        page = admin_client.post(address(batch), sent).content.decode()
        if panel_of(page) == "finished":
            break
    assert panel_of(page) == "finished"
    assert "The study ends here for you" in page


@pytest.mark.parametrize(
    ("stop", "panel"),
    [
        ("description", "description"),
        ("practice", "answer"),
        ("test", "answer"),
        ("end", "finished"),
    ],
)
def test_can_be_taken_up_at_each_part(admin_client: Client, stop: str, panel: str) -> None:
    page = admin_client.get(address(draft_batch()), {"at": stop})
    assert panel_of(page.content.decode()) == panel


def test_says_what_is_wrong_with_an_answer_and_stays(admin_client: Client) -> None:
    batch = draft_batch()
    page = admin_client.get(address(batch), {"at": "test"}).content.decode()
    refused = admin_client.post(address(batch), {"state": state_of(page)})
    assert refused.status_code == 422
    assert panel_of(refused.content.decode()) == "answer"


def test_follows_the_draft_as_it_is_now(admin_client: Client) -> None:
    batch = draft_batch()
    admin_client.get(address(batch))
    type(batch.task).objects.filter(pk=batch.task_id).update(description="Quite another text.")
    assert "Quite another text." in admin_client.get(address(batch)).content.decode()


def test_a_step_by_htmx_is_a_fragment(admin_client: Client) -> None:
    batch = draft_batch()
    page = admin_client.get(address(batch)).content.decode()
    headers = {"HX-Request": "true"}
    step = admin_client.post(address(batch), {"state": state_of(page)}, headers=headers)
    text = step.content.decode()
    assert "<html" not in text
    assert panel_of(text) == "answer"
    assert f'hx-post="{address(batch)}"' in text


@pytest.mark.parametrize("state", ["", "nonsense", "e30:1abc:xyz"])
def test_refuses_a_state_that_it_has_not_signed(admin_client: Client, state: str) -> None:
    refused = admin_client.post(address(draft_batch()), {"state": state})
    assert refused.status_code == 400
    assert "begin it again" in refused.content.decode()


def test_refuses_a_state_of_another_batch_or_another_person(admin_client: Client) -> None:
    batch, other = draft_batch(), draft_batch()
    state = state_of(admin_client.get(address(batch)).content.decode())
    assert admin_client.post(address(other), {"state": state}).status_code == 400
    client = Client()
    client.force_login(make.member(batch.study, "editor"))
    assert client.post(address(batch), {"state": state}).status_code == 400


def test_expires(admin_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = draft_batch()
    state = state_of(admin_client.get(address(batch)).content.decode())
    monkeypatch.setattr(views, "LASTS_S", -1)
    assert admin_client.post(address(batch), {"state": state}).status_code == 400


def test_is_for_those_who_may_see_the_gold() -> None:
    batch = draft_batch()
    statuses = {}
    for role in ("viewer", "editor", "owner"):
        client = Client()
        client.force_login(make.member(batch.study, role))
        statuses[role] = client.get(address(batch)).status_code
    assert statuses == {"viewer": 403, "editor": 200, "owner": 200}


def test_is_of_drafts_alone(admin_client: Client) -> None:
    batch = draft_batch()
    start_study(batch.study, at=make.NOON)
    assert admin_client.get(address(batch)).status_code == 409

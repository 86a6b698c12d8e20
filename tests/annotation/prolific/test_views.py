"""The page that connects a study to Prolific."""

from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from annotation.models import Batch, PayoutState, ProlificStudy
from annotation.payments.ledger import approve, open_bonuses
from tests import make
from tests.annotation.payments.test_ledger import ended
from tests.annotation.prolific.standin import StandIn

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(batch: Batch) -> Client:
    client = Client()
    client.force_login(make.member(batch.study, "owner"))
    return client


def page(batch: Batch) -> str:
    return reverse("annotation:prolific", args=[batch.study.slug])


def act(client: Client, batch: Batch, name: str, **fields: str) -> str:
    """What the next page says."""
    url = reverse("annotation:prolific_act", args=[batch.study.slug, name])
    response: Any = client.post(url, fields)
    assert response.status_code == 302
    return " ".join(str(message) for message in get_messages(response.wsgi_request))


FORM = {"token": "a-token", "workspace_id": "w", "project_id": "", "remote_id": ""}


def test_stores_a_token_and_never_shows_it(owner: Client, batch: Batch) -> None:
    assert "No token is stored" in owner.get(page(batch)).content.decode()
    owner.post(page(batch), {**FORM, "webhook_secret": "a-secret"})
    text = owner.get(page(batch)).content.decode()
    assert "A token is stored." in text
    assert "a-token" not in text
    assert "a-secret" not in text


def test_keeps_the_token_unless_told_to_forget_it(owner: Client, batch: Batch) -> None:
    owner.post(page(batch), FORM)
    owner.post(page(batch), {**FORM, "token": "", "workspace_id": "other"})
    stored = ProlificStudy.objects.get()
    assert (stored.token, stored.workspace_id) == ("a-token", "other")
    owner.post(page(batch), {**FORM, "token": "", "forget": "on"})
    assert ProlificStudy.objects.get().token == ""


def test_refuses_another_studys_connection(
    owner: Client, connection: ProlificStudy, batch: Batch
) -> None:
    other = make.running_batch(via="prolific")
    other.study.memberships.create(user=batch.study.memberships.get().user, role="owner")
    response = owner.post(page(other), {**FORM, "remote_id": connection.remote_id})
    assert response.status_code == 422
    assert "Another study here" in response.content.decode()


def test_opening_the_page_stores_and_asks_nothing(
    prolific: StandIn, owner: Client, batch: Batch
) -> None:
    owner.get(page(batch))
    assert prolific.asked == []
    assert not ProlificStudy.objects.exists()


def test_says_what_is_missing_before_anything_is_sent(
    prolific: StandIn, owner: Client, batch: Batch
) -> None:
    assert "No token" in act(owner, batch, "draft")
    assert prolific.asked == []


def test_goes_from_the_draft_to_the_paid_bonus(
    prolific: StandIn, owner: Client, connection: ProlificStudy, batch: Batch
) -> None:
    ProlificStudy.objects.update(remote_id="")
    assert "1 person" not in act(owner, batch, "group")
    assert "The draft is on Prolific" in act(owner, batch, "draft")
    assignment = ended(batch)
    approve(batch.study, [assignment.pk], at=make.NOON)
    assert "0 submissions" in act(owner, batch, "poll")
    digest = open_bonuses(batch.study).digest
    assert "written down as sent" in act(owner, batch, "pay", digest=digest)
    assert "nothing to send" in act(owner, batch, "pay", digest=digest)
    assert len(prolific.paid) == 1


def test_a_lost_answer_is_told_and_settled_by_hand(
    prolific: StandIn, owner: Client, connection: ProlificStudy, batch: Batch
) -> None:
    assignment = ended(batch)
    approve(batch.study, [assignment.pk], at=make.NOON)
    prolific.loses = "/pay/"
    digest = open_bonuses(batch.study).digest
    assert "answer was lost" in act(owner, batch, "pay", digest=digest)
    payments = reverse("annotation:payments", args=[batch.study.slug])
    assert "It is not known" in owner.get(payments).content.decode()
    payout = batch.study.payouts.get()
    settle = reverse("annotation:settle_payout", args=[batch.study.slug, payout.pk])
    owner.post(settle, {"was": "perhaps"})
    payout.refresh_from_db()
    assert payout.state == PayoutState.UNKNOWN
    owner.post(settle, {"was": "sent"})
    assert "It is not known" not in owner.get(payments).content.decode()
    assert len(prolific.paid) == 1

"""The page that connects a study to Prolific."""

from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation.models import Batch, PayoutState, ProlificStudy, Submission
from annotation.payments.ledger import approve, open_bonuses
from annotation.studies.lifecycle import what_is_missing
from tests import make
from tests.annotation.payments.test_ledger import ended
from tests.annotation.prolific.standin import TOKEN, StandIn
from tests.together import at_once

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


def test_compares_what_prolific_pays_before_the_start_and_before_sending(
    prolific: StandIn, owner: Client
) -> None:
    task = make.task()
    study = make.study(task.benchmark, via="prolific")
    draft = make.batch(study, task)
    study.memberships.create(user=make.researcher(), role="owner")
    owner.force_login(study.memberships.get().user)
    study.outcome_rules.filter(outcome="completed").update(platform_pays=2)
    prolific.says["reward"] = 150
    stored = {**FORM, "token": TOKEN, "remote_id": "study-1"}
    owner.post(page(draft), stored)
    sentence = "pays 1.50\xa0USD (completed), and the page Payments says 2.00\xa0USD"
    for name in ("annotation:start", "annotation:payments", "annotation:send_payments"):
        shown = owner.get(reverse(name, args=[study.slug])).content.decode()
        assert sentence in shown
        assert (
            "Prolific itself pays 2.00\xa0USD (completed) and 0.00\xa0USD (screened" in shown
        ) is (name != "annotation:send_payments")
    study.refresh_from_db()
    assert [sentence in said for said in what_is_missing(study)] == [True]
    prolific.says["reward"] = 200
    act(owner, draft, "poll")
    study.prolific.refresh_from_db()
    assert what_is_missing(study) == []


def test_asks_for_what_prolific_pays_until_it_has_said_it(
    prolific: StandIn, owner: Client, connection: ProlificStudy
) -> None:
    prolific.declines = "studies"
    owner.post(page(connection.study.batches.get()), {**FORM, "remote_id": "study-8"})
    connection.study.refresh_from_db()
    assert "not read yet" in " ".join(what_is_missing(connection.study))


def sent_eight_times(batch: Batch, name: str, **fields: str) -> None:
    """The same form of the page, at the same moment."""
    clients = [Client() for _ in range(8)]
    for client in clients:
        client.force_login(make.member(batch.study))
    address = reverse("annotation:prolific_act", args=[batch.study.slug, name])
    assert set(at_once(lambda n: clients[n].post(address, fields).status_code, 8)) == {302}


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_asks_prolific_once_however_often_the_form_is_sent(prolific: StandIn) -> None:
    prolific.says["reward"] = 0
    batch = make.running_batch(via="prolific")
    assignment = ended(batch)
    approve(batch.study, [assignment.pk], at=make.NOON)
    ProlificStudy.objects.create(study=batch.study, token=TOKEN, remote_id="study-7")
    sent_eight_times(batch, "pay", digest=open_bonuses(batch.study).digest)
    assert prolific.paid == [(assignment.annotator.external_id, 3)]
    assert str(assignment.payment_lines.get(purpose="bonus").amount) == "3.00"


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_approves_a_submission_once_however_often_the_form_is_sent(prolific: StandIn) -> None:
    batch = make.running_batch(via="prolific")
    assignment = ended(batch)
    make.entered_by(assignment, status="AWAITING REVIEW")
    prolific.submissions.append({"id": "sub-1", "status": "AWAITING REVIEW"})
    approve(batch.study, [assignment.pk], at=make.NOON)
    ProlificStudy.objects.create(study=batch.study, token=TOKEN, remote_id="study-7")
    sent_eight_times(batch, "approve")
    assert prolific.moved == ["sub-1"]
    assert Submission.objects.get().status == "APPROVED"


def test_has_a_large_payment_typed_again(
    prolific: StandIn, owner: Client, connection: ProlificStudy, batch: Batch, settings: Settings
) -> None:
    settings.TYPE_AGAIN_ABOVE = 0
    approve(batch.study, [ended(batch).pk], at=make.NOON)
    digest = open_bonuses(batch.study).digest
    assert "moves 1.00\xa0USD" in act(owner, batch, "pay", digest=digest)
    assert prolific.paid == []
    assert "written down as sent" in act(owner, batch, "pay", digest=digest, typed="1")

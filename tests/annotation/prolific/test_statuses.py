"""What Prolific says of a submission, in whatever order it comes, and what follows from it."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import (
    Assignment,
    Batch,
    Outcome,
    Place,
    ProlificStudy,
    Submission,
    SubmissionStatus,
)
from annotation.models.errors import Refusal
from annotation.payments.ledger import approve
from annotation.prolific import statuses
from annotation.prolific.views import signature
from annotation.work.finishing import finish
from tests import make
from tests.annotation.prolific.standin import StandIn
from tests.together import at_once

pytestmark = pytest.mark.django_db
LATER = make.NOON + timedelta(minutes=5)


@pytest.fixture
def working(batch: Batch) -> Assignment:
    return make.joined(batch, at=make.NOON, submission_id="sub-1")


@pytest.fixture
def done(batch: Batch) -> Assignment:
    assignment = make.worked_through(batch)
    Assignment.objects.filter(pk=assignment.pk).update(submission_id="sub-1")
    return assignment


def say(batch: Batch, status: str, at: datetime = LATER) -> None:
    statuses.note_event(batch.study, "sub-1", status, said_at=at)


def test_returning_ends_unfinished_work_pays_it_and_frees_the_place(
    batch: Batch, working: Assignment
) -> None:
    say(batch, "RETURNED")
    working.refresh_from_db()
    assert working.outcome == Outcome.WITHDRAWN
    assert working.amount > 0
    assert not Place.objects.filter(holder=working).exists()


def test_timing_out_lets_the_lease_lapse_and_no_more(batch: Batch, working: Assignment) -> None:
    say(batch, "TIMED-OUT")
    working.refresh_from_db()
    assert working.outcome == ""
    assert Place.objects.get(holder=working) in Place.objects.claimable(LATER)


@pytest.mark.parametrize("status", SubmissionStatus.values)
def test_finished_work_stays_whatever_is_said(batch: Batch, done: Assignment, status: str) -> None:
    say(batch, status)
    done.refresh_from_db()
    assert done.outcome == Outcome.COMPLETED
    assert Place.objects.get(holder=done).kept
    assert Submission.objects.get().status == status


@pytest.mark.parametrize("status", sorted({*SubmissionStatus.values} - {"RETURNED"}))
def test_nothing_but_returning_ends_work(batch: Batch, working: Assignment, status: str) -> None:
    say(batch, status)
    working.refresh_from_db()
    assert working.outcome == ""


def test_an_older_event_that_comes_later_changes_nothing(batch: Batch, working: Assignment) -> None:
    say(batch, "AWAITING REVIEW", LATER)
    say(batch, "RETURNED", make.NOON + timedelta(minutes=1))
    working.refresh_from_db()
    assert working.outcome == ""
    assert Submission.objects.get().status == "AWAITING REVIEW"


def test_a_repeated_event_changes_nothing(batch: Batch, working: Assignment) -> None:
    say(batch, "RETURNED")
    before = Assignment.objects.values().get(pk=working.pk)
    say(batch, "RETURNED")
    say(batch, "ACTIVE", LATER + timedelta(minutes=1))
    assert Assignment.objects.values().get(pk=working.pk) == before


def test_ignores_strangers_and_unknown_words(batch: Batch, working: Assignment) -> None:
    statuses.note_event(batch.study, "another", "RETURNED", said_at=LATER)
    statuses.note_event(batch.study, "sub-1", "EXPLODED", said_at=LATER)
    statuses.note_event(batch.study, "", "RETURNED", said_at=LATER)
    assert not Submission.objects.exists()


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_events_that_come_at_once_leave_the_latest() -> None:
    batch = make.running_batch(via="prolific")
    make.joined(batch, submission_id="sub-1")
    words = ["RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED"]
    for _ in range(20):
        at_once(lambda n: say(batch, words[n], LATER + timedelta(seconds=n)), 4)
        assert Submission.objects.get().status == "APPROVED"
        Submission.objects.all().delete()


# Asking


def test_asks_for_every_page(
    prolific: StandIn, connection: ProlificStudy, working: Assignment
) -> None:
    prolific.submissions = [{"id": f"x-{n}", "status": "ACTIVE"} for n in range(230)]
    prolific.submissions.append({"id": "sub-1", "status": "RETURNED", "participant_id": "p"})
    assert statuses.poll(connection, at=LATER) == 1
    assert statuses.poll(connection, at=LATER + timedelta(minutes=5)) == 0
    working.refresh_from_db()
    assert working.outcome == Outcome.WITHDRAWN
    assert len(prolific.asked) == 6


def test_ends_work_that_began_after_the_submission_was_returned(
    prolific: StandIn, connection: ProlificStudy, working: Assignment
) -> None:
    Submission.objects.create(assignment=working, status="RETURNED", status_at=make.NOON)
    prolific.submissions = [{"id": "sub-1", "status": "RETURNED"}]
    statuses.poll(connection, at=LATER)
    working.refresh_from_db()
    assert working.outcome == Outcome.WITHDRAWN


def test_keeps_why_asking_failed(prolific: StandIn, connection: ProlificStudy) -> None:
    prolific.declines = "submissions"
    with pytest.raises(Refusal):
        statuses.poll(connection, at=LATER)
    connection.refresh_from_db()
    assert "Not like this." in connection.problem
    prolific.declines = ""
    statuses.poll(connection, at=LATER)
    connection.refresh_from_db()
    assert connection.problem == ""


# Approving


def test_approves_and_screens_out_what_is_approved_here(
    prolific: StandIn, connection: ProlificStudy, batch: Batch
) -> None:
    completed, out = make.worked_through(batch), make.joined(batch)
    finish(out, Outcome.SCREENED_OUT, at=LATER)
    for number, assignment in enumerate((completed, out, make.worked_through(batch))):
        Assignment.objects.filter(pk=assignment.pk).update(submission_id=f"sub-{number}")
        prolific.submissions.append({"id": f"sub-{number}", "status": "AWAITING REVIEW"})
    statuses.poll(connection, at=LATER)
    approve(batch.study, [completed.pk, out.pk], at=LATER)
    assert statuses.approve_submissions(connection, at=LATER + timedelta(minutes=1)) == (2, [])
    said = [submission["status"] for submission in prolific.submissions]
    assert said == ["APPROVED", "SCREENED OUT", "AWAITING REVIEW"]
    assert prolific.submissions[1]["entered_code"] == "CODE-SCREENED_OUT"
    assert statuses.approve_submissions(connection, at=LATER + timedelta(minutes=2)) == (0, [])


# Being told


def told(
    connection: ProlificStudy, body: Any, *, secret: str = "hook-secret", **headers: str
) -> int:
    content = json.dumps(body).encode()
    sent_at = str(timezone.now().timestamp())
    more = {
        "X-Prolific-Request-Timestamp": sent_at,
        "X-Prolific-Request-Signature": signature(secret, sent_at, content),
        **headers,
    }
    url = reverse("annotation:prolific_report", args=[connection.hook_token])
    # With every check that a browser's form would have to pass.
    client = Client(enforce_csrf_checks=True)
    return client.post(url, content, content_type="application/json", headers=more).status_code


EVENT = {
    "event_type": "submission.status.change",
    "resource_id": "sub-1",
    "participant_id": "person",
    "status": "RETURNED",
}


def test_takes_a_signed_report(connection: ProlificStudy, working: Assignment) -> None:
    assert told(connection, EVENT) == 204
    working.refresh_from_db()
    assert working.outcome == Outcome.WITHDRAWN


def test_goes_by_the_time_of_the_event(connection: ProlificStudy, working: Assignment) -> None:
    early = datetime(2026, 11, 1, 12, 1, tzinfo=UTC)
    Submission.objects.create(
        assignment=working, status="ACTIVE", status_at=early + timedelta(seconds=1)
    )
    assert told(connection, EVENT, **{"X-Timestamp": str(int(early.timestamp()))}) == 204
    working.refresh_from_db()
    assert working.outcome == ""


def test_a_time_to_come_counts_as_now(connection: ProlificStudy, working: Assignment) -> None:
    told(connection, {**EVENT, "status": "ACTIVE"}, **{"X-Timestamp": "99999999999"})
    assert Submission.objects.get().status_at <= timezone.now()


@pytest.mark.parametrize("secret", ["", "wrong"])
def test_refuses_what_is_not_signed(
    connection: ProlificStudy, working: Assignment, secret: str
) -> None:
    assert told(connection, EVENT, secret=secret) == 401
    assert not Submission.objects.exists()


def test_without_a_secret_nobody_can_sign(connection: ProlificStudy, working: Assignment) -> None:
    ProlificStudy.objects.update(webhook_secret="")
    assert told(connection, EVENT, secret="") == 401


@pytest.mark.parametrize("body", [[], "text", 7, {}, {"event_type": "study.status.change"}])
def test_takes_what_does_not_concern_it(connection: ProlificStudy, body: Any) -> None:
    assert told(connection, body) == 204


def test_refuses_a_time_that_is_none(connection: ProlificStudy) -> None:
    assert told(connection, EVENT, **{"X-Timestamp": "soon"}) == 400

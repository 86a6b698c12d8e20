"""What Prolific says of a submission, in whatever order it comes, and what follows from it."""

import json
from copy import deepcopy
from datetime import datetime, timedelta
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
from annotation.prolific.statuses import forget_deliveries
from annotation.prolific.views import signature
from annotation.work.finishing import finish
from tests import make
from tests.annotation.prolific.conftest import paid_batch
from tests.annotation.prolific.standin import StandIn
from tests.made_once import once_a_module

pytestmark = pytest.mark.django_db
LATER = make.NOON + timedelta(minutes=10)


batch_once = once_a_module(lambda: paid_batch(wanted=5))


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    return deepcopy(batch_once)


@pytest.fixture
def working(batch: Batch) -> Assignment:
    return make.joined(batch, at=make.NOON, submission_id="sub-1")


@pytest.fixture
def done(batch: Batch) -> Assignment:
    assignment = make.worked_through(batch)
    make.entered_by(assignment)
    return assignment


def say(batch: Batch, status: str, at: datetime = LATER) -> None:
    statuses.note_event(batch.study, "sub-1", who(batch), status, said_at=at, at=at)


def who(batch: Batch) -> str:
    """The id on the platform of whoever works there."""
    return batch.assignments.get().annotator.external_id


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


@pytest.mark.parametrize(
    ("submission", "person", "status"),
    [
        ("another", "", "RETURNED"),
        ("sub-1", "", "EXPLODED"),
        ("", "", "RETURNED"),
        # Somebody's own submission, whose id another has put into their link.
        ("sub-1", "somebody-else", "RETURNED"),
    ],
)
def test_ignores_strangers_and_unknown_words(
    batch: Batch, working: Assignment, submission: str, person: str, status: str
) -> None:
    statuses.note_event(
        batch.study, submission, person or who(batch), status, said_at=LATER, at=LATER
    )
    assert Submission.objects.get().status == ""


# Asking


def test_asks_for_every_page(
    prolific: StandIn, connection: ProlificStudy, working: Assignment
) -> None:
    prolific.submissions = [{"id": f"x-{n}", "status": "ACTIVE"} for n in range(230)]
    own = {"id": "sub-1", "status": "RETURNED", "participant_id": who(working.batch)}
    prolific.submissions.append(own)
    assert statuses.poll(connection, at=LATER) == 1
    assert statuses.poll(connection, at=LATER + timedelta(minutes=5)) == 0
    working.refresh_from_db()
    assert working.outcome == Outcome.WITHDRAWN
    assert prolific.asked.count("GET /submissions/") == 6


def test_ends_work_that_began_after_the_submission_was_returned(
    prolific: StandIn, connection: ProlificStudy, working: Assignment
) -> None:
    working.submissions.update(status="RETURNED", status_at=make.NOON)
    prolific.submissions = [{"id": "sub-1", "status": "RETURNED"}]
    statuses.poll(connection, at=LATER)
    working.refresh_from_db()
    assert working.outcome == Outcome.WITHDRAWN


def test_a_submission_of_somebody_else_changes_nothing(
    prolific: StandIn, connection: ProlificStudy, working: Assignment
) -> None:
    prolific.submissions = [{"id": "sub-1", "status": "RETURNED", "participant_id": "other"}]
    assert statuses.poll(connection, at=LATER) == 0
    working.refresh_from_db()
    assert working.outcome == ""


def test_what_was_written_while_our_clock_was_ahead_holds_nothing_up(
    prolific: StandIn, connection: ProlificStudy, working: Assignment
) -> None:
    ahead = LATER + timedelta(hours=1)
    working.submissions.update(status="ACTIVE", status_at=ahead)
    prolific.submissions = [{"id": "sub-1", "status": "RETURNED"}]
    assert statuses.poll(connection, at=LATER) == 1


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
        make.entered_by(assignment, f"sub-{number}")
        prolific.submissions.append({"id": f"sub-{number}", "status": "AWAITING REVIEW"})
    statuses.poll(connection, at=LATER)
    approve(batch.study, [completed.pk, out.pk], at=LATER)
    assert statuses.approve_submissions(connection, at=LATER + timedelta(minutes=1)) == (2, [])
    said = [submission["status"] for submission in prolific.submissions]
    assert said == ["APPROVED", "SCREENED OUT", "AWAITING REVIEW"]
    assert prolific.submissions[1]["entered_code"] == "CODE-SCREENED_OUT"
    assert statuses.approve_submissions(connection, at=LATER + timedelta(minutes=2)) == (0, [])


def test_leaves_to_a_review_by_hand_who_was_screened_out_without_a_fixed_payment(
    prolific: StandIn, connection: ProlificStudy, batch: Batch
) -> None:
    batch.study.outcome_rules.filter(outcome="screened_out").update(platform_pays=0)
    out = make.joined(batch, submission_id="sub-1")
    finish(out, Outcome.SCREENED_OUT, at=LATER)
    approve(batch.study, [out.pk], at=LATER)
    out.submissions.update(status="AWAITING REVIEW", status_at=LATER)
    assert statuses.approve_submissions(connection, at=LATER) == (0, [])
    assert prolific.asked == []


# Being told


def told(
    connection: ProlificStudy,
    body: Any,
    *,
    secret: str = "hook-secret",
    sent_at: str = "",
    **headers: str,
) -> int:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent_at = sent_at or str(timezone.now().timestamp())
    more = {
        "X-Prolific-Request-Timestamp": sent_at,
        "X-Prolific-Request-Signature": signature(secret, sent_at, content),
        **headers,
    }
    url = reverse("annotation:prolific_report", args=[connection.hook_token])
    # With every check that a browser's form would have to pass.
    client = Client(enforce_csrf_checks=True)
    return client.post(url, content, content_type="application/json", headers=more).status_code


NO_TEXTS: tuple[Any, ...] = (None, 7, [], {}, float("nan"))


def from_now(**apart: float) -> str:
    return str((timezone.now() + timedelta(**apart)).timestamp())


def event(working: Assignment, status: str = "RETURNED", **fields: Any) -> dict[str, Any]:
    return {
        "event_type": "submission.status.change",
        "resource_id": "sub-1",
        "participant_id": who(working.batch),
        "status": status,
        **fields,
    }


@pytest.fixture
def report(working: Assignment) -> dict[str, Any]:
    return event(working)


@pytest.mark.both_databases
def test_takes_a_signed_report(
    connection: ProlificStudy, working: Assignment, report: dict[str, Any]
) -> None:
    assert told(connection, report) == 204
    working.refresh_from_db()
    assert working.outcome == Outcome.WITHDRAWN


def test_goes_by_the_signed_time_alone(
    connection: ProlificStudy, working: Assignment, report: dict[str, Any]
) -> None:
    lately = timezone.now() - timedelta(minutes=20)
    working.submissions.update(status="ACTIVE", status_at=lately)
    early, now = from_now(minutes=-30), from_now()
    assert told(connection, report, sent_at=early, **{"X-Timestamp": now}) == 204
    working.refresh_from_db()
    assert working.outcome == ""


@pytest.mark.both_databases
@pytest.mark.parametrize("hours", [-0.5, 0.07])
def test_the_same_report_again_changes_nothing(
    connection: ProlificStudy, working: Assignment, hours: float
) -> None:
    """Not even where our clock is behind, so that each comes later than the one before."""
    report, sent_at = event(working, "TIMED-OUT"), from_now(hours=hours)
    assert told(connection, report, sent_at=sent_at) == 204
    taken_back = timezone.now() + timedelta(hours=1)
    Place.objects.filter(holder=working).update(lease_until=taken_back)
    forget_deliveries(at=timezone.now())
    assert told(connection, report, sent_at=sent_at) == 204
    assert Place.objects.get(holder=working).lease_until == taken_back


@pytest.mark.parametrize("hours", [-2, -1.01, 0.1, 1, 24 * 365])
def test_refuses_what_is_older_than_an_hour_or_of_a_time_to_come(
    connection: ProlificStudy, report: dict[str, Any], hours: float
) -> None:
    assert told(connection, report, sent_at=from_now(hours=hours)) == 400
    assert Submission.objects.get().status == ""


@pytest.mark.parametrize("hours", [-0.9, 0.07])
def test_a_clock_that_is_wrong_ends_work_at_our_own_time(
    connection: ProlificStudy, working: Assignment, report: dict[str, Any], hours: float
) -> None:
    before = timezone.now()
    assert told(connection, report, sent_at=from_now(hours=hours)) == 204
    working.refresh_from_db()
    assert working.outcome == Outcome.WITHDRAWN
    assert working.finished_at is not None
    assert working.finished_at >= before
    assert Submission.objects.get().status_at <= timezone.now()


def test_forgets_reports_that_are_refused_for_their_age(
    connection: ProlificStudy, report: dict[str, Any]
) -> None:
    told(connection, report)
    forget_deliveries(at=timezone.now() + statuses.REMEMBERED + timedelta(minutes=1))
    assert not connection.deliveries.exists()


@pytest.mark.parametrize("secret", ["", "wrong"])
def test_refuses_what_is_not_signed(
    connection: ProlificStudy, report: dict[str, Any], secret: str
) -> None:
    assert told(connection, report, secret=secret) == 401
    assert Submission.objects.get().status == ""


def test_without_a_secret_nobody_can_sign(
    connection: ProlificStudy, report: dict[str, Any]
) -> None:
    ProlificStudy.objects.update(webhook_secret="")
    assert told(connection, report, secret="") == 401


@pytest.mark.parametrize("body", [[], "text", 7, {}, {"event_type": "study.status.change"}])
def test_takes_what_does_not_concern_it(connection: ProlificStudy, body: Any) -> None:
    assert told(connection, body) == 204


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "wrong",
    [
        *({name: "a\0b"} for name in ("resource_id", "participant_id", "status")),
        *({name: "\ud800"} for name in ("resource_id", "participant_id", "status")),
        *({"resource_id": value} for value in NO_TEXTS),
    ],
)
def test_refuses_a_report_that_holds_no_texts(
    connection: ProlificStudy, working: Assignment, wrong: dict[str, Any]
) -> None:
    assert told(connection, event(working, **wrong)) == 400


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b"\0", b"[" * 100_000, b"9" * 5_000, b'{"a":' * 50_000]
)
def test_refuses_what_is_no_json(connection: ProlificStudy, body: bytes) -> None:
    assert told(connection, body) == 400


@pytest.mark.parametrize("sent_at", ["soon", "nan", "inf", "1e300", "-1e300"])
def test_refuses_a_time_that_is_none(
    connection: ProlificStudy, report: dict[str, Any], sent_at: str
) -> None:
    assert told(connection, report, sent_at=sent_at) == 400

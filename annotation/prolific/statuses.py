"""What Prolific says of a submission, and what follows from it for the work. Events come late,
twice and in any order: the latest by Prolific's clock counts, and what is final here stays."""

from collections import defaultdict
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from annotation.models import (
    HANDED_IN,
    Assignment,
    Delivery,
    Outcome,
    Payout,
    PayoutState,
    PayoutWay,
    ProlificStudy,
    Study,
    Submission,
    SubmissionStatus,
)
from annotation.models.errors import BadInput, Refusal
from annotation.payments import ledger
from annotation.prolific.connecting import Declined, Lost, client_of, read_rewards
from annotation.studies.codes import has_fixed_payment, other_reward
from annotation.work.finishing import withdraw
from annotation.work.places import time_out

POLL_EVERY = timedelta(minutes=5)
REMEMBERED = timedelta(days=2)
# More than asking takes, or than the clocks of two of our machines lie apart.
_AHEAD = timedelta(minutes=10)


@transaction.atomic
def note_delivery(
    connection: ProlificStudy,
    signature: str,
    sent: list[str],
    *,
    said_at: datetime,
    at: datetime,
) -> None:
    """What a signed report says, once: what was delivered before changes nothing."""
    _, is_new = Delivery.objects.get_or_create(connection=connection, signature=signature)
    if is_new:
        note_event(connection.study, *sent, said_at=said_at, at=at)


def note_event(
    study: Study, submission_id: str, who: str, status: str, *, said_at: datetime, at: datetime
) -> None:
    """Note the status that a message tells. Of a submission of nobody here, or of another person's,
    and with a status that nobody knows, it notes nothing."""
    if not submission_id or status not in SubmissionStatus.values:
        return
    submissions = Submission.objects.filter(submission_id=submission_id, assignment__study=study)
    known = list(submissions.filter(assignment__annotator__external_id=who))
    for submission in known or _handed_in(study, submission_id, who, status, at):
        note_status(submission, status, said_at=said_at, at=at)


def _handed_in(
    study: Study, submission_id: str, who: str | None, status: str, at: datetime
) -> list[Submission]:
    """Store a submission that somebody who has worked here handed a code in by, and never entered
    by: they went on in an old tab. It counts, unless another of theirs was handed in."""
    worked = Assignment.objects.filter(study=study, annotator__external_id=who)
    if not who or status not in HANDED_IN or not (assignment := worked.last()):
        return []
    submission, _ = Submission.objects.get_or_create(
        assignment=assignment, submission_id=submission_id, defaults={"entered_at": at}
    )
    worked.filter(pk=assignment.pk).exclude(latest_submission__status__in=HANDED_IN).update(
        latest_submission=submission
    )
    return [submission]


@transaction.atomic
def note_status(
    submission: Submission, status: str, *, said_at: datetime, at: datetime | None = None
) -> bool:
    """Says whether it was news. What follows happens `at` our own time: Prolific's clock only tells
    which of two events came first."""
    now = at or said_at
    # A time to come was written while our clock was ahead: it orders nothing.
    older = Q(status="") | Q(status_at__lt=said_at) | Q(status_at__gt=now + _AHEAD)
    known = Submission.objects.filter(pk=submission.pk)
    # The row count decides between two events that come at once.
    if not known.filter(older).update(status=status, status_at=said_at):
        return False
    assignment = Assignment.objects.filter(latest_submission=submission).first()
    if assignment is None:
        # The person came back by another, and goes on.
        return True
    if status == SubmissionStatus.RETURNED:
        # Ends unfinished work alone, pays what was done and frees the place.
        withdraw(assignment, at=now)
    elif status == SubmissionStatus.TIMED_OUT:
        time_out(assignment, at=now)
    return True


def forget_deliveries(*, at: datetime) -> None:
    """Those that are refused for their age, however our clock was set meanwhile."""
    Delivery.objects.filter(received_at__lt=at - REMEMBERED).delete()


def is_due_for_poll(connection: ProlificStudy, *, at: datetime) -> bool:
    return connection.polled_at is None or at - connection.polled_at >= POLL_EVERY


def poll(connection: ProlificStudy, *, at: datetime) -> int:
    """Ask for every status; returns how many were news. What failed is kept, and raised."""
    try:
        news = _poll(connection, at)
    except Refusal as refusal:
        connection.problem = str(refusal)
        raise
    else:
        connection.problem = ""
        return news
    finally:
        connection.polled_at = at
        connection.save(update_fields=["problem", "polled_at"])


def _poll(connection: ProlificStudy, at: datetime) -> int:
    if not connection.remote_id:
        raise BadInput("The study is not on Prolific yet: make the draft first.")
    said = {
        str(submission["id"]): (str(submission["status"]), submission.get("participant_id"))
        for submission in client_of(connection).submissions(connection.remote_id)
    }
    known = Submission.objects.filter(assignment__study=connection.study).exclude(submission_id="")
    ours: dict[str, list[Submission]] = defaultdict(list)
    for submission in known.select_related("assignment__annotator"):
        ours[submission.submission_id].append(submission)
    news = sum(
        note_status(submission, status, said_at=at)
        for submission_id, (status, who) in said.items()
        if status in SubmissionStatus.values
        for submission in ours[submission_id]
        or _handed_in(connection.study, submission_id, who, status, at)
        if who in (None, submission.assignment.annotator.external_id)
        and _is_news(submission, status)
    )
    read_rewards(connection)
    return news


def _is_news(submission: Submission, status: str) -> bool:
    """The same again is news where somebody returned the submission and came here after that."""
    is_left = submission.is_latest and not submission.assignment.outcome
    return submission.status != status or (is_left and status == SubmissionStatus.RETURNED)


def approvable(study: Study) -> list[ledger.Due]:
    """Whose pay is approved here, and whose submission waits for that on Prolific; who was screened
    out without a fixed payment is reviewed there by hand."""
    return [
        due
        for due in ledger.dues(study)
        if due.is_approved
        and due.status == SubmissionStatus.AWAITING_REVIEW
        and due.person.submission_id
        and (due.person.outcome == Outcome.COMPLETED or has_fixed_payment(due.rule))
    ]


def approve_submissions(
    connection: ProlificStudy, *, at: datetime, by: User | None = None
) -> tuple[int, list[str]]:
    """Approve completed work there, and screen out with pay who was screened out here; reject
    nobody. Returns how many, and what Prolific says of the others. Safe to run again."""
    client, done, declined = client_of(connection), 0, []
    for due in approvable(connection.study):
        screened_out = due.person.outcome == Outcome.SCREENED_OUT
        try:
            if screened_out:
                client.complete(due.person.submission_id, due.rule.code)
            else:
                client.approve(due.person.submission_id)
        except Declined as refusal:
            declined.append(f"{due.person.pseudonym}: {refusal}")
            continue
        status = SubmissionStatus.SCREENED_OUT if screened_out else SubmissionStatus.APPROVED
        submissions = Submission.objects.filter(assignment=due.person.pk)
        note_status(submissions.get(submission_id=due.person.submission_id), status, said_at=at)
        done += 1
    return done, declined


def pay_bonuses(
    connection: ProlificStudy, *, digest: str, at: datetime, by: User | None = None
) -> Payout:
    """Pay what the digest names. Raises Changed, Declined or BadInput with nothing sent; a lost
    answer gives a payout whose state is unknown."""
    client = client_of(connection)
    if not connection.remote_id:
        raise BadInput("The study is not on Prolific yet: make the draft first.")
    bonuses = ledger.open_bonuses(connection.study)
    if not bonuses.dues:
        raise BadInput(ledger.NONE_OPEN)
    if bonuses.digest != digest:
        raise ledger.Changed(ledger.CHANGED)
    read_rewards(connection)
    if problem := other_reward(connection.study, connection):
        raise BadInput(problem)
    lines = "".join(ledger.prolific_lines(bonuses.dues)).strip()
    # Set up only: if its answer is lost, nobody is paid.
    remote_id = client.set_up_bonuses(connection.remote_id, lines)
    payout = ledger.write_payout(
        connection.study, digest=digest, way=PayoutWay.API, at=at, by=by, remote_id=remote_id
    )
    try:
        client.pay_bonuses(remote_id)
    except Declined:
        ledger.settle_payout(payout, was_sent=False, at=at, by=by)
        raise
    except Lost:
        Payout.objects.filter(pk=payout.pk, state=PayoutState.SENDING).update(
            state=PayoutState.UNKNOWN
        )
        payout.refresh_from_db()
        return payout
    ledger.settle_payout(payout, was_sent=True, at=at, by=by)
    return payout

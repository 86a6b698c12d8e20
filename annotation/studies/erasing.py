"""Erasure: whatever names a person is deleted; the keyed hash stays, so that nobody works twice."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Exists, Max, OuterRef, QuerySet
from django.db.models.functions import Coalesce

from annotation.models import (
    Annotator,
    Assignment,
    Change,
    ChangeAction,
    Comment,
    DeviceCode,
    Invitation,
    Study,
    StudyState,
)
from annotation.models.access import record
from annotation.work.finishing import withdraw


@transaction.atomic
def erase_annotator(annotator: Annotator, *, at: datetime, by: User | None = None) -> None:
    """Forget who an annotator is: external id, submission ids, browsers, invitations, and what
    they wrote in their own words.

    Unfinished work ends as withdrawn and is paid for what was done. Judgements stay under
    the pseudonym. Safe to run twice.
    """
    for assignment in Assignment.objects.open().filter(annotator=annotator):
        withdraw(assignment, at=at)
    if annotator.external_id:
        Invitation.objects.filter(
            study__channel=annotator.channel_id, external_id=annotator.external_id
        ).delete()
    Comment.objects.filter(assignment__annotator=annotator).delete()
    DeviceCode.objects.filter(assignment__annotator=annotator).delete()
    Assignment.objects.filter(annotator=annotator).update(submission_id="", browser_hash="")
    Annotator.objects.filter(pk=annotator.pk).update(external_id="")
    if Annotator.objects.filter(pk=annotator.pk, erased_at=None).update(erased_at=at):
        name = annotator.pseudonym
        for study in Study.objects.filter(assignments__annotator=annotator).distinct():
            record(by, study, ChangeAction.ERASED, {name: "known"}, {name: "erased"})
    annotator.refresh_from_db()


# The tables from whose files an erased row has to go, too.
PERSONAL_TABLES = tuple(
    model._meta.db_table for model in (Annotator, Assignment, Comment, Invitation)
)


# By kind: what is older than this goes.
Limits = Mapping[str, datetime]


def count_old(limits: Limits) -> dict[str, int]:
    return {
        kind: sum(rows.count() for rows in older(kind, limit)) for kind, limit in limits.items()
    }


def erase_old(limits: Limits, *, at: datetime) -> dict[str, int]:
    """What was erased. Interrupted, it leaves nobody half erased, and goes on when run again."""
    erased = count_old(limits)
    for kind, limit in limits.items():
        for rows in older(kind, limit):
            if kind == "ids":
                for annotator in rows:
                    erase_annotator(annotator, at=at)
            else:
                rows.delete()
    return erased


def older(kind: str, limit: datetime) -> list[QuerySet[Any]]:
    """The rows of a kind (ids, comments, changes or sign_ins) from before the limit; sign-ins are
    names, addresses and browsers of those who tried."""
    if kind == "ids":
        return [people_before(limit)]
    if kind == "comments":
        return [Comment.objects.filter(written_at__lt=limit)]
    if kind == "changes":
        return [Change.objects.filter(at__lt=limit)]
    return [
        model.objects.filter(attempt_time__lt=limit)
        for model in (AccessAttempt, AccessLog, AccessFailureLog)
    ]


def people_before(limit: datetime) -> QuerySet[Annotator]:
    """Those whose id is known, whose last work ended before it, and all of whose studies are
    closed: until then they may have to be paid, or find their way back."""
    needed = Assignment.objects.filter(annotator=OuterRef("pk")).exclude(
        study__state=StudyState.CLOSED, finished_at__isnull=False
    )
    last = Coalesce(Max("assignments__finished_at"), "created_at")
    known = Annotator.objects.exclude(external_id="").filter(channel__is_simulated=False)
    return known.exclude(Exists(needed)).annotate(last=last).filter(last__lt=limit)


def clear_files() -> None:
    """Take what was erased out of the database's files too. On PostgreSQL the tables are
    written anew, for which nobody may use them for a moment."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            # Freed pages are overwritten (secure_delete); the log that led there is emptied.
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        else:
            cursor.execute(f"VACUUM (FULL) {', '.join(PERSONAL_TABLES)}")

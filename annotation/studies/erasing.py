"""Erasure: whatever names a person is deleted; the keyed hash stays, so that nobody works twice."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from annotation.access.changes import record
from annotation.models import (
    Annotator,
    Assignment,
    ChangeAction,
    Comment,
    DeviceCode,
    Invitation,
    Study,
)
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
        _log(annotator, by)
    annotator.refresh_from_db()


def _log(annotator: Annotator, by: User | None) -> None:
    """In every study that the person took part in."""
    name = annotator.pseudonym
    for study in Study.objects.filter(assignments__annotator=annotator).distinct():
        record(by, study, ChangeAction.ERASED, {name: "known"}, {name: "erased"})

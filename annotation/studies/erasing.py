"""Erasure: whatever names a person is deleted; the keyed hash stays, so that nobody works twice."""

from datetime import datetime

from django.db import transaction

from annotation.models import Annotator, Assignment, Invitation
from annotation.work.finishing import withdraw


@transaction.atomic
def erase_annotator(annotator: Annotator, *, at: datetime) -> None:
    """Forget who an annotator is: external id, submission ids and invitations.

    Unfinished work ends as withdrawn and is paid for what was done. Judgements stay under
    the pseudonym. Safe to run twice.
    """
    for assignment in Assignment.objects.open().filter(annotator=annotator):
        withdraw(assignment, at=at)
    if annotator.external_id:
        Invitation.objects.filter(
            study__channel=annotator.channel_id, external_id=annotator.external_id
        ).delete()
    Assignment.objects.filter(annotator=annotator).update(submission_id="")
    Annotator.objects.filter(pk=annotator.pk).update(external_id="")
    Annotator.objects.filter(pk=annotator.pk, erased_at=None).update(erased_at=at)
    annotator.refresh_from_db()

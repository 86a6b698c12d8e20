"""Archiving: a closed study goes out of sight. Everything in it stays as it is."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from annotation.access.changes import record
from annotation.models import ChangeAction, Study, StudyState
from annotation.models.errors import Refusal


class CannotArchive(Refusal):
    """A study that has not ended, or is in the archive already."""


def archive_study(study: Study, *, at: datetime, by: User | None = None) -> None:
    with transaction.atomic():
        archived = Study.objects.filter(
            pk=study.pk, state=StudyState.CLOSED, archived_at__isnull=True
        ).update(archived_at=at)
        if not archived:
            raise CannotArchive(
                "Only a closed study that is not in the archive yet can be archived."
            )
        record(by, study, ChangeAction.ARCHIVED, {"archived": False}, {"archived": True})
    study.refresh_from_db()


def take_out(study: Study, *, by: User | None = None) -> None:
    """Back in sight."""
    with transaction.atomic():
        taken = Study.objects.filter(pk=study.pk, archived_at__isnull=False)
        if not taken.update(archived_at=None):
            raise CannotArchive("This study is not in the archive.")
        record(by, study, ChangeAction.TAKEN_OUT, {"archived": True}, {"archived": False})
    study.refresh_from_db()

import logging

from celery import shared_task
from django.utils import timezone

from annotation.models import ProlificStudy, StudyState
from annotation.models.errors import Refusal
from annotation.prolific.connecting import is_due_for_poll
from annotation.prolific.statuses import poll

EVERY_S = 300
log = logging.getLogger(__name__)


@shared_task
def poll_prolific() -> None:
    """Each study on its own: one that fails says so on its page, and keeps nobody waiting."""
    connected = ProlificStudy.objects.exclude(token="").exclude(remote_id="")
    for connection in connected.exclude(study__state=StudyState.DRAFT).select_related("study"):
        if not is_due_for_poll(connection, timezone.now(), EVERY_S):
            continue
        try:
            poll(connection, at=timezone.now())
        except Refusal as refusal:
            log.warning("Prolific, study %s: %s", connection.study.slug, refusal)

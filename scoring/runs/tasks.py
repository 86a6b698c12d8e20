from celery import shared_task
from django.utils import timezone

from scoring.runs.storing import remove_abandoned


@shared_task
def remove_abandoned_runs() -> None:
    remove_abandoned(at=timezone.now())

from celery import shared_task

from annotation.models import clock
from scoring.runs.storing import remove_abandoned


@shared_task
def remove_abandoned_runs() -> None:
    remove_abandoned(at=clock.now())

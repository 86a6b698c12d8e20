from celery import shared_task

from annotation.models import Study, StudyState
from annotation.people.summaries import refresh


@shared_task
def summarise_work() -> None:
    for study in Study.objects.exclude(state=StudyState.DRAFT):
        refresh(study)

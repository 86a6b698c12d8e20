from celery import shared_task

from annotation.models import Study, StudyState
from annotation.people.rows import rows
from annotation.people.summaries import refresh


@shared_task
def summarise_work() -> None:
    """Flags compare people with one another, so all are looked at when one has moved on."""
    for study in Study.objects.exclude(state=StudyState.DRAFT):
        if refresh(study):
            rows(study)

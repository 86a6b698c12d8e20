from celery import shared_task
from django.utils import timezone

from annotation.access import throttles
from annotation.work.finishing import expire_idle


@shared_task
def expire_leases() -> None:
    expire_idle(at=timezone.now())
    throttles.forget_past_windows()

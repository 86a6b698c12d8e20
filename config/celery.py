"""The background worker and its schedule."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("baseliner")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

# A message that got lost with its worker is not given back in time by any broker, so a job is a
# row that the sweep takes up again; a lapsed lease makes a place claimable.
app.conf.beat_schedule = {
    "sweep-jobs": {"task": "annotation.tasks.sweep_jobs", "schedule": 60.0},
    "expire-leases": {"task": "annotation.tasks.expire_leases", "schedule": 60.0},
}

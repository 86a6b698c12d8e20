"""The background worker and its schedule."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("baseliner")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Each room has tasks of its own.
ROOMS = [
    "annotation.jobs",
    "annotation.benchmarks",
    "annotation.work",
    "scoring.comparison",
    "scoring.episodes",
]
app.autodiscover_tasks(ROOMS)

# No broker redelivers a message lost with its worker in time, so a job is a
# row that the sweep takes up again; a lapsed lease makes a place claimable.
EVERY_S = 60.0
SCHEDULED = ["annotation.jobs.tasks.sweep_jobs", "annotation.work.tasks.expire_leases"]
app.conf.beat_schedule = {
    task: {
        "task": task,
        "schedule": EVERY_S,
        # Without a worker the queue would fill with the same request.
        "options": {"expires": EVERY_S},
    }
    for task in SCHEDULED
}

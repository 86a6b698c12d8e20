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
    "annotation.studies",
    "annotation.simulation",
    "annotation.people",
    "annotation.prolific",
    "scoring.comparison",
    "scoring.analysis",
    "scoring.samples",
    "scoring.runs",
    "scoring.episodes",
    "scoring.report",
    "scoring.figures",
    "scoring.asking",
]
app.autodiscover_tasks(ROOMS)

# No broker redelivers a message lost with its worker in time, so a job is a
# row that the sweep takes up again; a lapsed lease makes a place claimable.
EVERY_S = 60.0
SCHEDULED = [
    "annotation.jobs.tasks.sweep_jobs",
    "annotation.work.tasks.expire_leases",
    "annotation.benchmarks.tasks.remove_abandoned_imports",
    "annotation.jobs.tasks.remove_old_files",
    "annotation.people.tasks.summarise_work",
    "annotation.prolific.tasks.poll_prolific",
    "scoring.runs.tasks.remove_abandoned_runs",
]
app.conf.beat_schedule = {
    task: {
        "task": task,
        "schedule": EVERY_S,
        # Without a worker the queue would fill with the same request.
        "options": {"expires": EVERY_S},
    }
    for task in SCHEDULED
}

"""The background worker and its schedule."""

import logging
import os
from importlib import import_module
from typing import Any

from celery import Celery
from celery.contrib.django.task import DjangoTask
from celery.signals import worker_init
from kombu import Queue
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

TRANSPORT_ALIASES["filesystem"] = "config.broker:Transport"
logger = logging.getLogger(__name__)


class Fitting(DjangoTask[..., Any]):
    """Work that a worker does as long as the database is of its version; then it ends, and leaves
    this and the rest to one that fits."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        worker = not self.request.is_eager and self.request.hostname
        # Like what is imported at a start, this needs the applications.
        if worker and (wrong := import_module("config.migrations").misfit()):
            logger.error("The worker takes no more work and ends. %s", wrong)
            self.app.control.shutdown([worker])
            return None
        return super().__call__(*args, **kwargs)


app = Celery("baseliner", task_cls=Fitting)
app.config_from_object("django.conf:settings", namespace="CELERY")
# What is run at a time or for a job. Many stand beside what they run.
app.conf.imports = [
    "annotation.benchmarks.importing",
    "annotation.studies.exported_judgements",
    "annotation.simulation.rehearsing",
    "scoring.report.documents",
    "scoring.episodes.grids",
    "scoring.episodes.tables",
    "scoring.samples.exporting",
]
ROOMS = [
    "annotation",
    "scoring.analysis",
    "scoring.runs",
    "scoring.figures",
    "scoring.asking",
    "scoring.bundle",
    "scoring.elsewhere",
]
app.autodiscover_tasks(ROOMS)


@worker_init.connect
def refuse_another_database(**kwargs: object) -> None:
    # It needs the applications, which are loaded by then.
    import_module("config.migrations").refuse_another_database()


# No broker redelivers a message lost with its worker in time, so a job is a
# row that the sweep takes up again; a lapsed lease makes a place claimable.
EVERY_S = 60.0
SCHEDULED = [
    "annotation.tasks.sweep_jobs",
    "annotation.tasks.act_by_the_clock",
    "annotation.tasks.remove_old",
    "annotation.tasks.summarise_work",
    "annotation.tasks.poll_prolific",
    "annotation.tasks.tell_webhooks",
    "scoring.runs.tasks.remove_abandoned_runs",
    "scoring.analysis.tasks.freeze_claims",
]
# What runs at a time has a queue of its own, which no long work holds up.
LONG_WORK, SCHEDULE = "celery", "schedule"
app.conf.task_queues = [Queue(LONG_WORK), Queue(SCHEDULE)]
app.conf.beat_schedule = {
    task: {
        "task": task,
        "schedule": EVERY_S,
        # Without a worker the queue would fill with the same request.
        "options": {"expires": EVERY_S, "queue": SCHEDULE},
    }
    for task in SCHEDULED
}

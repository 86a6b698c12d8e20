"""Whether this installation can serve, asked by load balancers and by people; and metrics for
Prometheus: what the database holds, whichever process is asked, and how long requests take, in
files that the processes of one machine share."""

import hmac
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.cache import cache
from django.db import DatabaseError, connection, transaction
from django.db.models import Count, Min, Q, Sum
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu.exceptions import OperationalError
from prometheus_client import CollectorRegistry, Histogram, generate_latest, multiprocess
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from annotation.models import (
    Assignment,
    Job,
    JobState,
    JoinCount,
    Judgement,
    Place,
    StudyState,
    clock,
)
from annotation.models.resting import Rest
from config.celery import app as queue
from config.migrations import misfit

Family = CounterMetricFamily | GaugeMetricFamily
OK = "ok"
# Below this the next answers might not be stored any more.
LEAST_FREE_BYTES = 20_000_000
# People's times are the database's; a machine that is further away from them is not looked after.
MOST_CLOCK_DRIFT_S = 5
WORKER_TAKES_WITHIN = timedelta(minutes=2)
UNANSWERED = "The database does not answer."
BROKER_WAITS_S = 2


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Whether the database answers and can be written to; the rest of what keeps work away is only
    named, since no other process would do better here."""
    database = _database()
    parts = [database] if database != OK else [_asked(_version), _asked(_clock)]
    wrong = [part for part in parts if part != OK]
    status = 200 if database == OK else 503
    return HttpResponse("".join(f"{part}\n" for part in wrong or [OK]), "text/plain", status)


@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Whether this process can do all of its work, part by part: "ok", or what is wrong."""
    parts = _parts()
    ready = all(part == OK for part in parts.values())
    return JsonResponse(parts, status=200 if ready else 503)


def troubles() -> list[str]:
    return [part for part in _parts().values() if part != OK]


def _parts() -> dict[str, str]:
    return {
        "database": _database(),
        "queue": _queue(),
        "worker": _asked(_worker),
        "cache": _cache(),
        "disk": _disk(),
        "clock": _asked(_clock),
        "version": _asked(_version),
    }


class Fitness:
    """What keeps this process from taking work: pages say so, and ask again. It is looked at every
    few seconds, not for each page, so that not each waits for a silent database."""

    def __init__(self) -> None:
        self._rest, self._trouble = Rest(), ""

    def trouble(self) -> str:
        if self._rest.is_over:
            self._rest.begin()
            parts = map(_asked, (_version, _clock))
            self._trouble = next((part for part in parts if part != OK), "")
            if self._trouble == UNANSWERED:  # which may have taken as long as the rest
                self._rest.begin()
        return self._trouble


fitness = Fitness()


def _asked(part: Callable[[], str]) -> str:
    """What a part of the database's says of itself."""
    try:
        return part()
    except DatabaseError:
        return UNANSWERED


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return UNANSWERED
    if _can_write():
        return OK
    return "The database can't write: make room on its disk, or make it writable."


def _queue() -> str:
    try:
        with queue.connection_for_write(connect_timeout=BROKER_WAITS_S) as broker:
            broker.ensure_connection(max_retries=1, timeout=BROKER_WAITS_S)
    except (OSError, OperationalError, RedisError):
        return "The queue does not answer: long work waits until it does."
    return OK


def _worker() -> str:
    """Work that waits while none runs: where some does, it is only the next."""
    waits = Job.objects.filter(
        state=JobState.QUEUED, created_at__lt=clock.now() - WORKER_TAKES_WITHIN
    )
    if waits.exists() and not Job.objects.filter(state=JobState.RUNNING).exists():
        return "No worker takes the long work that waits: start one."
    return OK


def _cache() -> str:
    try:
        cache.get("readyz")
    except (OSError, RedisError):
        return "The cache does not answer: work goes on, and nothing is throttled."
    return OK


def _disk() -> str:
    if shutil.disk_usage(settings.DATA_DIR).free < LEAST_FREE_BYTES:
        return "The disk of DATA_DIR is full."
    return OK


def _clock() -> str:
    drift_s = clock.drift_s()
    if abs(drift_s) <= MOST_CLOCK_DRIFT_S:
        return OK
    return f"This machine's clock is {drift_s:.0f} s from the database's: set it, as by NTP."


def _version() -> str:
    return misfit() or OK


def _can_write() -> bool:
    """Ask the disk on SQLite: to write would be to wait for whoever is writing."""
    if connection.vendor == "sqlite":
        file = Path(connection.settings_dict["NAME"])
        return os.access(file, os.W_OK) and shutil.disk_usage(file).free >= LEAST_FREE_BYTES
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("CREATE TEMPORARY TABLE healthz AS SELECT repeat('x', 8192) AS content")
            transaction.set_rollback(True)
    except DatabaseError:
        return False
    return True


SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10, 30)
REQUESTS = Histogram(
    "baseliner_request_seconds",
    "Time to a response, by the name of its address.",
    ["address", "method", "status"],
    buckets=SECONDS,
)


class Stored(Collector):
    def collect(self) -> Iterator[Metric]:
        for family, rows in self._families():
            for *values, number in rows:
                family.add_metric(values, number)
            yield family

    def _families(self) -> Iterator[tuple[Family, Iterable[tuple[Any, ...]]]]:
        """Each with its rows: the values of its labels, and the number."""
        meaning = "Answers stored, by people and simulated."
        answers = [(Judgement.objects.order_by().count(),)]
        yield CounterMetricFamily("baseliner_answers", meaning), answers
        meaning = "People who consented, by how their work ended."
        people = Assignment.objects.asked_here().order_by().values_list("outcome")
        joins = ((end or "at work", n) for end, n in people.annotate(Count("pk")))
        yield CounterMetricFamily("baseliner_joins", meaning, labels=["outcome"]), joins
        meaning = "People who declined, or came when the study was full."
        away = JoinCount.objects.order_by().values_list("answer").annotate(Sum("count"))
        yield CounterMetricFamily("baseliner_turned_away", meaning, labels=["answer"]), away
        places = GaugeMetricFamily(
            "baseliner_places", "Places of open studies.", labels=["study", "state"]
        )
        yield places, _places()
        meaning = "Long work, by its state."
        jobs = Job.objects.order_by().values_list("state").annotate(Count("pk"))
        yield GaugeMetricFamily("baseliner_jobs", meaning, labels=["state"]), jobs
        meaning = "How long the oldest queued job has waited."
        oldest = Job.objects.filter(state=JobState.QUEUED).aggregate(at=Min("created_at"))["at"]
        waited = [((clock.now() - oldest).total_seconds() if oldest else 0,)]
        yield GaugeMetricFamily("baseliner_oldest_waiting_job_seconds", meaning), waited


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The metrics, for whoever has METRICS_TOKEN; without one there is no such page."""
    sent = request.headers.get("Authorization", "")
    needed = f"Bearer {settings.METRICS_TOKEN}"
    if not settings.METRICS_TOKEN or not hmac.compare_digest(sent.encode(), needed.encode()):
        raise Http404
    return HttpResponse(generate_latest(_registry()), CONTENT_TYPE_LATEST)


def _registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(Stored())
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        # The package types the rest of itself, not this.
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(REQUESTS)
    return registry


def _places() -> Iterator[tuple[str, str, int]]:
    places = Place.objects.filter(simulated=False, batch__study__state=StudyState.OPEN)
    at_work = Q(kept=False, holder__isnull=False, lease_until__gte=clock.now())
    for study, finished, working, every in (
        places.order_by()
        .values_list("batch__study__slug")
        .annotate(a=Count("pk", Q(kept=True)), b=Count("pk", at_work), c=Count("pk"))
    ):
        yield study, "finished", finished
        yield study, "at work", working
        yield study, "free", every - finished - working

"""Metrics for Prometheus: how long requests take, and what the database holds.

What is counted in the database is the same whichever process is asked; the times of requests are
each process's own, in files that the processes of one machine share.
"""

import hmac
import os
from collections.abc import Iterator

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db.models import Count, Min, Q, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, Histogram, generate_latest, multiprocess
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import REGISTRY, Collector

from annotation.models import Assignment, Job, JobState, JoinCount, Judgement, Place, StudyState

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10, 30)
REQUESTS = Histogram(
    "baseliner_request_seconds",
    "Time to a response, by the name of its address.",
    ["address", "method", "status"],
    buckets=SECONDS,
)


class Stored(Collector):
    def collect(self) -> Iterator[Metric]:
        yield from (_answers(), _joins(), _turned_away(), _places(), *_jobs())


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Only for whoever has METRICS_TOKEN; without one there is no such page."""
    given = request.headers.get("Authorization", "")
    wanted = f"Bearer {settings.METRICS_TOKEN}"
    if not settings.METRICS_TOKEN or not hmac.compare_digest(given.encode(), wanted.encode()):
        raise Http404
    return HttpResponse(generate_latest(_registry()), CONTENT_TYPE_LATEST)


def _registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(Stored())
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        # The package types the rest of itself, not this.
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(_OfThisProcess())
    return registry


class _OfThisProcess(Collector):
    def collect(self) -> Iterator[Metric]:
        yield from (found for found in REGISTRY.collect() if found.name.startswith("baseliner_"))


def _answers() -> Metric:
    family = CounterMetricFamily("baseliner_answers", "Answers stored, by people and simulated.")
    family.add_metric([], Judgement.objects.order_by().count())
    return family


def _joins() -> Metric:
    family = CounterMetricFamily(
        "baseliner_joins", "People who consented, by how their work ended.", labels=["outcome"]
    )
    people = Assignment.objects.of_people().order_by().values_list("outcome")
    for outcome, number in people.annotate(Count("pk")):
        family.add_metric([outcome or "at work"], number)
    return family


def _turned_away() -> Metric:
    family = CounterMetricFamily(
        "baseliner_turned_away",
        "People who declined, or came when the study was full.",
        labels=["answer"],
    )
    counts = JoinCount.objects.order_by().values_list("answer").annotate(Sum("count"))
    for answer, number in counts:
        family.add_metric([answer], number)
    return family


def _places() -> Metric:
    family = GaugeMetricFamily(
        "baseliner_places", "Places of open studies.", labels=["study", "state"]
    )
    places = Place.objects.filter(simulated=False, batch__study__state=StudyState.OPEN)
    at_work = Q(kept=False, holder__isnull=False, lease_until__gte=timezone.now())
    counted = places.order_by().values("batch__study__slug")
    for row in counted.annotate(
        finished=Count("pk", Q(kept=True)), at_work=Count("pk", at_work), all=Count("pk")
    ):
        free = row["all"] - row["finished"] - row["at_work"]
        for state, number in [
            ("finished", row["finished"]),
            ("at work", row["at_work"]),
            ("free", free),
        ]:
            family.add_metric([row["batch__study__slug"], state], number)
    return family


def _jobs() -> tuple[Metric, Metric]:
    family = GaugeMetricFamily("baseliner_jobs", "Long work, by its state.", labels=["state"])
    for state, number in Job.objects.order_by().values_list("state").annotate(Count("pk")):
        family.add_metric([state], number)
    waiting = GaugeMetricFamily(
        "baseliner_oldest_waiting_job_seconds", "How long the oldest queued job has waited."
    )
    oldest = Job.objects.filter(state=JobState.QUEUED).aggregate(at=Min("created_at"))["at"]
    waiting.add_metric([], (timezone.now() - oldest).total_seconds() if oldest else 0)
    return family, waiting

"""Whether this installation can serve: asked by load balancers and by people."""

import os
import shutil
from pathlib import Path

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from config.celery import app as queue

OK = "ok"
# Below this the next answers might not be stored any more.
LEAST_FREE_BYTES = 20_000_000
# Leases and times of work are taken from this clock.
MOST_CLOCK_DRIFT_S = 5
BROKER_WAITS_S = 2


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    told = _database()
    return HttpResponse(f"{told}\n", "text/plain", 200 if told == OK else 503)


@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Whether this process can do all of its work, part by part: "ok", or what is wrong."""
    parts = {"database": _database(), "queue": _queue(), "disk": _disk(), "clock": _clock()}
    ready = all(told == OK for told in parts.values())
    return JsonResponse(parts, status=200 if ready else 503)


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "The database does not answer."
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


def _disk() -> str:
    if shutil.disk_usage(settings.DATA_DIR).free < LEAST_FREE_BYTES:
        return "The disk of DATA_DIR is full."
    return OK


def _clock() -> str:
    if connection.vendor != "postgresql":
        return OK  # the database is in this process
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            drift = timezone.now() - cursor.fetchone()[0]
    except DatabaseError:
        return "The database does not tell its time."
    if abs(drift.total_seconds()) > MOST_CLOCK_DRIFT_S:
        return f"This machine's clock is {drift.total_seconds():.0f} s from the database's."
    return OK


def _can_write() -> bool:
    """On SQLite told by the disk: to write would be to wait for whoever is writing."""
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

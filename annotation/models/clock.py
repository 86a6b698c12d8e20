"""The one clock: the database's. What is paid, leased, swept, ordered or expires is told by it, so
that several machines agree, whatever their own clocks say. It is asked about once a minute, and in
between a process's stopwatch goes on from there."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, ClassVar

from django.db import connection, models
from django.utils import timezone

ASKED_AGAIN_AFTER_S = 60
# Where a story is told of what happened before: when.
_told: ContextVar[datetime | None] = ContextVar("told", default=None)
# By more than that, this machine's clock was set, or the machine slept and the stopwatch stood.
SET_BY_S = 1


@dataclass(frozen=True)
class Reading:
    """Three clocks at one moment: the database's, this machine's, and the process's stopwatch."""

    database: datetime
    machine: datetime
    stopwatch_s: float
    latest: ClassVar["Reading | None"] = None

    @property
    def is_stale(self) -> bool:
        passed_s = monotonic() - self.stopwatch_s
        set_by_s = (timezone.now() - self.machine).total_seconds() - passed_s
        return passed_s > ASKED_AGAIN_AFTER_S or abs(set_by_s) > SET_BY_S


@contextmanager
def telling(moment: datetime) -> Iterator[None]:
    """Within it the time is this moment: so the log of a demonstration has the times of its
    story."""
    token = _told.set(moment)
    try:
        yield
    finally:
        _told.reset(token)


def now() -> datetime:
    if (told := _told.get()) is not None:
        return told
    if connection.vendor != "postgresql":
        return timezone.now()  # SQLite is on this machine, and has no other clock.
    reading = Reading.latest
    if reading is None or reading.is_stale:
        reading = Reading.latest = _read()
    return reading.database + timedelta(seconds=monotonic() - reading.stopwatch_s)


def drift_s() -> float:
    """The seconds by which this machine's clock is ahead of the database's."""
    return (timezone.now() - now()).total_seconds()


def _read() -> Reading:
    # Not while the time is read, which would make it older.
    connection.ensure_connection()
    began_s = monotonic()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (moment,) = cursor.fetchone()
    return Reading(moment, timezone.now(), (began_s + monotonic()) / 2)


class WrittenAtField(models.DateTimeField[datetime, datetime]):
    """A DateTimeField whose auto_now and auto_now_add are told by the one clock. Migrations know it
    as Django's own: the column is the same."""

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        if self.auto_now or (self.auto_now_add and add):
            setattr(model_instance, self.attname, now())
        return getattr(model_instance, self.attname)

    def deconstruct(self) -> Any:
        name, _path, arguments, options = super().deconstruct()
        return name, "django.db.models.DateTimeField", arguments, options

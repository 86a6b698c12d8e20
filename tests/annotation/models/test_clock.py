"""The one clock is the database's, however this machine's is set."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from annotation.models import Assignment, Job, Judgement, clock
from tests import make
from tests.annotation.work.test_entering import consented

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
APART = [timedelta(seconds=90), timedelta(seconds=-90), timedelta(hours=1), timedelta(hours=-1)]
Put = Callable[[timedelta], None]


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch) -> Put:
    """The clock of this machine, not the database's."""
    now = timezone.now
    return lambda by: monkeypatch.setattr(timezone, "now", lambda: now() + by)


def database_time() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        told: datetime = cursor.fetchone()[0]
    return told


# SQLite has no clock but this machine's.
if connection.vendor == "postgresql":
    SOON = timedelta(seconds=1)

    @pytest.mark.parametrize("by", [*APART, timedelta(seconds=4)], ids=str)
    def test_is_the_databases(put: Put, by: timedelta) -> None:
        put(by)
        before = database_time() - SOON
        assert before < clock.now() < database_time() + SOON
        assert clock.drift_s() == pytest.approx(by.total_seconds(), abs=2)

    def test_is_asked_for_once(put: Put, django_assert_num_queries: Any) -> None:
        put(timedelta(hours=1))
        with django_assert_num_queries(1):
            assert clock.now() <= clock.now()

    def test_tells_when_a_row_was_written(put: Put) -> None:
        put(timedelta(hours=1))
        assert Job.objects.create(kind="any").created_at < database_time() + SOON

    @pytest.mark.parametrize("by", APART, ids=str)
    def test_pays_what_was_worked_at_two_machines(put: Put, by: timedelta) -> None:
        began = database_time() - SOON
        client = consented(make.running_batch(zero_shot=True))
        assert client.post("/work/begin/").status_code == 302
        put(by)
        assert client.post("/work/submit/", {"step": "0", "option": "1"}).status_code == 302
        took = database_time() + SOON - began
        assert timedelta(milliseconds=Judgement.objects.get().paid_ms) < took
        assert began < Assignment.objects.get().seen_at < database_time() + SOON

else:

    @pytest.mark.parametrize("by", APART, ids=str)
    def test_on_sqlite_is_the_machines_and_is_asked_for_nowhere(
        put: Put, by: timedelta, django_assert_num_queries: Any
    ) -> None:
        put(by)
        with django_assert_num_queries(0):
            assert clock.now() <= timezone.now()

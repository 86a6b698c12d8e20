"""A row by a statement that is compiled once: the same as the ORM's, in every thread."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from annotation.access.cookies import WORKED_ON
from annotation.models import Assignment, Place
from tests import make

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]
DEFERRED = ("study__frozen", "study__consent_text")


def plain(assignment: Assignment | None) -> list[dict[str, Any] | None]:
    """What was loaded of it, its study and its place."""
    assert assignment is not None
    rows = (assignment, assignment.study, getattr(assignment, "place", None))
    return [
        {name: value for name, value in vars(row).items() if name != "_state"} if row else None
        for row in rows
    ]


def by_the_orm(pk: int) -> Assignment:
    return Assignment.objects.select_related("place", "study").defer(*DEFERRED).get(pk=pk)


def test_is_the_row_that_the_orm_gives() -> None:
    batch = make.running_batch(wanted=2)
    placed, released = (make.at_work(batch).pk for _ in range(2))
    Place.objects.filter(holder=released).update(holder=None)
    for pk in (placed, released, placed):
        with CaptureQueriesContext(connection) as asked:
            assert plain(WORKED_ON.get(pk)) == plain(by_the_orm(pk))
        # Once each, and the same but for the limit.
        own, by_orm = (query["sql"] for query in asked.captured_queries)
        assert by_orm.startswith(own)
    assert WORKED_ON.get(placed + released) is None


def test_reads_what_is_there_now_in_every_thread() -> None:
    assignment = make.at_work(make.running_batch())

    def step_in_a_thread(_: int) -> int | None:
        try:
            row = WORKED_ON.get(assignment.pk)
            return row.step if row else None
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(step_in_a_thread, range(8))] == [0] * 8
        Assignment.objects.update(step=2)
        assert [*threads.map(step_in_a_thread, range(8))] == [2] * 8

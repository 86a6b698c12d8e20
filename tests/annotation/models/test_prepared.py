"""Rows by statements that are compiled once: the same as the ORM's, in every thread."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import IntegrityError, connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from annotation.access.cookies import OUT_OF_SIGHT, WORKED_ON
from annotation.models import Assignment, Example, Judgement, Place, WorkState, prepared
from tests import make

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]
DEFERRED = [f"study__{name}" for name in OUT_OF_SIGHT]


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


COUNTED = {"browser_ms": 3, "first_action_ms": 2, "active_ms": 1, "pastes": 0, "typed": 9}


def undone(act: Callable[[], object], read: Callable[[], object]) -> tuple[str, object]:
    """The statement of an act, and what is there after it; then it never was."""
    with transaction.atomic():
        with CaptureQueriesContext(connection) as asked:
            act()
        found = read()
        transaction.set_rollback(True)
    (statement,) = asked.captured_queries
    return statement["sql"], found


@pytest.mark.parametrize(
    "own",
    [
        {"answer": ["good"], "spans": [[0, 1, 2]], "options_order": [1, 0]}
        | {"decoy": False, "translated": True}
        | COUNTED,
        {"answer": []},
        {"answer": ['“’%s \\ " ñ 🦆']},
    ],
)
def test_stores_a_row_as_the_orm_does(own: dict[str, Any]) -> None:
    assignment = make.at_work(make.running_batch(tests=3))
    example = Example.objects.earliest("pk")

    def judgement() -> Judgement:
        times = {"shown_at": make.NOON, "submitted_at": make.NOON, "paid_ms": 7}
        item = {"assignment": assignment, "example": example, "role": "test", "step": 0}
        return Judgement(**item, **times, **own)

    def stored() -> dict[str, Any]:
        (found,) = Judgement.objects.values()
        return {name: value for name, value in found.items() if name != "id"}

    by_orm = undone(lambda: judgement().save(), stored)
    assert undone(lambda: prepared.insert(judgement()), stored) == by_orm
    row = judgement()
    prepared.insert(row)
    assert Judgement.objects.get(pk=row.pk) == row
    assert not row._state.adding
    with pytest.raises(IntegrityError):
        prepared.insert(judgement())


def test_changes_rows_as_the_orm_does() -> None:
    assignment = make.at_work(make.running_batch(tests=3))
    where = {"id": assignment.pk, "state": WorkState.ANSWERING, "step": 0}
    changes = {"state": WorkState.ANSWERING, "step": 1, "paid_ms": 12, "seen_at": make.NOON}

    def stored() -> dict[str, Any]:
        return dict(Assignment.objects.values().get())

    rows = Assignment.objects.filter(**where)
    by_orm = undone(lambda: rows.update(**changes), stored)
    assert undone(lambda: prepared.update(Assignment, where, changes), stored) == by_orm
    assert prepared.update(Assignment, where, changes) == 1
    assert prepared.update(Assignment, where, changes) == 0
    assert stored()["step"] == 1

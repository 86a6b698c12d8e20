"""What submissions the database keeps: of many at once, and from before they had rows."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection as database
from django.test import Client

from annotation.models import Assignment, Submission
from annotation.prolific import statuses
from tests import make
from tests.annotation.prolific.conftest import paid_batch
from tests.annotation.prolific.test_submissions import SECOND, at_work_in, link, own
from tests.tab import Tab
from tests.together import at_once

pytestmark = pytest.mark.django_db


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_of_the_same_entry_many_times_at_once_one_row_is_kept() -> None:
    batch = paid_batch(wanted=1)
    client = at_work_in(batch)
    tab = Tab(client, link(batch, SECOND))
    [(action, form)] = ((a, fields) for a, fields in tab.forms.items() if "submission" in fields)
    cookies = client.cookies.output(header="", sep=";")

    def enter(_: int) -> int:
        return Client(headers={"cookie": cookies}).post(action, form).status_code

    assert at_once(enter, 4) == [302] * 4
    assert Submission.objects.count() == 2
    assert own().submission_id == SECOND


@pytest.fixture
def before(transactional_db: None) -> Iterator[None]:
    yield
    call_command("migrate", verbosity=0)


def columns() -> list[str]:
    with database.cursor() as cursor:
        described = database.introspection.get_table_description(cursor, "annotation_assignment")
        return [column.name for column in described]


@pytest.mark.both_databases
def test_goes_over_to_rows_and_back(before: None) -> None:
    batch = paid_batch(wanted=1)
    told = make.joined(batch, submission_id="sub-1")
    say_of(told, "RETURNED")
    untold = make.joined(batch, submission_id="sub-2")
    make.entered_by(untold, "sub-3", at=make.NOON + timedelta(minutes=5))
    nothing = make.joined(make.running_batch())
    call_command("migrate", "annotation", "0016", verbosity=0)
    assert "submission_id" in columns()
    with database.cursor() as cursor:
        cursor.execute("SELECT id, submission_id FROM annotation_assignment")
        assert dict(cursor.fetchall()) == {told.pk: "sub-1", untold.pk: "sub-3", nothing.pk: ""}
        cursor.execute("SELECT assignment_id, status FROM annotation_submission")
        assert cursor.fetchall() == [(told.pk, "RETURNED")]
    call_command("migrate", verbosity=0)
    kept = {one.pk: one.submission_id for one in Assignment.objects.all()}
    assert kept == {told.pk: "sub-1", untold.pk: "sub-3", nothing.pk: ""}
    assert [one.entered_at for one in Submission.objects.all()] == [make.NOON] * 2


def say_of(assignment: Assignment, status: str) -> None:
    submission = assignment.submissions.get()
    statuses.note_status(submission, status, said_at=make.NOON)

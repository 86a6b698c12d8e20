"""Erasure by age, from the tables and from the files under them."""

from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from axes.models import AccessAttempt
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from annotation.models import Annotator, Assignment, Batch, Change, Comment, StudyState
from annotation.studies.lifecycle import close_study
from annotation.work.commenting import add_comment
from tests import make

pytestmark = pytest.mark.django_db

YEARS = timedelta(days=800)


def erase(*arguments: str) -> str:
    out = StringIO()
    call_command("erase_by_age", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def batch() -> Batch:
    """Of a study that was closed two years ago."""
    batch = make.running_batch(via="prolific", training=1, tests=1)
    make.worked_through(batch, who=make.annotator("prolific", "5f1e"))
    close_study(batch.study, at=make.NOON, by=None)
    Assignment.objects.update(finished_at=timezone.now() - YEARS)
    return batch


def known() -> list[str]:
    return list(Annotator.objects.exclude(external_id="").values_list("external_id", flat=True))


@pytest.mark.both_databases
def test_erases_old_ids_and_keeps_the_judgements(batch: Batch) -> None:
    assert erase("--ids", "365", "--dry-run") == "Would erase: 1 ids.\n"
    assert known() == ["5f1e"]
    assert erase("--ids", "365") == "Erased: 1 ids.\n"
    assert known() == []
    assert Assignment.objects.get().judgements.count() == 2
    assert erase("--ids", "365") == "Erased: 0 ids.\n"


def test_keeps_ids_that_are_young_enough(batch: Batch) -> None:
    assert erase("--ids", "1000") == "Erased: 0 ids.\n"
    assert known() == ["5f1e"]


def test_keeps_ids_while_a_study_of_theirs_is_not_closed(batch: Batch) -> None:
    another = make.running_batch(via="prolific", training=1, tests=1)
    make.worked_through(another, who=Annotator.objects.get())
    Assignment.objects.update(finished_at=timezone.now() - YEARS)
    assert erase("--ids", "365") == "Erased: 0 ids.\n"
    type(another.study).objects.update(state=StudyState.CLOSED)
    assert erase("--ids", "365") == "Erased: 1 ids.\n"


def test_keeps_ids_of_those_who_have_not_ended(batch: Batch) -> None:
    make.at_work(make.running_batch(via="prolific"), who=Annotator.objects.get())
    assert erase("--ids", "0") == "Erased: 0 ids.\n"


def test_erases_comments_changes_and_sign_ins_by_their_own_age(batch: Batch) -> None:
    add_comment(
        Assignment.objects.get(), text="The button jumped.", step=None, at=timezone.now() - YEARS
    )
    AccessAttempt.objects.create(username="eve", ip_address="192.0.2.1", failures_since_start=1)
    AccessAttempt.objects.update(attempt_time=timezone.now() - YEARS)
    with make.unlocked():
        Change.objects.update(at=timezone.now() - YEARS)
    changes = Change.objects.count()
    assert changes
    told = erase("--comments", "365", "--changes", "900", "--sign-ins", "365")
    assert told == "Erased: 1 comments, 0 changes, 1 sign-ins.\n"
    assert (Comment.objects.count(), AccessAttempt.objects.count()) == (0, 0)
    assert erase("--changes", "365") == f"Erased: {changes} changes.\n"
    assert known() == ["5f1e"]


@pytest.mark.parametrize("age", ["-1", "one", "1e9", "99999"])
def test_refuses_what_is_no_number_of_days(age: str) -> None:
    with pytest.raises(CommandError, match=r"no number of days|expected one argument"):
        erase("--ids", age)


def test_asks_what_is_to_be_erased() -> None:
    with pytest.raises(CommandError, match="Say what"):
        erase()


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_leaves_nothing_of_an_erased_id_in_the_files() -> None:
    name = "a-person-who-wants-to-be-forgotten"
    for number in range(50):
        make.annotator("prolific", f"{name}-{number}")
    Annotator.objects.update(created_at=timezone.now() - YEARS)
    before = kept_in_files(name)
    assert before
    assert erase("--ids", "365") == "Erased: 50 ids.\n"
    assert set(before).isdisjoint(kept_in_files(name))


def kept_in_files(name: str) -> list[object]:
    """On SQLite the files that hold the name; a server keeps its files to itself, and tells which
    one a table is in: another, once it was written anew."""
    if connection.vendor == "sqlite":
        files = [Path(f"{connection.settings_dict['NAME']}{end}") for end in ("", "-wal")]
        return [file for file in files if file.exists() and name.encode() in file.read_bytes()]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_relation_filenode(%s)", [Annotator._meta.db_table])
        return [cursor.fetchone()[0]]

from datetime import timedelta

import pytest

from annotation.access.identity import identity_hash
from annotation.models import Annotator, Assignment, Batch, Invitation, Judgement
from annotation.studies.people import erase_annotator, invite
from annotation.work.joining import Full
from annotation.work.joining import person as person_of
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch() -> Batch:
    return make.running_batch(via="prolific", training=1, tests=1)


@pytest.fixture
def person() -> Annotator:
    return make.annotator("prolific", "5f1e")


@pytest.mark.both_databases
def test_forgets_who_it_was_and_keeps_the_hash(batch: Batch, person: Annotator) -> None:
    assignment = make.worked_through(batch, who=person)
    erase_annotator(person, at=make.NOON)
    assert (person.external_id, person.erased_at) == ("", make.NOON)
    assert person.identity_hash == identity_hash(person.channel, "5f1e")
    assert assignment.judgements.count() == 2


def test_still_knows_that_nobody_works_twice(batch: Batch, person: Annotator) -> None:
    make.worked_through(batch, who=person)
    erase_annotator(person, at=make.NOON)
    again = person_of(person.channel, "5f1e")
    assert again == person
    with pytest.raises(Full):
        make.joined(batch, who=again, submission_id="another")
    again.refresh_from_db()
    assert again.external_id == ""


def test_blanks_the_submission_ids(batch: Batch, person: Annotator) -> None:
    assignment = make.joined(batch, who=person, submission_id="session-1")
    make.joined(batch, who=person, submission_id="session-2")
    erase_annotator(person, at=make.NOON)
    assert list(assignment.submissions.values_list("submission_id", flat=True)) == ["", ""]


def test_forgets_the_browser(batch: Batch, person: Annotator) -> None:
    assignment = make.joined(batch, who=person)
    Assignment.objects.update(browser_hash="of a browser")
    erase_annotator(person, at=make.NOON)
    assignment.refresh_from_db()
    assert assignment.browser_hash == ""


def test_ends_unfinished_work_as_withdrawn_and_paid(batch: Batch, person: Annotator) -> None:
    assignment = make.at_work(batch, who=person)
    make.answer(assignment, at=make.NOON + timedelta(minutes=2))
    erase_annotator(person, at=make.NOON + timedelta(minutes=3))
    assignment.refresh_from_db()
    assert assignment.outcome == "withdrawn"
    assert assignment.amount > 0
    assert Judgement.objects.filter(assignment=assignment).count() == 1


def test_removes_this_persons_invitations_alone(batch: Batch, person: Annotator) -> None:
    other_channel = make.study(batch.study.benchmark, via="invited")
    invite(batch.study, ["5f1e", "other"])
    invite(other_channel, ["5f1e"])
    erase_annotator(person, at=make.NOON)
    left = Invitation.objects.values_list("study", "external_id")
    assert set(left) == {(batch.study.pk, "other"), (other_channel.pk, "5f1e")}


def test_is_safe_to_run_twice(batch: Batch, person: Annotator) -> None:
    invite(batch.study, ["other"])
    erase_annotator(person, at=make.NOON)
    erase_annotator(person, at=make.NOON + timedelta(days=1))
    assert person.erased_at == make.NOON
    assert Invitation.objects.count() == 1

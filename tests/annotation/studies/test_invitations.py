import csv

import pytest

from annotation.models import Study
from annotation.models.errors import BadInput
from annotation.studies.lifecycle import close_study
from annotation.studies.people import erase_annotator, invite, links_csv, read_people
from annotation.work.joining import person
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return make.running_batch(via="invited").study


def test_gives_each_person_a_link_of_their_own(study: Study) -> None:
    invitations = invite(study, ["ann", "bob"])
    assert [invitation.external_id for invitation in invitations] == ["ann", "bob"]
    assert len({invitation.token for invitation in invitations}) == 2


def test_keeps_the_link_of_a_person_invited_before(study: Study) -> None:
    (first,) = invite(study, ["ann"])
    again = invite(study, ["bob", "ann"])
    assert {i.external_id: i.token for i in again}["ann"] == first.token
    assert study.invitations.count() == 2


def test_writes_the_links_as_csv(study: Study) -> None:
    invite(study, ["ann", 'Smith, "Bob"'])
    rows = list(csv.reader(links_csv(study, lambda invitation: f"https://x/{invitation.token}")))
    tokens = study.invitations.order_by("id").values_list("token", flat=True)
    assert rows == [
        ["id", "link"],
        ["ann", f"https://x/{tokens[0]}"],
        ['Smith, "Bob"', f"https://x/{tokens[1]}"],
    ]


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("ann\nbob\n", ["ann", "bob"]),
        ("id,name\nann,Ann\nbob,Bob", ["ann", "bob"]),
        ("\ufeffEmail;name\r\na@b.c;Ann\r\n", ["a@b.c"]),
        ("ann\tAnn\n\n\nbob\tBob\nann\tAnn again", ["ann", "bob"]),
        ('"Smith, Bob",x\n', ["Smith, Bob"]),
    ],
)
def test_reads_the_first_column(text: str, people: list[str]) -> None:
    assert read_people(text) == people


@pytest.mark.parametrize("text", ["", "\n \n", "id,name\n"])
def test_refuses_a_list_of_nobody(text: str) -> None:
    with pytest.raises(BadInput, match="No ids"):
        read_people(text)


def test_takes_two_spellings_of_an_id_for_one() -> None:
    assert read_people("Jose\u0301\nJos\u00e9\n") == ["Jos\u00e9"]


@pytest.mark.parametrize("bad", ["x" * 201, "a\0b", "a\x1bb", "a\u200bb"])
def test_names_the_line_that_cannot_be_used(bad: str) -> None:
    with pytest.raises(BadInput, match="Line 2"):
        read_people(f"ann\n{bad}\n")


def test_does_not_record_an_erased_person_again(study: Study) -> None:
    annotator = person(study.channel, "ann")
    annotator.save()
    erase_annotator(annotator, at=make.NOON)
    with pytest.raises(BadInput, match="asked to be erased"):
        invite(study, ["bob", "ann"])
    assert not study.invitations.exists()


def test_invites_nobody_into_a_closed_study(study: Study) -> None:
    close_study(study, at=make.NOON)
    with pytest.raises(BadInput, match="closed"):
        invite(study, ["ann"])

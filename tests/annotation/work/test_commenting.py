"""What annotators tell the people who run the study, beside their answers."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from annotation.models import Assignment, Comment
from annotation.models.errors import BadInput
from annotation.studies.exported_judgements import export_judgements
from annotation.studies.people import erase_annotator
from annotation.work import commenting
from annotation.work.commenting import LONGEST, add_comment
from annotation.work.judging import current_example
from tests import make

pytestmark = pytest.mark.django_db
COMMENT = "/work/comment/"


def _state_of(assignment: Assignment) -> dict[str, object]:
    return dict(Assignment.objects.filter(pk=assignment.pk).values().get())


@pytest.fixture
def assignment() -> Assignment:
    return make.at_work(make.running_batch(), at=timezone.now())


@pytest.fixture
def client(assignment: Assignment) -> Client:
    client = Client()
    client.get(reverse("annotation:resume", args=[assignment.resume_token]))
    return client


def test_stores_a_comment_with_its_example_and_changes_nothing_else(
    client: Client, assignment: Assignment
) -> None:
    before, lease = _state_of(assignment), assignment.place.lease_until
    page = client.get(COMMENT).content.decode()
    assert "Report a problem with this item" in page
    assert "Practice 1 of 3" in page
    response = client.post(COMMENT, {"step": "0", "text": " The text is cut off. "}, follow=True)
    assert "It is stored" in response.content.decode()
    stored = Comment.objects.get()
    assert stored.text == "The text is cut off."
    assert stored.example_id == current_example(assignment).pk
    assert _state_of(assignment) == before
    assignment.place.refresh_from_db()
    assert assignment.place.lease_until == lease


def test_belongs_to_the_example_that_was_shown_not_to_the_present_one(
    client: Client, assignment: Assignment
) -> None:
    first = current_example(assignment).pk
    make.answer(assignment)
    client.post(COMMENT, {"step": "0", "text": "That one was odd."})
    assert Comment.objects.get().example_id == first


@pytest.mark.parametrize("step", ["1", "99"])
def test_names_no_example_that_was_not_shown(client: Client, step: str) -> None:
    client.post(COMMENT, {"step": step, "text": "What comes next?"})
    assert Comment.objects.get().example is None


def test_takes_a_comment_at_the_end(client: Client, assignment: Assignment) -> None:
    client.post("/work/withdraw/", {"sure": "1"})
    assert "Write to the people who run the study" in client.get("/work/").content.decode()
    client.post(COMMENT, {"text": "Too long for me."})
    assert Comment.objects.get().example is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("  ", "Nothing is written yet"), ("x" * (LONGEST + 1), "shorten it to 2000")],
)
def test_says_what_is_wrong_and_keeps_what_was_written(
    client: Client, text: str, sentence: str
) -> None:
    response = client.post(COMMENT, {"text": text, "step": "0"})
    assert response.status_code == 422
    assert '<input type="hidden" name="step" value="0">' in response.content.decode()
    assert sentence in response.content.decode()
    assert text in response.content.decode()
    assert not Comment.objects.exists()


def test_is_erased_with_the_person_and_takes_nothing_afterwards(assignment: Assignment) -> None:
    other = make.at_work(assignment.batch)
    for who in (assignment, other):
        add_comment(who, text="I am Anna.", step=None, at=make.NOON)
    erase_annotator(assignment.annotator, at=timezone.now())
    assert Comment.objects.get().assignment == other
    assignment = Assignment.objects.get(pk=assignment.pk)
    with pytest.raises(BadInput, match="erased"):
        add_comment(assignment, text="Me again.", step=None, at=make.NOON)


def test_is_in_no_export(assignment: Assignment) -> None:
    make.answer(assignment)
    add_comment(assignment, text="a-comment", step=0, at=make.NOON)
    for file_format in ("jsonl", "csv"):
        assert "a-comment" not in "".join(export_judgements(assignment.study, file_format))


def test_stops_a_script(assignment: Assignment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commenting, "MOST", 2)
    for _ in range(2):
        add_comment(assignment, text="again", step=None, at=make.NOON)
    with pytest.raises(BadInput, match="very often"):
        add_comment(assignment, text="again", step=None, at=make.NOON)


def test_shows_the_example_that_it_is_about(client: Client, assignment: Assignment) -> None:
    example = current_example(assignment)
    page = client.get(COMMENT).content.decode()
    assert escape(example.context[0]) in page
    assert escape(example.question) in page

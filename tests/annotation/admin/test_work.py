from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.messages import get_messages
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.admin.assignment import decision_sentence
from annotation.models import Assignment, Batch, Judgement, Place
from annotation.studies.lifecycle import close_study
from annotation.studies.people import exclude
from annotation.work.finishing import withdraw
from tests import make
from tests.made_once import once_a_module
from tests.people_at_work import page_of

pytestmark = pytest.mark.django_db


batch_once = once_a_module(
    lambda: make.running_batch(via="prolific", wanted=1, training=1, tests=2)
)


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    return deepcopy(batch_once)


@pytest.fixture
def assignment(batch: Batch) -> Assignment:
    return make.worked_through(batch, who=make.annotator("prolific", "PERSON-7"))


def address(row: Model, page: str = "change") -> str:
    model = type(row).__name__.lower()
    return reverse(f"admin:annotation_{model}_{page}", args=[row.pk])


def messages_of(response: Any) -> str:
    return " ".join(str(message) for message in get_messages(response.wsgi_request))


# Judgements are final


@pytest.mark.parametrize("page", ["change", "delete"])
def test_refuses_to_change_or_delete_a_judgement(
    admin_client: Client, assignment: Assignment, page: str
) -> None:
    judgement = assignment.judgements.first()
    before = Judgement.objects.values().get(pk=judgement.pk)
    data = {"answer": '["other"]', "post": "yes"}
    assert admin_client.post(address(judgement, page), data).status_code == 403
    assert Judgement.objects.values().get(pk=judgement.pk) == before


def test_refuses_to_add_a_judgement(admin_client: Client, assignment: Assignment) -> None:
    url = reverse("admin:annotation_judgement_add")
    assert admin_client.get(url).status_code == 403
    assert admin_client.post(url, {"answer": "[]"}).status_code == 403


def test_deletes_no_judgements_from_the_list(admin_client: Client, assignment: Assignment) -> None:
    pks = list(assignment.judgements.values_list("pk", flat=True))
    data = {"action": "delete_selected", "_selected_action": pks, "post": "yes"}
    admin_client.post(reverse("admin:annotation_judgement_changelist"), data)
    assert assignment.judgements.count() == 3


@pytest.mark.parametrize("page", ["change", "delete"])
def test_refuses_to_change_or_delete_work_and_people(
    admin_client: Client, assignment: Assignment, page: str
) -> None:
    for row in (assignment, assignment.annotator):
        data = {"outcome": "withdrawn", "amount": 99, "external_id": "other", "post": "yes"}
        assert admin_client.post(address(row, page), data).status_code == 403
    fresh = Assignment.objects.select_related("annotator").get()
    assert (fresh.outcome, fresh.annotator.external_id) == ("completed", "PERSON-7")


def test_shows_a_judgement(admin_client: Client, assignment: Assignment) -> None:
    assert admin_client.get(address(assignment.judgements.first())).status_code == 200


# Exclusion


def test_excludes_with_a_reason(admin_client: Client, assignment: Assignment) -> None:
    response = admin_client.post(address(assignment, "exclude"), {"reason": "Not a person."})
    assert response["Location"] == address(assignment)
    assignment.refresh_from_db()
    assert assignment.exclusion.reason == "Not a person."
    assert assignment.exclusion.author.username == "admin"
    assert LogEntry.objects.count() == 1
    assert Place.objects.get().holder is None


def test_asks_for_the_reason(admin_client: Client, assignment: Assignment) -> None:
    page = admin_client.post(address(assignment, "exclude"), {"reason": " "}).content.decode()
    assert "An exclusion needs a reason" in page
    assert not hasattr(Assignment.objects.get(), "exclusion")


def test_warns_of_a_new_version_of_what_a_closed_study_froze(
    admin_client: Client, batch: Batch, assignment: Assignment
) -> None:
    warning, opens = "its verdicts get a new version", "their place opens for somebody else"
    page = admin_client.get(address(assignment, "exclude")).content.decode()
    assert warning not in page
    assert opens in page
    close_study(batch.study, at=make.NOON + timedelta(hours=1))
    page = admin_client.get(address(assignment, "exclude")).content.decode()
    assert warning in page
    assert opens not in page
    exclude(assignment, reason="bot")
    assert warning in admin_client.get(address(assignment, "lift")).content.decode()


def test_warns_of_no_version_for_work_that_never_counted(
    admin_client: Client, batch: Batch
) -> None:
    working = make.at_work(batch)
    withdraw(working, at=make.NOON)
    close_study(batch.study, at=make.NOON + timedelta(hours=1))
    page = admin_client.get(address(working, "exclude")).content.decode()
    assert "its verdicts get a new version" not in page


def test_excludes_nobody_who_is_at_work(admin_client: Client, batch: Batch) -> None:
    working = make.at_work(batch)
    response = admin_client.post(address(working, "exclude"), {"reason": "bot"})
    assert "still at work" in messages_of(response)


def test_lifts_an_exclusion(admin_client: Client, assignment: Assignment) -> None:
    exclude(assignment, reason="bot")
    admin_client.post(address(assignment, "lift"))
    assert not hasattr(Assignment.objects.get(), "exclusion")


def test_says_why_an_exclusion_stays(
    admin_client: Client, batch: Batch, assignment: Assignment
) -> None:
    exclude(assignment, reason="bot")
    make.worked_through(batch, who=make.annotator("prolific", "other"))
    response = admin_client.post(address(assignment, "lift"))
    assert "one more place" in messages_of(response)
    assert hasattr(Assignment.objects.get(pk=assignment.pk), "exclusion")


# A new personal link


def test_ends_the_old_personal_link_and_shows_the_new_one(
    admin_client: Client, assignment: Assignment
) -> None:
    old = reverse("annotation:resume", args=[assignment.resume_token])
    response = admin_client.post(address(assignment, "renew"))
    assignment.refresh_from_db()
    new = reverse("annotation:resume", args=[assignment.resume_token])
    assert f"http://testserver{new}" in messages_of(response)
    assert Client().get(old).status_code == 404
    assert "a newer one took its place" in Client().get(old).content.decode()
    assert page_of(Client().get(new)) == "/work/"


def test_logs_a_new_personal_link_without_the_link(
    admin_client: Client, assignment: Assignment
) -> None:
    admin_client.post(address(assignment, "renew"))
    assignment.refresh_from_db()
    assert assignment.resume_renewed_at is not None
    entry = LogEntry.objects.get()
    assert assignment.annotator.pseudonym in entry.change_message
    assert assignment.resume_token not in entry.change_message + entry.object_repr


def test_asks_before_it_makes_a_new_personal_link(
    admin_client: Client, assignment: Assignment
) -> None:
    page = admin_client.get(address(assignment, "renew")).content.decode()
    assert "Be sure who asks" in page
    assert Assignment.objects.get().resume_token == assignment.resume_token


# Erasure


def test_erases_who_somebody_is(admin_client: Client, assignment: Assignment) -> None:
    admin_client.post(address(assignment.annotator, "erase"))
    annotator = Assignment.objects.select_related("annotator").get().annotator
    assert annotator.external_id == ""
    assert annotator.erased_at is not None
    entry = LogEntry.objects.get()
    assert "PERSON-7" not in entry.change_message + entry.object_repr


# Lists


def test_finds_an_assignment_by_external_id(admin_client: Client, assignment: Assignment) -> None:
    url = reverse("admin:annotation_assignment_changelist")
    found = admin_client.get(url, {"q": "PERSON-7"}).content.decode()
    assert assignment.annotator.pseudonym in found
    assert (
        assignment.annotator.pseudonym
        not in admin_client.get(url, {"q": "PERSON-8"}).content.decode()
    )


@pytest.mark.parametrize(
    ("parameters", "shown"),
    [
        ({"outcome": "none"}, {"working"}),
        ({"outcome": "completed"}, {"completed", "excluded"}),
        ({"excluded": "yes"}, {"excluded"}),
        ({"excluded": "no"}, {"working", "completed"}),
        ({}, {"working", "completed", "excluded"}),
    ],
)
def test_filters_assignments(
    admin_client: Client, parameters: dict[str, str], shown: set[str]
) -> None:
    batch = make.running_batch(wanted=3)
    rows = {
        "working": make.at_work(batch),
        "completed": make.worked_through(batch),
        "excluded": make.worked_through(batch),
    }
    exclude(rows["excluded"], reason="bot")
    url = reverse("admin:annotation_assignment_changelist")
    page = admin_client.get(url, parameters).content.decode()
    assert {name for name, row in rows.items() if address(row) in page} == shown


def test_lists_any_number_of_assignments_in_as_many_queries(
    admin_client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    batch = make.running_batch(wanted=5)
    for _ in range(4):
        make.worked_through(batch)
    url = reverse("admin:annotation_assignment_changelist")
    admin_client.get(url)
    with django_assert_num_queries(7):  # who asks: 2; counts: 2; the rows; filters: 2
        admin_client.get(url)


def test_lists_any_number_of_judgements_in_as_many_queries(
    admin_client: Client, assignment: Assignment, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    url = reverse("admin:annotation_judgement_changelist")
    with django_assert_num_queries(4):  # who asks: 2; a count; the rows
        page = admin_client.get(url, {"assignment": assignment.pk})
    assert "3 judgements" in page.content.decode()


# The stored basis of a decision


def test_tells_a_decision_in_words() -> None:
    screening = {
        "score": 40.0,
        "passed": False,
        "floor": 50.0,
        "lowest_allowed": 61.25,
        "group_size": 5,
        "group_mean": 71.25,
    }
    assert decision_sentence(screening) == (
        "screened out with 40.0 % (floor 50 %) (lowest allowed 61.2 %, group of 5 with mean 71.2 %)"
    )
    passed = screening | {"passed": True, "floor": None, "lowest_allowed": None}
    assert decision_sentence(passed) == "passed with 40.0 %"
    assert decision_sentence({}) == "not decided"

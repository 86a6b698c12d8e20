from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.models import Study
from annotation.studies.lifecycle import start_study
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    benchmark = make.benchmark()
    study = make.study(benchmark)
    make.batch(study, make.task(benchmark))
    return study


def address(study: Study, page: str = "change") -> str:
    return reverse(f"admin:annotation_study_{page}", args=[study.pk])


def messages_of(response: Any) -> str:
    return " ".join(str(message) for message in get_messages(response.wsgi_request))


def test_deletes_a_draft(admin_client: Client, study: Study) -> None:
    admin_client.post(address(study, "delete"), {"post": "yes"})
    assert not Study.objects.exists()


@pytest.mark.parametrize("method", ["get", "post"])
def test_keeps_a_study_that_has_started(admin_client: Client, method: str) -> None:
    study = make.worked_through(make.running_batch()).study
    response = getattr(admin_client, method)(address(study, "delete"), {"post": "yes"})
    assert response["Location"] == reverse("annotation:settings", args=[study.slug])
    assert "is kept, with its judgements" in messages_of(response)
    assert Study.objects.filter(pk=study.pk).exists()


def test_offers_no_deletion_of_several_at_once(admin_client: Client, study: Study) -> None:
    start_study(study, at=make.NOON)
    data = {"action": "delete_selected", "_selected_action": study.pk, "post": "yes"}
    admin_client.post(reverse("admin:annotation_study_changelist"), data)
    assert Study.objects.exists()


def test_counts_finished_places_in_the_list(admin_client: Client) -> None:
    batch = make.running_batch(wanted=4)
    make.worked_through(batch)
    make.at_work(batch)
    page = admin_client.get(reverse("admin:annotation_study_changelist")).content.decode()
    assert "1 of 4" in page


def test_lists_any_number_of_studies_in_as_many_queries(
    admin_client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    url = reverse("admin:annotation_study_changelist")
    for _ in range(5):
        make.running_batch()
    admin_client.get(url)
    with django_assert_num_queries(7):  # who asks: 2; counts: 2; the rows; filters: 2
        admin_client.get(url)


def test_leads_from_the_form_to_the_page_of_settings(admin_client: Client, study: Study) -> None:
    settings = reverse("annotation:settings", args=[study.slug])
    assert admin_client.get(address(study, "change"))["Location"] == settings
    add = reverse("admin:annotation_study_add")
    new = reverse("annotation:new_study")
    assert admin_client.get(add, {"benchmark": "7"})["Location"] == f"{new}?benchmark=7"

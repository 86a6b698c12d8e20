"""The front page."""

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests import make

pytestmark = pytest.mark.django_db


def test_tells_anybody_what_this_is() -> None:
    make.running_batch(title="A secret study")
    response = Client().get("/")
    assert response.status_code == 200
    assert "A secret study" not in response.content.decode()


def test_leads_researchers_to_their_studies_and_benchmarks(
    admin_client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(3):
        make.running_batch()
    study = make.running_batch().study
    with django_assert_num_queries(4):  # session, user, studies, benchmarks
        page = admin_client.get("/").content.decode()
    assert f"/studies/{study.slug}/comparison/" in page
    assert f"/benchmarks/{study.benchmark.name}/leaderboard/" in page

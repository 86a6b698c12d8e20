"""The admin's index: what people do, and nothing that they need not know."""

import pytest
from django.test import Client
from django.urls import reverse

from tests import make

pytestmark = pytest.mark.django_db


def index(client: Client) -> str:
    return client.get(reverse("admin:index")).content.decode()


def test_leads_to_the_pages_for_researchers(admin_client: Client) -> None:
    page = index(admin_client)
    assert f'<a href="{reverse("annotation:home")}">' in page
    assert page.index("Run a study") < page.index("Measure with a benchmark")


def test_shows_researchers_what_they_set_up_and_no_more() -> None:
    client = Client()
    client.force_login(make.researcher())
    page = index(client)
    assert reverse("admin:annotation_study_changelist") in page
    assert reverse("admin:annotation_benchmark_changelist") in page
    for hidden in ("/admin/axes/", "/admin/authtoken/", "/admin/auth/", "/annotation/job/"):
        assert hidden not in page


def test_shows_superusers_the_rest_below(admin_client: Client) -> None:
    page = index(admin_client)
    for rest in ("/admin/axes/", "/admin/authtoken/", "/admin/auth/user/", "/annotation/job/"):
        assert rest in page
    assert page.index("Compare with systems") < page.index("Keep the installation")

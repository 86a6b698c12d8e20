"""The admin's index: what people do, and nothing that they need not know."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import OperationalError
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


def lists() -> list[tuple[str, str]]:
    """Each list of the admin, with a field of text that it may be filtered by."""
    return [
        (reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"), "id")
        for model in admin.site._registry
    ]


@pytest.mark.parametrize("lookup", ["regex", "iregex", "icontains", "contains", "search"])
def test_no_list_is_filtered_by_what_may_never_end(admin_client: Client, lookup: str) -> None:
    assert len(lists()) > 15
    for address, field in lists():
        for name in (field, f"study__title__{field}"):
            response = admin_client.get(address, {f"{name}__{lookup}": "^(a+)+$"})
            assert response.status_code == 400, address
            assert "Lists are not filtered by" in response.content.decode()


def test_a_list_is_filtered_by_whole_values_and_ranges(admin_client: Client) -> None:
    address = reverse("admin:annotation_study_changelist")
    for lookup, value in (("id__in", "1,2"), ("id__gte", "3"), ("id__isnull", "0")):
        response = admin_client.get(address, {lookup: value}, follow=True)
        assert response.status_code in (200, 400), lookup
        assert "Lists are not filtered by" not in response.content.decode()


def test_a_search_takes_no_book(admin_client: Client) -> None:
    for address, _field in lists():
        response = admin_client.get(address, {"q": "word " * 1_500})
        assert (response.status_code, "at most 20 words" in response.content.decode()) == (
            400,
            True,
        )
    assert admin_client.get(lists()[0][0], {"q": "word " * 20}).status_code == 200


def test_sqlite_knows_no_regular_expression() -> None:
    make.researcher()
    with pytest.raises(OperationalError, match=r"user-defined function|no such function"):
        list(User.objects.filter(username__regex="^(a+)+$"))

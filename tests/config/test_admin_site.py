"""The admin: in the frame of the product, its menu of lists for whoever keeps the installation."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from annotation.models import Study
from tests import make

pytestmark = pytest.mark.django_db


def index(client: Client) -> str:
    return client.get(reverse("admin:index")).content.decode()


def test_has_the_header_of_the_other_pages(admin_client: Client) -> None:
    start = '<header class="r-top">'
    header = index(admin_client).partition(start)[2].partition("</header>")[0]
    home = admin_client.get(reverse("annotation:home")).content.decode()
    assert "Installation" in header
    assert home.partition(start)[2].partition("</nav>")[0] == header.partition("</nav>")[0]


def test_leads_researchers_to_their_studies_and_shows_them_no_menu() -> None:
    study = make.study(make.benchmark())
    client = Client()
    client.force_login(make.member(study))
    response = client.get(reverse("admin:index"))
    assert response["Location"] == reverse("annotation:home")
    page = client.get(reverse("admin:annotation_batch_changelist")).content.decode()
    assert "nav-sidebar" not in page
    assert "Installation" not in page


def test_shows_superusers_all_lists(admin_client: Client) -> None:
    page = index(admin_client)
    lists = ("axes/", "authtoken/", "auth/user/", "annotation/job/", "scoring/run/")
    assert [one for one in lists if f'href="/admin/{one}' not in page] == []
    page = admin_client.get(reverse("admin:annotation_batch_changelist")).content.decode()
    assert "nav-sidebar" in page


def test_writes_dates_as_the_other_pages_do(admin_client: Client) -> None:
    Study.objects.filter(pk=make.study(make.benchmark()).pk).update(created_at=make.NOON)
    page = admin_client.get(reverse("admin:annotation_study_changelist")).content.decode()
    assert "2026-11-01 12:00" in page


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

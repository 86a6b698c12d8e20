"""The frame of a study's pages: where one is, and the pages that one may open from there."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import Batch
from annotation.studies.tabs import TABS, study_frame
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch() -> Batch:
    make.channel("simulated")
    return make.running_batch(tests=1, training=1)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def links_of(page: str) -> list[str]:
    tabs = re.search(r'<nav class="r-tabs".*?</nav>', page, re.DOTALL)
    assert tabs, "no tabs"
    return re.findall(r'href="([^"]+)"', tabs[0])


@pytest.mark.parametrize("role", ["viewer", "editor", "owner"])
def test_every_tab_opens_for_whoever_sees_it_and_leads_on(batch: Batch, role: str) -> None:
    client = signed_in(make.member(batch.study, role))
    start = client.get(reverse("annotation:watch", args=[batch.study.slug])).content.decode()
    for address in links_of(start):
        page = client.get(address)
        assert page.status_code == 200, address
        text = page.content.decode()
        assert links_of(text) == links_of(start), address
        assert text.count('class="r-tabs"') == 1
        assert f'› <a href="{links_of(text)[0]}">' in text
        assert f'<a href="{address}" aria-current="page">' in text


def test_viewers_are_not_led_to_what_they_may_not_open(batch: Batch) -> None:
    viewer, owner = (make.member(batch.study, role) for role in ("viewer", "owner"))
    shown = [
        {label for label, *_ in study_frame(user, batch.study, tab="overview")["tabs"]}
        for user in (viewer, owner)
    ]
    assert shown[0] < shown[1]
    assert "Report" not in shown[0]


def test_no_two_tabs_have_the_same_name() -> None:
    assert len({tab.name for tab in TABS}) == len(TABS)


def test_a_rehearsal_has_no_page_of_people(batch: Batch) -> None:
    """They would say that nobody came."""
    owner = make.member(batch.study)
    tabs = {False: set(study_frame(owner, batch.study, tab="")["tabs"])}
    batch.study.is_rehearsal = True
    tabs[True] = set(study_frame(owner, batch.study, tab="")["tabs"])
    labels = {of: {label for label, *_ in those} for of, those in tabs.items()}
    assert labels[False] - labels[True] == {"Overview", "People", "Payments"}
    assert labels[True] - labels[False] == {"Results"}


def test_every_page_says_who_is_signed_in(batch: Batch) -> None:
    member = make.member(batch.study)
    page = signed_in(member).get("/").content.decode()
    assert member.username in page
    assert reverse("admin:logout") in page


def test_pages_of_the_admin_have_the_icon_too(admin_client: Client) -> None:
    for page in ("/", reverse("admin:index")):
        assert 'rel="icon"' in admin_client.get(page).content.decode()

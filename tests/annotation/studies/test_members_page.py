"""The pages of members and of changes, of a study and of a benchmark."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.access.rights import Thing, role_in
from annotation.models import Study
from annotation.models.access import record_settings
from annotation.studies.lifecycle import close_study
from annotation.studies.members_page import PER_PAGE
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return make.running_batch().study


@pytest.fixture(params=["study", "benchmark"])
def thing(request: pytest.FixtureRequest, study: Study) -> Thing:
    return study if request.param == "study" else study.benchmark


@pytest.fixture
def owner(thing: Thing) -> User:
    return make.member(thing)


@pytest.fixture
def client(owner: User) -> Client:
    client = Client()
    client.force_login(owner)
    return client


def address(thing: Thing, page: str = "members") -> str:
    if isinstance(thing, Study):
        return reverse(f"annotation:{page}", args=[thing.slug])
    return reverse(f"annotation:benchmark_{page}", args=[thing.name])


def test_an_owner_adds_changes_and_removes_a_member(client: Client, thing: Thing) -> None:
    friend = make.researcher("friend")
    for role in ("viewer", "editor", "owner"):
        response = client.post(address(thing), {"user": "friend", "role": role})
        assert response["Location"] == address(thing)
        assert role_in(friend, thing) == role
    assert "friend" in client.get(address(thing)).content.decode()
    client.post(address(thing), {"user": "friend", "role": "none"})
    assert role_in(friend, thing) is None
    log = client.get(address(thing, "log")).content.decode()
    assert "friend: owner → –" in log


def test_the_last_owner_stays_until_there_is_another(
    client: Client, thing: Thing, owner: User
) -> None:
    me = {"user": owner.username, "role": "none"}
    page = client.post(address(thing), me)
    assert "make another member an owner first" in page.content.decode()
    assert role_in(owner, thing) == "owner"
    make.researcher("friend")
    client.post(address(thing), {"user": "friend", "role": "owner"})
    assert client.post(address(thing), me)["Location"] == "/"
    assert role_in(owner, thing) is None


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"user": "nobody", "role": "viewer"}, "Nobody signs in here as “nobody”"),
        ({"user": "", "role": "viewer"}, "This field is required"),
        ({"user": "friend", "role": "king"}, "Select a valid choice"),
    ],
)
def test_says_what_is_wrong(
    client: Client, thing: Thing, data: dict[str, str], sentence: str
) -> None:
    make.researcher("friend")
    assert sentence in client.post(address(thing), data).content.decode()
    assert thing.memberships.count() == 1


def test_an_editor_reads_the_log_and_manages_nobody(study: Study) -> None:
    close_study(study, at=make.NOON, by=make.member(study))
    client = Client()
    client.force_login(make.member(study, "editor"))
    log = client.get(address(study, "log")).content.decode()
    assert "state: open → closed" in log
    data = {"user": "friend", "role": "owner"}
    assert client.post(address(study), data).status_code == 403
    page = client.get(reverse("annotation:settings", args=[study.slug])).content.decode()
    assert address(study) not in page


def test_leads_there_from_its_former_addresses(client: Client, thing: Thing) -> None:
    for former, page in (("members", "members"), ("changes", "log")):
        admin = reverse(f"admin:annotation_{thing._meta.model_name}_{former}", args=[thing.pk])
        assert client.get(admin)["Location"] == address(thing, page)


def test_says_what_will_stand_in_a_log_that_is_empty(admin_client: Client) -> None:
    study = make.study(make.benchmark())
    for thing in (study, study.benchmark):
        page = admin_client.get(address(thing, "log")).content.decode()
        assert "Nothing has been changed yet." in page


def test_shows_a_long_log_in_pages(client: Client, thing: Thing, owner: User) -> None:
    for number in range(PER_PAGE + 1):
        record_settings(owner, thing, {"title": ""}, {"title": f"Title {number};"})
    first = client.get(address(thing, "log")).content.decode()
    assert f"Title {PER_PAGE};" in first
    assert "Title 0;" not in first
    assert "Title 0;" in client.get(address(thing, "log"), {"page": 2}).content.decode()

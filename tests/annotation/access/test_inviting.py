"""Links that let a colleague in: with a role, once, for a while."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from annotation.access.inviting import LASTS, new_link, take_back, use_link
from annotation.access.rights import Thing, give_role, role_in
from annotation.models import Change, MemberLink, Study
from annotation.models.errors import Refusal
from tests import make
from tests.together import at_once

pytestmark = pytest.mark.django_db

PASSWORD = "a-long-and-odd-passphrase"
SIGN_UP = {"username": "bob", "password1": PASSWORD, "password2": PASSWORD}


@pytest.fixture(params=["study", "benchmark"])
def thing(request: pytest.FixtureRequest) -> Thing:
    study = make.running_batch().study
    return study if request.param == "study" else study.benchmark


@pytest.fixture
def owner(thing: Thing) -> User:
    return make.member(thing)


@pytest.fixture
def desk(owner: User) -> Client:
    client = Client()
    client.force_login(owner)
    return client


def members_page(thing: Thing) -> str:
    if isinstance(thing, Study):
        return reverse("annotation:members", args=[thing.slug])
    return reverse("annotation:benchmark_members", args=[thing.name])


def made(desk: Client, thing: Thing, role: str = "viewer") -> str:
    page = desk.post(members_page(thing), {"link_role": role}).content.decode()
    (token,) = re.findall(r"http://testserver/colleagues/([\w-]+)/", page)
    return token


def address(token: str) -> str:
    return f"/colleagues/{token}/"


def told(response: Any) -> str:
    text: str = response.content.decode()
    return text


@pytest.mark.parametrize("role", ["viewer", "editor", "owner"])
def test_lets_somebody_new_in_without_a_tick_by_hand(desk: Client, thing: Thing, role: str) -> None:
    client, token = Client(), made(desk, thing, role)
    assert "Make an account" in told(client.get(address(token))).replace("Or make", "Make")
    response = client.post(address(token), SIGN_UP, follow=True)
    assert response.status_code == 200
    assert str(thing) in told(response)
    bob = User.objects.get(username="bob")
    assert (role_in(bob, thing), bob.is_superuser) == (role, False)
    # Viewers read, and have nothing in the admin.
    assert bob.is_staff is bob.groups.exists() is (role != "viewer")


def test_lets_whoever_has_an_account_in(desk: Client, thing: Thing) -> None:
    bob = User.objects.create_user("bob", password=PASSWORD)
    client, token = Client(), made(desk, thing, "editor")
    sign_in, *_rest = re.findall(
        r'href="(/admin/login/\?next=[^"]*colleagues[^"]*)"', told(client.get(address(token)))
    )
    there = client.post(sign_in, {"username": "bob", "password": PASSWORD})
    assert there["Location"] == address(token)
    assert "Come in as bob" in told(client.get(address(token)))
    assert client.post(address(token)).status_code == 302
    assert role_in(bob, thing) == "editor"


def test_opening_the_link_takes_nothing(desk: Client, thing: Thing) -> None:
    token = made(desk, thing)
    friend = Client()
    friend.force_login(User.objects.create_user("bob"))
    for client in (Client(), friend, Client()):
        assert client.get(address(token)).status_code == 200
        assert client.head(address(token)).status_code == 200
    assert MemberLink.objects.count() == thing.memberships.count() == 1


def test_lets_one_person_in(desk: Client, thing: Thing) -> None:
    token = made(desk, thing)
    Client().post(address(token), SIGN_UP)
    late = Client().post(address(token), {**SIGN_UP, "username": "late"})
    assert late.status_code == 404
    assert "it was used" in told(late)
    assert not User.objects.filter(username="late").exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.both_databases
def test_lets_one_of_four_in_who_come_at_once() -> None:
    thing = make.benchmark()
    token = new_link(thing, "viewer", by=make.member(thing), at=timezone.now())
    users = [make.researcher() for _ in range(4)]

    def come(number: int) -> bool:
        try:
            use_link(token, users[number], at=timezone.now())
        except Refusal:
            return False
        return True

    assert sorted(at_once(come, 4)) == [False] * 3 + [True]
    assert thing.memberships.count() == 2


def test_ends_after_a_week_when_it_is_taken_back_and_with_its_makers_right(
    desk: Client, thing: Thing, owner: User
) -> None:
    old, taken, orphan = (made(desk, thing) for _ in range(3))
    keys = list(MemberLink.objects.values_list("pk", flat=True))
    MemberLink.objects.filter(pk=keys[0]).update(expires_at=timezone.now() - timedelta(seconds=1))
    desk.post(members_page(thing), {"take_back": keys[1]})
    for token in (old, taken):
        assert Client().post(address(token), SIGN_UP).status_code == 404
    assert Client().get(address(orphan)).status_code == 200
    give_role(thing, make.researcher("heir"), "owner", by=owner)
    give_role(thing, owner, None, by=owner)
    assert Client().get(address(orphan)).status_code == 404
    assert not User.objects.filter(username="bob").exists()


def test_keeps_only_a_hash_and_logs_no_token(desk: Client, thing: Thing) -> None:
    token = made(desk, thing, "editor")
    assert token not in told(desk.get(members_page(thing)))
    assert token not in str(list(MemberLink.objects.values()) + list(Change.objects.values()))
    page = told(desk.get(members_page(thing).replace("members", "log")))
    assert "link for a colleague" in page
    Client().post(address(token), SIGN_UP)
    assert "bob: – → editor" in told(desk.get(members_page(thing).replace("members", "log")))


def test_takes_back_no_link_of_another_thing(thing: Thing, owner: User) -> None:
    other = make.benchmark()
    new_link(other, "viewer", by=make.member(other), at=timezone.now())
    take_back(thing, str(MemberLink.objects.get().pk), by=owner)
    for key in ("x", "\u0661", "9" * 5000):
        take_back(thing, key, by=owner)
    assert MemberLink.objects.exists()


def test_makes_no_role_less(desk: Client, thing: Thing, owner: User) -> None:
    token = made(desk, thing, "viewer")
    answer = desk.post(address(token))
    assert answer.status_code == 422
    assert "You are its owner already" in told(answer)
    assert role_in(owner, thing) == "owner"
    assert MemberLink.objects.exists()


def test_makes_a_role_more(desk: Client, thing: Thing) -> None:
    viewer = make.member(thing, "viewer")
    client = Client()
    client.force_login(viewer)
    assert client.post(address(made(desk, thing, "editor"))).status_code == 302
    assert role_in(viewer, thing) == "editor"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"username": "ann b<>"}, "Enter a valid username"),
        ({"username": "TAKEN"}, "already exists"),
        ({"password2": "another-odd-passphrase"}, "match"),
        ({"password1": "12345678", "password2": "12345678"}, "too common"),
        ({"username": ""}, "This field is required"),
    ],
)
def test_says_what_is_wrong_and_uses_nothing_up(
    desk: Client, thing: Thing, changes: dict[str, str], sentence: str
) -> None:
    User.objects.create_user("taken")
    token = made(desk, thing)
    answer = Client().post(address(token), {**SIGN_UP, **changes})
    assert answer.status_code == 422
    assert sentence in told(answer)
    assert MemberLink.objects.exists()


def test_has_no_page_to_sign_up_without_a_link() -> None:
    for path in ("/colleagues/", "/colleagues/unknown/"):
        answer = Client().post(path, SIGN_UP)
        assert answer.status_code == 404
        assert "password1" not in told(answer)
    assert not User.objects.exists()


def test_slows_whoever_guesses_links(settings: Settings, desk: Client, thing: Thing) -> None:
    settings.THROTTLES = {**settings.THROTTLES, "wrong_codes_per_address": 3}
    answers = [Client().get(address(f"guess{number}")) for number in range(4)]
    assert [answer.status_code for answer in answers] == [404, 404, 404, 429]
    assert int(answers[-1]["Retry-After"]) > 0


@pytest.mark.parametrize("role", ["viewer", "editor", "owner"])
def test_whoever_is_given_a_role_signs_in_at_the_desk(thing: Thing, owner: User, role: str) -> None:
    bob = User.objects.create_user("bob", password=PASSWORD)
    give_role(thing, bob, role, by=owner)
    client = Client()
    form = {"username": "bob", "password": PASSWORD}
    assert client.post("/admin/login/", form).status_code == 302
    assert str(thing) in told(client.get("/"))
    bob = User.objects.get(pk=bob.pk)
    assert bob.has_perm("annotation.view_study")
    assert bob.has_perm("annotation.add_study") is (role != "viewer")
    assert client.get("/admin/annotation/batch/").status_code == (302 if role == "viewer" else 200)


def test_saving_a_role_again_lets_in_whoever_lost_the_tick(thing: Thing, owner: User) -> None:
    bob = User.objects.create_user("bob", password=PASSWORD)
    thing.memberships.create(user=bob, role="editor")
    give_role(thing, bob, "editor", by=owner)
    bob = User.objects.get(pk=bob.pk)
    assert bob.is_staff
    assert bob.has_perm("annotation.change_study")


def test_links_last_a_week() -> None:
    thing = make.benchmark()
    now = timezone.now()
    new_link(thing, "viewer", by=make.member(thing), at=now)
    assert MemberLink.objects.get().expires_at == now + LASTS


def test_what_a_role_brought_goes_with_the_last_one(thing: Thing, owner: User) -> None:
    by_role = User.objects.create_user("bob")
    by_hand = User.objects.create_user("eve", is_staff=True)
    other = make.study(make.benchmark())
    for user in (by_role, by_hand):
        for held in (thing, other):
            give_role(held, user, "editor", by=owner)
        give_role(thing, user, "viewer", by=owner)
        user.refresh_from_db()
        assert (user.is_staff, user.has_perm("annotation.add_study")) == (True, True)
        give_role(other, user, None, by=owner)
    by_role, by_hand = User.objects.get(pk=by_role.pk), User.objects.get(pk=by_hand.pk)
    assert (by_role.is_staff, by_role.has_perm("annotation.add_study")) == (False, False)
    # A viewer's reading stays; and what a superuser gave is the superuser's to take.
    assert by_role.has_perm("annotation.view_study")
    assert by_hand.is_staff

"""No dead ends: from the front page, through every link of every page, nobody comes to a page that
is not there or not for them."""

from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import Resolver404, resolve
from pytest_django import DjangoDbBlocker

from annotation.access.rights import give_role
from tests import make
from tests.made_once import made_once
from tests.test_roles import World, made_world

pytestmark = pytest.mark.django_db

# Files are read by tests of their own; annotators' pages are for people without an account.
LEFT_OUT = ("/docs/", "/api/", "/static/", "/join/", "/admin/jsi18n/", "/admin/logout/")


class Links(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        for name in ("hx-get", "href") if tag != "link" else ():
            if address := given.get(name):
                self.found.append(address)


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    with made_once(django_db_blocker, made_world) as world:
        yield world


def view_of(address: str) -> str:
    try:
        return str(resolve(urlsplit(address).path).view_name)
    except Resolver404:
        return address


def is_enough(view: str, visits: int) -> bool:
    """Of files one of each kind; of pages the first few, as of a study, its draft and rehearsal."""
    return visits >= (1 if "figure" in view or "export" in view else 3)


def walked(client: Client, start: str = "/") -> dict[str, tuple[str, int]]:
    """Every address that a link leads to: the page on which it is first found, and its status."""
    found: dict[str, tuple[str, int]] = {}
    visits, waiting = Counter[str](), [(start, "")]
    for address, source in waiting:
        view = view_of(address)
        if address in found or is_enough(view, visits[view]):
            continue
        visits[view] += 1
        response = client.get(address)
        found[address] = source, response.status_code
        if response.status_code in (301, 302):
            waiting.append((urljoin(address, response["Location"]), source or address))
        elif response.headers.get("Content-Type", "").startswith("text/html"):
            for link in Links(response.content.decode()).found:
                target = urljoin(address, link).partition("#")[0]
                if target.startswith("/") and not target.startswith(LEFT_OUT):
                    waiting.append((target, address))
    return found


@pytest.mark.parametrize("role", ["viewer", "editor", "owner", "researcher", "nobody"])
def test_leads_nobody_to_a_dead_end(world: World, role: str) -> None:
    if role == "researcher":
        # A viewer who makes studies elsewhere.
        user = User.objects.get(username="viewer")
    else:
        user = User.objects.create_user(f"new {role}")
        if role != "nobody":
            for thing in (world.study, world.draft, world.rehearsal, world.study.benchmark):
                give_role(thing, user, role, by=User.objects.get(username="superuser"))
    client = Client()
    client.force_login(user)
    found = walked(client)
    dead = {address: met for address, met in found.items() if met[1] >= 400}
    assert dead == {}
    if role != "nobody":
        assert f"/research/studies/{world.study.slug}/watch/" in found


def test_a_page_that_is_not_for_a_viewer_names_who_could_let_them_in(world: World) -> None:
    client = Client()
    client.force_login(make.member(world.study, "viewer"))
    for page in ("people/", "payments/", "data/"):
        response = client.get(f"/research/studies/{world.study.slug}/{page}")
        assert response.status_code == 403
        assert "Who could let you in: owner." in response.content.decode()
    for page in ("change", "members", "changes", "history"):
        response = client.get(f"/admin/annotation/study/{world.study.pk}/{page}/")
        assert response.status_code == 403
        assert "Who could let you in: owner." in response.content.decode()

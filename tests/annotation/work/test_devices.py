"""Going on on another device by a code that is shown on the one and typed on the other."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from annotation.models import Assignment, DeviceCode, Outcome
from annotation.models.errors import BadInput
from annotation.studies.people import erase_annotator
from annotation.work.device_codes import CODE_MINUTES, new_code, use_code
from annotation.work.finishing import finish
from annotation.work.joining import renew_resume_link
from annotation.work.page import picture_of
from tests import make
from tests.annotation.work.test_entering import consented
from tests.annotation.work.test_views import WORK, enter, start, submit
from tests.every import every
from tests.people_at_work import page_of
from tests.together import at_once

pytestmark = pytest.mark.django_db

SHOW = "/work/device/"
TYPE = "/go/"


@pytest.fixture
def client() -> Client:
    client = enter(make.running_batch())
    start(client)
    return client


@pytest.fixture
def assignment() -> Assignment:
    return make.joined(make.running_batch())


def shown(client: Client) -> str:
    text = client.post(SHOW, follow=True).content.decode()
    return re.search(r'class="code"[^>]*>([^<]+)<', text)[1]


def typed(code: str, client: Client | None = None) -> Any:
    return (client or Client()).post(TYPE, {"code": code})


def is_let_in(response: Any) -> bool:
    if response.status_code == 302:
        assert page_of(response) == WORK
        return True
    assert response.status_code == 422
    assert "This code lets nobody in" in response.content.decode()
    assert not response.cookies.get("annotator")
    return False


def is_used(code: str, *, after: timedelta = timedelta()) -> bool:
    try:
        use_code(code, at=make.NOON + after)
    except BadInput:
        return False
    return True


@pytest.mark.both_databases
def test_goes_on_at_the_same_step_by_a_code_that_is_typed(client: Client) -> None:
    submit(client, 0, option=0)
    other = Client()
    assert is_let_in(typed(shown(client), other))
    assert other.get(WORK).content.count(b"data-reveal-form") == 1
    assert client.get(WORK).content.count(b"data-reveal-form") == 1


def test_links_to_it_on_every_page_of_the_work(client: Client) -> None:
    form = f'action="{SHOW}"'
    assert form in consented(make.running_batch()).get(WORK).content.decode()
    for step in range(Assignment.objects.latest("pk").batch.training_set.items.count()):
        assert form in client.get(WORK).content.decode()
        submit(client, step, option=0)
        assert form in client.get(WORK).content.decode()
        client.post("/work/next/", {"step": step})
    assert form in client.get(WORK).content.decode()


def test_tells_where_the_code_is_typed_and_shows_the_link(client: Client) -> None:
    page = client.post(SHOW, follow=True).content.decode()
    path = reverse("annotation:resume", args=[Assignment.objects.get().resume_token])
    link = f"http://testserver{path}"
    assert "testserver/go<" in page
    assert link in page
    assert f"within {CODE_MINUTES} minutes" in page
    assert str(picture_of(link)) in page


def wide(code: str) -> str:
    """As a Japanese or Chinese keyboard may give it."""
    return "".join(chr(ord(letter) + 0xFEE0) for letter in code)


@pytest.mark.parametrize("spelling", [str.lower, lambda code: f" {code.replace('-', ' ')} ", wide])
def test_takes_a_code_however_it_is_spelled(client: Client, spelling: Any) -> None:
    assert is_let_in(typed(spelling(shown(client))))


def test_makes_no_code_when_the_page_is_only_opened(client: Client) -> None:
    page = client.get(SHOW)
    assert b'class="code"' not in page.content
    assert b"Show a code" in page.content
    assert not DeviceCode.objects.exists()


def test_shows_the_code_again_when_the_page_is_loaded_again(client: Client) -> None:
    code = shown(client)
    assert code in client.get(SHOW).content.decode()
    assert is_let_in(typed(code))


@pytest.mark.parametrize("seconds", [61, 59])
def test_shows_a_code_again_while_there_is_time_to_type_it(client: Client, seconds: int) -> None:
    shown(client)
    DeviceCode.objects.update(expires_at=timezone.now() + timedelta(seconds=seconds))
    page = client.get(SHOW).content.decode()
    assert ("within 2 minutes" in page) == (seconds > 60)
    assert ("Show a code" in page) == (seconds < 60)


def test_shows_no_code_again_that_lets_nobody_in_any_more(client: Client) -> None:
    code = shown(client)
    assert is_let_in(typed(code))
    assert code not in client.get(SHOW).content.decode()


def code_cookie(browser: Client) -> str:
    return next(name for name in browser.cookies if name.startswith("device_code"))


@pytest.mark.parametrize("forged", ["BCDF-GHJK", "<b>", "", "Ä" * 500])
def test_shows_no_code_that_it_has_not_made(client: Client, forged: str) -> None:
    shown(client)
    client.cookies[code_cookie(client)] = forged
    page = client.get(SHOW)
    assert page.status_code == 200
    assert b'class="code"' not in page.content


def test_shows_no_code_of_somebody_else_in_the_browser(client: Client) -> None:
    code = shown(client)
    other = enter(Assignment.objects.get().batch)
    other.cookies[code_cookie(client)] = code
    assert code not in other.get(SHOW).content.decode()


def test_stores_no_code_that_could_be_typed(client: Client) -> None:
    code = shown(client)
    stored = str(list(DeviceCode.objects.values()))
    assert code not in stored
    assert code.replace("-", "") not in stored


def test_shows_a_code_to_nobody_but_who_works(client: Client) -> None:
    for method in ("get", "post"):
        stranger: Any = getattr(Client(), method)(SHOW)
        assert stranger.status_code == 403
        assert TYPE in stranger.content.decode()
    assert not DeviceCode.objects.exists()


@pytest.mark.parametrize("code", ["", "    ", "\0", "ÄÖÜ", "BCDF-GHJK", "B" * 5000])
def test_lets_nobody_in_by_another_code(client: Client, code: str) -> None:
    shown(client)
    assert not is_let_in(typed(code))


def test_works_once(client: Client) -> None:
    code = shown(client)
    assert is_let_in(typed(code))
    assert not is_let_in(typed(code))


@pytest.mark.parametrize("code", ["", "nobody's"])
def test_keeps_what_was_typed_wrong(code: str) -> None:
    page = typed(code).content.decode()
    assert f'value="{code.replace(chr(39), "&#x27;")}"' in page


def test_works_for_a_while(assignment: Assignment) -> None:
    code = new_code(assignment, at=make.NOON)
    assert not is_used(code, after=timedelta(minutes=CODE_MINUTES))
    assert is_used(code, after=timedelta(minutes=CODE_MINUTES, seconds=-1))


def test_ends_with_a_newer_one(assignment: Assignment) -> None:
    old, new = (new_code(assignment, at=make.NOON) for _ in range(2))
    assert not is_used(old)
    assert is_used(new)


def test_ends_with_a_new_personal_link(assignment: Assignment) -> None:
    code = new_code(assignment, at=make.NOON)
    renew_resume_link(assignment, at=make.NOON)
    assert not is_used(code)


def test_ends_when_the_person_is_erased(assignment: Assignment) -> None:
    code = new_code(assignment, at=make.NOON)
    erase_annotator(assignment.annotator, at=make.NOON)
    assert not DeviceCode.objects.exists()
    assert not is_used(code)


def test_ends_no_code_of_somebody_else(assignment: Assignment) -> None:
    code = new_code(assignment, at=make.NOON)
    other = make.joined(assignment.batch)
    renew_resume_link(other, at=make.NOON)
    erase_annotator(other.annotator, at=make.NOON)
    assert use_code(code, at=make.NOON) == assignment


def test_forgets_the_codes_that_are_too_old(assignment: Assignment) -> None:
    new_code(assignment, at=make.NOON - timedelta(minutes=CODE_MINUTES))
    new_code(make.joined(assignment.batch), at=make.NOON)
    assert not DeviceCode.objects.filter(assignment=assignment).exists()


def test_leads_to_the_end_of_what_has_ended_since(client: Client) -> None:
    code = shown(client)
    finish(Assignment.objects.get(), Outcome.COMPLETED, at=timezone.now())
    other = Client()
    assert is_let_in(typed(code, other))
    assert "CODE-COMPLETED" in other.get(WORK).content.decode()
    assert page_of(client.post(SHOW)) == WORK
    assert not DeviceCode.objects.exists()


def test_asks_who_guesses_to_wait(client: Client, settings: Settings) -> None:
    settings.THROTTLES = {**settings.THROTTLES, "wrong_codes_per_address": 3}
    code = shown(client)
    answers = [typed(f"wrong {number}").status_code for number in range(5)]
    assert answers == [422, 422, 422, 429, 429]
    late = typed(code)
    assert late.status_code == 429
    assert 0 < int(late["Retry-After"]) <= 600
    assert is_let_in(typed(code, Client(REMOTE_ADDR="203.0.113.9")))


def test_counts_wrong_codes_alone(client: Client, settings: Settings) -> None:
    settings.THROTTLES = {**settings.THROTTLES, "wrong_codes_per_address": 1}
    assert every(is_let_in(typed(shown(client))) for _ in range(3))


def test_needs_the_forms_token(client: Client) -> None:
    code = shown(client)
    assert Client(enforce_csrf_checks=True).post(TYPE, {"code": code}).status_code == 403


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_lets_one_in_of_ten_who_type_it_at_once(assignment: Assignment) -> None:
    code = new_code(assignment, at=make.NOON)
    assert sorted(at_once(lambda _: is_used(code), 10)) == [False] * 9 + [True]


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_leaves_one_code_of_ten_that_are_shown_at_once(assignment: Assignment) -> None:
    codes = at_once(lambda _: new_code(assignment, at=make.NOON), 10)
    assert sum(is_used(code) for code in codes) == 1

"""The annotator's pages, as seen by a browser without an account."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core import signing
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import (
    Assignment,
    Batch,
    JoinAnswer,
    Judgement,
    Kind,
    Outcome,
    Study,
    WorkState,
)
from annotation.studies.lifecycle import close_study, start_study
from tests import make

pytestmark = pytest.mark.django_db

WORK = "/work/"


def enter(batch: Batch, client: Client | None = None, **parameters: str) -> Client:
    client = client or Client()
    response = client.get(
        reverse("annotation:join_batch", args=[batch.join_token]), parameters, follow=True
    )
    assert response.status_code == 200
    return client


def start(client: Client) -> None:
    client.post("/work/consent/", {"agree": "1"})
    client.post("/work/begin/")


def submit(client: Client, step: int, htmx: bool = False, **data: Any) -> Any:
    headers = {"HX-Request": "true"} if htmx else {}
    return client.post("/work/submit/", {"step": step, **data}, headers=headers)


@pytest.mark.parametrize("kind", Kind.values)
def test_leads_from_the_link_to_the_code(kind: str) -> None:
    client = enter(make.running_batch(kind=kind))
    start(client)
    assignment = Assignment.objects.get()
    while not assignment.is_finished:
        form: Any = make.right_answer(assignment)
        submit(client, assignment.step, **form)
        client.post("/work/next/", {"step": assignment.step})
        client.post("/work/begin/", {"step": assignment.step + 1})
        assignment.refresh_from_db()
    assert assignment.outcome == Outcome.COMPLETED
    assert "CODE-COMPLETED" in client.get(WORK).content.decode()


def test_goes_on_by_the_resume_link_in_another_browser() -> None:
    client = enter(make.running_batch())
    start(client)
    assignment = Assignment.objects.get()
    other = Client()
    other.get(reverse("annotation:resume", args=[assignment.resume_token]))
    submit(other, 0, option=0)
    assert other.get(WORK).content.count(b"data-reveal-form") == 1
    assert client.get(WORK).content.count(b"data-reveal-form") == 1


def test_refuses_a_cookie_that_was_changed() -> None:
    client = enter(make.running_batch())
    start(client)
    text, rest = client.cookies["annotator"].value.split(":", 1)
    changed = signing.b64_decode(text.encode()).replace(b"assignment", b"xx")
    client.cookies["annotator"] = f"{signing.b64_encode(changed).decode()}:{rest}"
    assert not client.cookies["annotator"].value.startswith(text)
    assert client.get(WORK).status_code == 403


def test_says_how_to_get_in_without_a_cookie() -> None:
    response = Client().get(WORK)
    assert response.status_code == 403
    assert "open your personal link" in response.content.decode()


def test_gives_withdrawing_its_own_code() -> None:
    client = enter(make.running_batch())
    start(client)
    response = client.post("/work/withdraw/", {"sure": "1"}, follow=True)
    assert "CODE-WITHDRAWN" in response.content.decode()
    assert _masked(client.get(WORK).content) == _masked(client.get(WORK).content)


def test_keeps_no_page_in_any_cache() -> None:
    client = enter(make.running_batch())
    start(client)
    response = client.get(WORK)
    assert "no-store" in response["Cache-Control"]
    assert b'hx-history="false"' in response.content


def test_answers_htmx_with_the_step_alone() -> None:
    client = enter(make.running_batch(zero_shot=True))
    start(client)
    response = submit(client, 0, htmx=True, option=0)
    assert b"<html" not in response.content
    assert b'name="step" value="1"' in response.content


def test_redirects_a_plain_form_so_that_a_reload_repeats_nothing() -> None:
    client = enter(make.running_batch(zero_shot=True))
    start(client)
    assert submit(client, 0, option=0).status_code == 302


def test_harms_nothing_when_a_form_comes_twice() -> None:
    client = enter(make.running_batch())
    start(client)
    first = submit(client, 0, htmx=True, option=0)
    again = submit(client, 0, htmx=True, option=0)
    assert _masked(first.content) == _masked(again.content)
    assert Judgement.objects.get().answer == ["bad"]


@pytest.mark.parametrize("htmx", [True, False])
@pytest.mark.parametrize("sent", [{"option": 1}, {}], ids=["other", "none"])
def test_says_that_the_answer_of_another_tab_counts(sent: dict[str, int], htmx: bool) -> None:
    client = enter(make.running_batch(zero_shot=True))
    start(client)
    for step in range(2):
        submit(client, step, option=0)
    page = submit(client, 0, htmx=htmx, **sent).content.decode()
    assert "in another tab or on another device: that answer counts" in page
    assert "3 of 4" in page
    assert [judgement.answer for judgement in Judgement.objects.all()] == [["bad"], ["bad"]]
    assert "another tab" not in client.get(WORK).content.decode()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({}, "Choose one answer"),
        ({"option": "7"}, "not among the choices"),
        ({"option": "x"}, "not among the choices"),
    ],
)
def test_says_what_is_wrong_and_loses_nothing(data: dict[str, str], sentence: str) -> None:
    client = enter(make.running_batch())
    start(client)
    response = submit(client, 0, htmx=True, **data)
    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert Assignment.objects.get().state == WorkState.ANSWERING


@pytest.mark.parametrize(
    "spans", ["[[0,0,999]]", "[[0,5,2]]", '[["a",1,2]]', "nonsense", "{}", "[[9,0,1]]"]
)
def test_refuses_spans_that_do_not_match(spans: str) -> None:
    client = enter(make.running_batch(kind=Kind.SPANS))
    start(client)
    assert submit(client, 0, htmx=True, spans=spans).status_code == 422
    assert not Judgement.objects.exists()


def test_takes_typed_pieces_without_javascript() -> None:
    client = enter(make.running_batch(kind=Kind.SPANS))
    start(client)
    assert submit(client, 0, typed="Nobody").status_code == 422
    submit(client, 0, typed="Anna\r\nBoris\r\n")
    assert Judgement.objects.get().answer == ["Anna", "Boris"]


def test_names_no_example_in_any_address() -> None:
    client = enter(make.running_batch())
    start(client)
    page = client.get(WORK).content.decode()
    assert set(re.findall(r'(?:action|hx-post)="([^"]+)"', page)) == {
        "/work/submit/",
        "/work/device/",
        "/work/leave/",
        "/language/",
    }


def _masked(content: bytes) -> bytes:
    return re.sub(rb'name="csrfmiddlewaretoken" value="[^"]+"', b"", content)


def test_says_in_plain_words_that_an_address_leads_nowhere() -> None:
    response = Client().get("/join/nobody-knows-this/")
    assert response.status_code == 404
    assert "exactly as you were given it" in response.content.decode()


def test_says_what_to_do_when_a_form_comes_without_its_token() -> None:
    client = enter(make.running_batch(), Client(enforce_csrf_checks=True))
    response = client.post("/work/consent/", {"agree": "1"})
    assert response.status_code == 403
    assert "allow cookies" in response.content.decode()


def test_each_page_brings_the_token_that_its_form_takes() -> None:
    batch = make.running_batch(training=1, tests=2)
    client = Client(enforce_csrf_checks=True)
    page = client.get(f"/join/batch/{batch.join_token}/", follow=True).content.decode()
    for path in ("consent", "begin", "submit", "next", "begin", "submit", "submit"):
        form = dict(re.findall(r'name="(csrfmiddlewaretoken|step|state)" value="([^"]+)"', page))
        sent, headers = {"agree": "1", "option": "0", **form}, {"HX-Request": "true"}
        address = f"/work/{path}/"
        if path == "consent":
            page = client.post(address, sent, follow=True).content.decode()
        else:
            page = client.post(address, sent, headers=headers).content.decode()
    assert Assignment.objects.get().outcome == Outcome.COMPLETED


def test_still_shows_the_code_of_who_declined_before_the_consent_made_the_assignment() -> None:
    client = enter(make.running_batch())
    start(client)
    Assignment.objects.update(state=WorkState.FINISHED, outcome=JoinAnswer.DECLINED)
    page = client.get(WORK).content.decode()
    assert "You did not take part" in page
    assert "CODE-DECLINED" in page


def test_asks_once_more_before_a_place_is_given_back() -> None:
    batch = make.running_batch(hourly_rate=36)
    client = enter(batch)
    start(client)
    Assignment.objects.update(paid_ms=60_000, shown_at=timezone.now() - timedelta(seconds=600))
    for response in (client.get("/work/withdraw/"), client.post("/work/withdraw/")):
        # The page in hand is worth an item's cap, three minutes.
        assert "you are paid <strong>2.40\xa0USD" in response.content.decode()
        assert Assignment.objects.get().outcome == ""
    client.post("/work/withdraw/", {"sure": "1"})
    ended = Assignment.objects.get()
    assert (ended.outcome, ended.amount) == (Outcome.WITHDRAWN, Decimal("2.40"))
    assert client.get("/work/withdraw/").status_code == 302


@pytest.mark.parametrize("htmx", [False, True])
def test_names_the_state_in_the_title(htmx: bool) -> None:
    batch = make.running_batch(training=2, tests=1, title="Cities")
    client, headers = enter(batch), {"HX-Request": "true"} if htmx else {}
    seen = []

    def look() -> None:
        page = client.get(WORK, headers=headers).content.decode()
        (title,) = re.findall(r"<title>(.+?) · Cities</title>", page)
        seen.append(title)

    client.post("/work/consent/", {"agree": "1"})
    look()
    client.post("/work/begin/")
    assignment = Assignment.objects.get()
    look()
    make.answer(assignment)
    look()
    make.answer(assignment)
    assignment = Assignment.objects.get()
    if assignment.state == WorkState.DESCRIPTION:
        client.post("/work/begin/", {"step": assignment.step})
    look()
    make.answer(Assignment.objects.get())
    look()
    assert seen == [
        "What to do", "Practice 1 of 2", "Practice 2 of 2", "Test 1 of 1", "Done. Thank you!",
    ]  # fmt: skip


def test_says_in_the_title_that_the_right_answer_is_shown() -> None:
    client = enter(make.running_batch())
    start(client)
    submit(client, 0, option=0)
    assert "<title>Right answer to Practice 1 of 3 · " in client.get(WORK).content.decode()


def test_shows_the_personal_link_on_every_page_of_the_work() -> None:
    client = enter(make.running_batch())
    client.post("/work/consent/", {"agree": "1"})
    link = f"http://testserver/resume/{Assignment.objects.get().resume_token}/"
    pages = [client.get(WORK)]
    client.post("/work/begin/")
    pages.append(client.get(WORK))
    submit(client, 0, option=0)
    pages.append(client.get(WORK))
    for page in pages:
        assert f">{link}</a>" in page.content.decode()


def test_leaves_somebodys_work_for_somebody_else_at_the_browser() -> None:
    client = enter(make.running_batch())
    start(client)
    who = Assignment.objects.get().annotator.pseudonym
    assert who in client.get(WORK).content.decode()
    page = client.post("/work/leave/", follow=True).content.decode()
    assert "Is this you?" in page
    assert client.get(WORK).status_code == 403
    client.post("/work/who/", {"who": who})
    assert client.get(WORK).status_code == 200


def test_sends_who_came_by_an_id_back_to_their_own_link() -> None:
    client = enter(make.running_batch(via="prolific"), PROLIFIC_PID=make.prolific_id("somebody"))
    start(client)
    response = client.post("/work/leave/")
    assert "open the link that you were given" in response.content.decode()
    assert client.get(WORK).status_code == 403
    assert Assignment.objects.get().outcome == ""


def test_switches_the_language_and_stays_where_it_was() -> None:
    client = enter(make.running_batch())
    start(client)
    response = client.post("/language/", {"language": "de", "next": WORK})
    assert response["Location"] == WORK
    page = client.get(WORK).content.decode()
    assert '<html lang="de"' in page
    # Each language by the name that its speakers look for.
    assert ">English</button>" in page


@pytest.mark.parametrize(
    ("kind", "english", "german"),
    [
        (Kind.SPANS, "None here", "Hier nichts"),
        (Kind.TEXT, "No answer", "Keine Antwort"),
        (Kind.CHOICE, "{none}", "{none}"),
    ],
)
def test_names_a_button_in_the_description_as_it_reads_there(
    kind: str, english: str, german: str
) -> None:
    task = make.task(kind=kind, description="Choose **{none}**, and leave {braces}.")
    batch = make.batch(make.study(task.benchmark), task)
    start_study(batch.study, at=make.NOON)
    client = enter(batch)
    start(client)
    assert f"<strong>{english}</strong>, and leave {{braces}}." in client.get(WORK).content.decode()
    client.post("/language/", {"language": "de", "next": WORK})
    assert f"<strong>{german}</strong>, and leave {{braces}}." in client.get(WORK).content.decode()


def test_leads_to_no_other_site_by_the_language_switch() -> None:
    response = Client().post("/language/", {"language": "de", "next": "https://example.org/"})
    assert "example.org" not in response["Location"]


def test_says_that_the_study_was_closed_and_for_how_long_the_page_may_be_sent() -> None:
    batch = make.running_batch(item_cap_s=150)
    client = enter(batch)
    start(client)
    close_study(batch.study, at=timezone.now())
    assert "within 3 minutes" in client.get(WORK).content.decode()
    Study.objects.update(closed_at=timezone.now() - timedelta(seconds=151))
    assert "The study was closed before" in client.get(WORK).content.decode()


@pytest.mark.parametrize("htmx", [False, True])
@pytest.mark.parametrize(("seconds", "is_told"), [(100, False), (200, True)])
def test_tells_who_took_longer_than_is_paid_that_the_rest_was_a_pause(
    seconds: int, is_told: bool, htmx: bool
) -> None:
    client = enter(make.running_batch(item_cap_s=180))
    start(client)
    begun = timezone.now() - timedelta(seconds=seconds)
    Assignment.objects.update(shown_at=begun)
    page = submit(client, 0, htmx=htmx, option="0").content.decode()
    assert ("item took more than 3 minutes: the rest counted as a pause." in page) == is_told
    assert Judgement.objects.get().paid_ms <= 180_000


@pytest.mark.parametrize("htmx", [False, True])
@pytest.mark.parametrize(("before_s", "is_told"), [(1190, True), (1000, False), (1200, False)])
def test_proposes_a_break_once_twenty_minutes_are_worked(
    before_s: int, is_told: bool, htmx: bool
) -> None:
    client = enter(make.running_batch(zero_shot=True, item_cap_s=180))
    start(client)
    begun = timezone.now() - timedelta(seconds=100)
    Assignment.objects.update(shown_at=begun, paid_ms=1000 * before_s)
    page = submit(client, 0, htmx=htmx, option="0").content.decode()
    assert ("You have worked for 21 minutes. Take a break if you like" in page) == is_told
    assert ("on this page at most 3 minutes are." in page) == is_told

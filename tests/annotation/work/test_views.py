"""The annotator's pages, as seen by a browser without an account."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Annotator, Assignment, Batch, Judgement, Kind, Outcome, WorkState
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


def right_form(assignment: Assignment) -> dict[str, Any]:
    raw: Any = make.right_answer(assignment)
    if raw.option is not None:
        return {"option": raw.option}
    return {"spans": str([list(span) for span in raw.spans or []]), "none": "1" if raw.none else ""}


@pytest.mark.parametrize("kind", Kind.values)
def test_leads_from_the_link_to_the_code(kind: str) -> None:
    client = enter(make.running_batch(kind=kind))
    start(client)
    assignment = Assignment.objects.get()
    while not assignment.is_finished:
        submit(client, assignment.step, **right_form(assignment))
        client.post("/work/next/", {"step": assignment.step})
        assignment.refresh_from_db()
    assert assignment.outcome == Outcome.COMPLETED
    assert "CODE-COMPLETED" in client.get(WORK).content.decode()


def test_takes_the_identifiers_out_of_the_address() -> None:
    batch = make.running_batch(via="prolific")
    response = Client().get(
        reverse("annotation:join_study", args=[batch.study.join_token]),
        {"PROLIFIC_PID": "p1", "STUDY_ID": "s1", "SESSION_ID": "x1"},
    )
    assert (response.status_code, response["Location"]) == (302, WORK)
    assert Assignment.objects.get().submission_id == "x1"


def test_lets_nobody_in_by_knowing_an_id() -> None:
    batch = make.running_batch(via="prolific")
    first = enter(batch, PROLIFIC_PID="p1")
    stranger = Client().get(
        reverse("annotation:join_batch", args=[batch.join_token]), {"PROLIFIC_PID": "p1"}
    )
    assert stranger.status_code == 403
    assert "another browser" in stranger.content.decode()
    assert first.get(WORK).status_code == 200


def test_lets_the_first_browser_in_again() -> None:
    batch = make.running_batch(via="prolific")
    client = enter(batch, PROLIFIC_PID="p1")
    enter(batch, client, PROLIFIC_PID="p1")
    assert Assignment.objects.count() == 1


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
    client.cookies["annotator"] = client.cookies["annotator"].value.replace("assignment", "xx")
    assert client.get(WORK).status_code == 403


def test_asks_for_the_id_that_a_link_lacks() -> None:
    batch = make.running_batch(via="prolific")
    response = Client().get(reverse("annotation:join_batch", args=[batch.join_token]))
    assert response.status_code == 403
    assert "lacks your id" in response.content.decode()
    assert not Annotator.objects.exists()


def test_tells_a_latecomer_before_any_work() -> None:
    batch = make.running_batch(wanted=1)
    enter(batch)
    late = Client().get(reverse("annotation:join_batch", args=[batch.join_token]))
    assert "CODE-FULL" in late.content.decode()
    assert Assignment.objects.count() == 1


def test_says_how_to_get_in_without_a_cookie() -> None:
    response = Client().get(WORK)
    assert response.status_code == 403
    assert "Open your link again" in response.content.decode()


def test_gives_declining_its_own_code() -> None:
    client = enter(make.running_batch())
    response = client.post("/work/consent/", {"decline": "1"}, follow=True)
    assert "CODE-DECLINED" in response.content.decode()
    assert "CODE-COMPLETED" not in response.content.decode()


def test_gives_withdrawing_its_own_code() -> None:
    client = enter(make.running_batch())
    start(client)
    response = client.post("/work/withdraw/", follow=True)
    assert "CODE-WITHDRAWN" in response.content.decode()
    assert client.get(WORK).content == client.get(WORK).content


def test_keeps_no_page_in_any_cache() -> None:
    client = enter(make.running_batch())
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
    again = submit(client, 0, htmx=True, option=1)
    assert _masked(first.content) == _masked(again.content)
    assert Judgement.objects.get().answer == ["bad"]


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
        "/work/withdraw/",
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

"""What a link does, who is believed, and what a refusal says."""

import hmac
import re
from collections import Counter
from hashlib import sha256
from typing import Any

import pytest
from django.core import signing
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.access.identity import remember_key
from annotation.models import (
    Annotator,
    Assignment,
    Batch,
    Channel,
    Invitation,
    JoinCount,
    Place,
    Study,
    WorkState,
)
from annotation.studies.lifecycle import close_study, pause_study, start_study
from annotation.work.finishing import finish
from tests import make
from tests.people_at_work import page_of
from tests.together import at_once

pytestmark = pytest.mark.django_db

CONSENT = "/work/consent/"
WORK = "/work/"
# Long enough to stand in no random token by chance.
PROLIFIC: Any = {
    "PROLIFIC_PID": make.prolific_id("person"),
    "STUDY_ID": "study-at-prolific",
    "SESSION_ID": "submission-at-prolific",
}


def link_of(batch: Batch) -> str:
    return reverse("annotation:join_batch", args=[batch.join_token])


def visit(of: Batch | str, client: Client | None = None, **parameters: str) -> Any:
    return (client or Client()).get(of if isinstance(of, str) else link_of(of), parameters)


def came(of: Batch | str, client: Client | None = None, **parameters: str) -> Client:
    client = client or Client()
    assert b'data-panel="consent"' in visit(of, client, **parameters).content
    return client


def agree(client: Client, **fields: str) -> Any:
    return client.post(CONSENT, {"agree": "1", **fields})


def consented(of: Batch | str, client: Client | None = None, **parameters: str) -> Client:
    client = came(of, client, **parameters)
    assert page_of(agree(client)) == WORK
    return client


def lost(client: Client) -> Client:
    """The same browser, which has not received the response to its consent."""
    del client.cookies["annotator"]
    return client


def text_of(response: Any) -> str:
    return response.content.decode()


def taken() -> int:
    return Place.objects.filter(holder__isnull=False).count()


# Opening a link takes nothing


@pytest.mark.parametrize("via", ["link", "prolific"])
def test_takes_nothing_and_writes_nothing_when_a_link_is_opened(via: str) -> None:
    batch = make.running_batch(wanted=3, via=via)
    remember_key()  # as a migration does
    with CaptureQueriesContext(
        connection,
    ) as queries:
        for number in range(10):
            came(batch, PROLIFIC_PID=make.prolific_id(f"p{number}"))
    assert {query["sql"].split()[0] for query in queries} == {"SELECT"}
    assert (taken(), Annotator.objects.count(), Assignment.objects.count()) == (0, 0, 0)


def test_makes_person_id_and_place_with_the_consent() -> None:
    batch = make.running_batch(via="prolific")
    client = came(batch, **PROLIFIC)
    agree(client)
    assignment = Assignment.objects.get()
    assert assignment.annotator.external_id == PROLIFIC["PROLIFIC_PID"]
    assert assignment.submission_id == PROLIFIC["SESSION_ID"]
    assert (assignment.state, taken()) == (WorkState.DESCRIPTION, 1)
    assert b"I agree" not in client.get(WORK).content


def test_takes_one_place_for_a_prefetch_and_a_second_tab() -> None:
    batch = make.running_batch(wanted=3)
    client = came(batch)
    came(batch, client)
    came(batch, client)
    assert agree(client).status_code == agree(client).status_code == 302
    assert (Assignment.objects.count(), taken()) == (1, 1)


@pytest.mark.parametrize("answer", ["agree", "decline"])
def test_takes_no_answer_to_one_study_for_another(answer: str) -> None:
    first, second = make.running_batch(title="First"), make.running_batch(title="Second")
    client = came(first)
    digest = client.get(CONSENT).context["arrival"].digest
    came(second, client)
    response = client.post(CONSENT, {answer: "1", "door": digest})
    page = text_of(response)
    assert "Your answer was not taken" in page
    assert "Read about “Second”" in page
    # A second press would be an answer to a study that nobody read about.
    assert "I agree" not in page
    assert not Assignment.objects.exists()
    assert not JoinCount.objects.exists()
    agree(client)
    assert Assignment.objects.get().batch == second


def test_shows_the_range_of_a_study_with_several_batches() -> None:
    bench = make.benchmark()
    study = make.study(bench)
    make.batch(study, make.task(bench, training=3, tests=4))
    make.batch(study, make.task(bench, training=5, tests=6))
    start_study(study, at=make.NOON)
    page = text_of(Client().get(reverse("annotation:join_study", args=[study.join_token])))
    assert "First 3 to 5 items for practice" in page
    assert "4–6 items to answer" in page


def test_counts_who_declines_and_stores_nothing_else() -> None:
    batch = make.running_batch(via="prolific")
    client = came(batch, **PROLIFIC)
    page = text_of(client.post(CONSENT, {"decline": "1"}))
    assert "CODE-DECLINED" in page
    assert "CODE-COMPLETED" not in page
    assert (taken(), Annotator.objects.count(), Assignment.objects.count()) == (0, 0, 0)
    count = JoinCount.objects.get()
    assert (count.study, count.answer, count.count) == (batch.study, "declined", 1)


def test_lets_who_declined_think_again() -> None:
    client = came(make.running_batch())
    client.post(CONSENT, {"decline": "1"})
    assert page_of(agree(client)) == WORK


def test_takes_no_answer_for_no_consent() -> None:
    client = came(make.running_batch())
    page = client.post(CONSENT, {})
    assert b'name="agree"' in page.content
    assert not Assignment.objects.exists()


def test_gives_nobody_who_works_the_code_for_declining() -> None:
    batch = make.running_batch()
    page = text_of(consented(batch).post(CONSENT, {"decline": "1"}))
    assert "You have agreed already, in another tab" in page
    assert batch.study.outcome_rules.get(outcome="declined").code not in page
    assert Assignment.objects.get().outcome == ""


def test_says_what_to_do_when_the_browser_keeps_no_cookie() -> None:
    response = agree(Client())
    assert response.status_code == 403
    assert "Allow cookies" in text_of(response)


OF_ANOTHER_VERSION = signing.dumps({"way": "study"}, salt="annotation.access.door")


@pytest.mark.parametrize(
    "cookie",
    ["", "nonsense", "a:b:c", OF_ANOTHER_VERSION],
    ids=["empty", "nonsense", "unsigned", "of another version"],  # a signature tells the time
)
def test_refuses_a_door_that_was_changed(cookie: str) -> None:
    client = came(make.running_batch())
    client.cookies["door"] = cookie
    assert agree(client).status_code == 403


def test_takes_the_ids_out_of_the_address() -> None:
    client = consented(make.running_batch(via="prolific"), **PROLIFIC)
    response = client.get(WORK)
    assert response.status_code == 200
    for value in PROLIFIC.values():
        assert value not in text_of(response)


@pytest.mark.parametrize("pid", ["", " ", "{{%PROLIFIC_PID%}}"])
def test_asks_for_the_id_that_a_link_lacks(pid: str) -> None:
    response = visit(make.running_batch(via="prolific"), PROLIFIC_PID=pid)
    assert response.status_code == 403
    assert "lacks your id" in text_of(response)


@pytest.mark.parametrize("pid", ["p1", "0" * 23, "0" * 25, "0" * 23 + "g", "0" * 24 + "\u0660"])
def test_takes_no_id_of_another_form_than_the_platforms(pid: str) -> None:
    client = Client()
    response = visit(make.running_batch(via="prolific"), client, PROLIFIC_PID=pid)
    assert response.status_code == 403
    assert "The id in this link is none of Prolific. Open the study again" in text_of(response)
    assert "door" not in client.cookies


SPELLED_OTHERWISE = ["Jose\u0301", "a\u200bb", "a\ufeffb", "a\u00adb", "a\x1bb", "a\u2028b"]


@pytest.mark.parametrize("pid", SPELLED_OTHERWISE)
def test_takes_no_second_spelling_of_an_id_on_any_channel(pid: str) -> None:
    client = Client()
    response = visit(make.running_batch(via="connect"), client, participantId=pid)
    assert response.status_code == 403
    assert "The id in this link is none of" in text_of(response)
    assert "door" not in client.cookies
    assert visit(make.running_batch(via="connect"), participantId="Jos\u00e9").status_code == 200


def test_says_so_in_german() -> None:
    response = visit(make.running_batch(via="prolific", language="de"), PROLIFIC_PID="p1")
    assert "Die ID in diesem Link ist keine von Prolific" in text_of(response)


def test_takes_long_ids_in_any_script() -> None:
    long = "字" * 200
    consented(make.running_batch(via="connect"), participantId=long, assignmentId=long)
    assert Annotator.objects.get().external_id == long


# Too late, too early


def test_tells_latecomers_and_keeps_none_of_their_ids() -> None:
    batch = make.running_batch(wanted=1, via="prolific")
    late = [came(batch, PROLIFIC_PID=make.prolific_id(f"late {number}")) for number in range(8)]
    consented(batch, PROLIFIC_PID=make.prolific_id("first"))
    for client in late:
        assert "CODE-FULL" in text_of(agree(client))
    assert Annotator.objects.get().external_id == make.prolific_id("first")
    assert sum(JoinCount.objects.values_list("count", flat=True)) == 8


def test_says_that_a_study_is_full_before_the_consent() -> None:
    batch = make.running_batch(wanted=1, via="prolific")
    consented(batch, PROLIFIC_PID=make.prolific_id("first"))
    page = text_of(visit(batch, PROLIFIC_PID=make.prolific_id("late")))
    assert "All places" in page
    assert "CODE-FULL" in page
    assert "I agree" not in page


@pytest.mark.parametrize("when", ["before", "paused", "closed"])
def test_gives_no_code_for_full_while_the_study_is_shut(when: str) -> None:
    batch = make.running_batch(wanted=1, via="prolific", contact="ann@example.org")
    consented(batch, PROLIFIC_PID=make.prolific_id("first"))
    client = _came_to_a_shut_door(batch, when)
    page = text_of(visit(batch, client, PROLIFIC_PID=make.prolific_id("late")))
    assert "CODE-" not in page
    assert "ann@example.org" in page
    assert "CODE-" not in text_of(agree(client))
    assert Annotator.objects.count() == 1


def _came_to_a_shut_door(batch: Batch, when: str) -> Client:
    client = Client()
    if when == "before":
        Study.objects.filter(pk=batch.study_id).update(state="draft", started_at=None)
    elif when == "paused":
        pause_study(batch.study)
    else:
        close_study(batch.study, at=make.NOON)
    return client


@pytest.mark.parametrize("when", ["before", "paused"])
def test_lets_in_later_who_came_to_a_shut_door_on_another_device(when: str) -> None:
    batch = make.running_batch(via="prolific")
    early = _came_to_a_shut_door(batch, when)
    visit(batch, early, **PROLIFIC)
    agree(early)
    Study.objects.filter(pk=batch.study_id).update(state="open", started_at=make.NOON)
    consented(batch, Client(), **PROLIFIC)


def test_lets_in_later_who_came_when_all_was_full() -> None:
    batch = make.running_batch(via="prolific", wanted=1)
    consented(batch, PROLIFIC_PID=make.prolific_id("first"))
    visit(batch, **PROLIFIC)
    finish(Assignment.objects.get(), "withdrawn", at=timezone.now())
    consented(batch, Client(), **PROLIFIC)


def test_says_that_a_task_was_done_before() -> None:
    first = make.running_batch(via="prolific")
    consented(first, **PROLIFIC)
    second = make.batch(make.study(first.study.benchmark, via="prolific"), first.task)
    start_study(second.study, at=make.NOON)
    page = text_of(visit(second, **PROLIFIC))
    assert "only once" in page


# Who is believed


def test_goes_on_ten_times_of_ten_when_the_response_got_lost() -> None:
    batch = make.running_batch(via="prolific", wanted=10)
    for number in range(10):
        client = lost(consented(batch, PROLIFIC_PID=make.prolific_id(f"p{number}")))
        if number % 2:
            again = visit(batch, client, PROLIFIC_PID=make.prolific_id(f"p{number}"))
            assert page_of(again) == WORK
        else:
            assert page_of(agree(client)) == WORK
        assert client.get(WORK).status_code == 200
    assert Assignment.objects.count() == 10


def test_goes_on_when_the_response_to_a_plain_link_got_lost() -> None:
    client = lost(consented(make.running_batch()))
    assert page_of(agree(client)) == WORK
    assert Assignment.objects.count() == 1


def test_believes_an_id_until_it_has_consented_here() -> None:
    first = make.running_batch(via="prolific")
    consented(first, **PROLIFIC)
    second = make.running_batch(via="prolific")
    consented(second, Client(), **PROLIFIC)
    assert Annotator.objects.count() == 1


def test_believes_two_browsers_until_one_of_them_consents() -> None:
    batch = make.running_batch(via="prolific", contact="ann@example.org")
    stranger, owner = came(batch, **PROLIFIC), came(batch, **PROLIFIC)
    agree(owner)
    for response in (agree(stranger), visit(batch, stranger, **PROLIFIC)):
        assert response.status_code == 403
        page = text_of(response)
        assert "another browser" in page
        assert "personal link" in page
        assert "ann@example.org" in page
        assert "CODE-" not in page
    assert stranger.get(WORK).status_code == 403
    assert owner.get(WORK).status_code == 200


def test_gives_no_way_into_one_study_by_a_consent_in_another() -> None:
    batch = make.running_batch(via="prolific")
    consented(batch, **PROLIFIC)
    stranger = consented(make.running_batch(via="prolific"), **PROLIFIC)
    assert visit(batch, stranger, **PROLIFIC).status_code == 403


def test_asks_for_proof_even_with_a_new_submission() -> None:
    batch = make.running_batch(via="prolific")
    consented(batch, **PROLIFIC)
    finish(Assignment.objects.get(), "completed", at=timezone.now())
    response = visit(batch, **{**PROLIFIC, "SESSION_ID": "x2"})
    assert response.status_code == 403


def test_lets_the_first_browser_in_again() -> None:
    batch = make.running_batch(via="prolific")
    client = consented(batch, **PROLIFIC)
    assert page_of(visit(batch, client, **PROLIFIC)) == WORK


def test_believes_a_signature_on_any_device_and_nothing_else() -> None:
    Channel.objects.filter(slug="prolific").update(signature_param="sig", signature_secret="key")
    batch = make.running_batch(via="prolific")
    right = hmac.new(b"key", "\n".join(PROLIFIC.values()).encode(), sha256).hexdigest()
    consented(batch, **PROLIFIC, sig=right)
    assert page_of(visit(batch, Client(), **PROLIFIC, sig=right)) == WORK
    for wrong in ("", "0" * 64, "ü"):
        assert visit(batch, Client(), **PROLIFIC, sig=wrong).status_code == 403
    assert Assignment.objects.count() == 1


def test_lets_the_invited_in_by_their_link_on_any_device() -> None:
    batch = make.running_batch(via="invited")
    invitation = Invitation.objects.create(study=batch.study, external_id="ann")
    link = reverse("annotation:accept_invitation", args=[invitation.token])
    came(link)
    assert not Annotator.objects.exists()
    consented(link)
    assert page_of(visit(link)) == WORK
    assert Assignment.objects.get().annotator.external_id == "ann"


def test_knows_a_browser_by_a_cookie_of_the_earlier_form() -> None:
    """A person at work while the installation is upgraded."""
    client = consented(make.running_batch(via="prolific"), **PROLIFIC)
    assignment = Assignment.objects.get()
    signer = signing.get_cookie_signer(salt="annotatorannotation.access")
    client.cookies["annotator"] = signer.sign(
        f'{{"assignment":{assignment.pk},"annotators":[{assignment.annotator_id}]}}'
    )
    del client.cookies["door"]
    assert page_of(visit(assignment.batch, client, **PROLIFIC)) == WORK


def test_gives_cookies_that_every_program_sends_back() -> None:
    """Quotes and commas end a value in some."""
    client = consented(make.running_batch())
    values = [client.cookies[name].value for name in ("annotator", "door")]
    assert not set(' ",;\\') & set("".join(values))
    assert client.get(WORK).status_code == 200


# Several people on one device


def test_asks_who_it_is_on_a_device_where_somebody_has_begun() -> None:
    batch = make.running_batch()
    client = consented(batch)
    first = Assignment.objects.get()
    page = text_of(visit(batch, client))
    assert "Is this you?" in page
    assert first.annotator.pseudonym in page
    assert "is at item 1 of 7" in page
    client.post("/work/who/", {"who": first.annotator.pseudonym})
    assert page_of(agree(client)) == WORK
    assert Assignment.objects.get() == first


def test_says_who_has_finished_on_a_device() -> None:
    batch = make.running_batch()
    client = consented(batch)
    finish(Assignment.objects.get(), "withdrawn", at=timezone.now())
    page = text_of(visit(batch, client))
    assert "has finished with this study" in page
    assert "Yes, show how it ended" in page
    assert "go on" not in page


def test_lets_a_second_person_begin_on_the_same_device() -> None:
    batch = make.running_batch()
    client = consented(batch)
    visit(batch, client)
    assert "I agree" in text_of(client.get(CONSENT))
    agree(client)
    first, second = Assignment.objects.order_by("pk")
    assert first.annotator != second.annotator
    page = text_of(visit(batch, client))
    assert first.annotator.pseudonym in page
    assert second.annotator.pseudonym in page
    client.post("/work/who/", {"who": first.annotator.pseudonym})
    assert first.resume_token in text_of(client.get(WORK))


def test_takes_somebody_from_study_to_study_on_the_same_device() -> None:
    client = consented(make.running_batch())
    who = Annotator.objects.get()
    page = text_of(visit(make.running_batch(), client))
    assert "has not begun this study" in page
    response = client.post("/work/who/", {"who": who.pseudonym}, follow=True)
    assert "I agree" in text_of(response)
    agree(client)
    assert Annotator.objects.get() == who
    assert Assignment.objects.count() == 2


def test_lets_somebody_else_begin_after_all() -> None:
    client = consented(make.running_batch())
    who, second = Annotator.objects.get(), make.running_batch()
    visit(second, client)
    client.post("/work/who/", {"who": who.pseudonym})
    visit(second, client)
    agree(client)
    assert Assignment.objects.get(batch=second).annotator != who


def test_shows_the_latest_link_to_a_question_of_an_earlier_one() -> None:
    first, second = make.running_batch(title="First"), make.running_batch(title="Second")
    client = consented(first)
    who, page = Annotator.objects.get(), visit(second, client)
    digest = page.context["arrival"].digest
    visit(first, client)
    page = text_of(client.post("/work/who/", {"who": who.pseudonym, "door": digest}))
    assert "First" in page
    assert "Second" not in page
    assert not Assignment.objects.filter(batch=second).exists()


def test_who_begins_as_somebody_else_begins_the_study_that_was_asked_about() -> None:
    first, second = make.running_batch(title="First"), make.running_batch(title="Second")
    client = consented(first)
    page = text_of(visit(second, client))
    [address] = re.findall(rf'href="({CONSENT}[^"]*)"', page)
    assert "Second" in text_of(client.get(address))
    third = make.running_batch(title="Third")
    visit(third, client)
    page = text_of(client.get(address))
    assert "Third" in page
    assert "Is this you?" in page
    assert "This is not the study that you were just looking at" in page


def test_takes_nobody_for_a_person_whom_the_browser_does_not_know() -> None:
    batch = make.running_batch()
    consented(batch)
    other = came(batch)
    other.post("/work/who/", {"who": Annotator.objects.get().pseudonym})
    assert other.get(WORK).status_code == 403


def test_asks_nobody_who_they_are_where_links_name_people() -> None:
    batch = make.running_batch(via="prolific")
    client = consented(batch, **PROLIFIC)
    came(batch, client, PROLIFIC_PID=make.prolific_id("p2"))
    agree(client)
    assert Annotator.objects.count() == 2


def test_leads_a_lost_cookie_to_the_personal_link() -> None:
    batch = make.running_batch(wanted=1)
    assert "open your personal link" in text_of(visit(batch)).lower()
    consented(batch)
    assert "open your personal link" in text_of(visit(batch)).lower()


def test_says_that_a_personal_link_leads_nowhere() -> None:
    response = Client().get(reverse("annotation:resume", args=["not-a-token"]))
    assert response.status_code == 404
    assert "a newer one took its place" in text_of(response)


# Under concurrency


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("via", ["link", "prolific"])
def test_takes_two_tabs_that_consent_at_once_for_one_person(via: str) -> None:
    batch = make.running_batch(wanted=3, via=via)
    client = came(batch, **PROLIFIC)
    door = client.cookies["door"].value

    def consent_in_a_tab(_number: int) -> str:
        tab = Client()
        tab.cookies["door"] = door
        return page_of(agree(tab))

    assert set(at_once(consent_in_a_tab, 8)) == {WORK}
    assert (Annotator.objects.count(), Assignment.objects.count(), taken()) == (1, 1, 1)


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_lets_one_of_two_strangers_with_one_id_in() -> None:
    batch = make.running_batch(wanted=3, via="prolific")
    clients = [came(batch, **PROLIFIC) for _ in range(6)]
    statuses = at_once(lambda number: agree(clients[number]).status_code, 6)
    assert Counter(statuses) == {302: 1, 403: 5}
    assert Assignment.objects.count() == 1


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_lets_three_of_twenty_in_who_consent_at_once_for_three_places() -> None:
    batch = make.running_batch(wanted=3, via="prolific")
    clients = [came(batch, PROLIFIC_PID=make.prolific_id(f"p{number}")) for number in range(20)]
    answers = at_once(lambda number: agree(clients[number]), 20)
    assert Counter(answer.status_code for answer in answers) == {302: 3, 200: 17}
    assert sum("CODE-FULL" in text_of(answer) for answer in answers) == 17
    assert Annotator.objects.count() == Assignment.objects.count() == taken() == 3
    assert sum(JoinCount.objects.values_list("count", flat=True)) == 17


def test_shows_the_consent_text_as_markdown_without_html_of_its_own() -> None:
    text = "We **store** little:\n\n- your answers\n- <script>x()</script>"
    batch = make.running_batch(consent_text=text)
    page = visit(batch).content.decode()
    assert "<p>We <strong>store</strong> little:</p>" in page
    assert "<li>your answers</li>" in page
    assert "<script>x" not in page

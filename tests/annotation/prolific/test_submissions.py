"""Who was timed out on the platform comes back by another submission: each is kept, and the latest
counts for status, approval and pay."""

from copy import deepcopy
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.core.signing import Signer
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment, Batch, Outcome, Place, ProlificStudy, Submission
from annotation.payments.ledger import approve, dues
from annotation.people.views import events
from annotation.prolific import statuses
from annotation.work.finishing import finish
from annotation.work.places import AT_WORK, release_place
from tests import make
from tests.annotation.prolific.conftest import paid_batch
from tests.annotation.prolific.standin import StandIn
from tests.made_once import once_a_module
from tests.people_at_work import page_of
from tests.tab import Tab

pytestmark = pytest.mark.django_db

CONSENT = "/work/consent/"
SECOND = "submission-second"
WHO = make.prolific_id("person")


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def link(batch: Batch, submission_id: str) -> str:
    query = f"PROLIFIC_PID={WHO}&STUDY_ID=study-7&SESSION_ID={submission_id}"
    return f"/join/batch/{batch.join_token}/?{query}"


batch_once = once_a_module(lambda: paid_batch(wanted=1))


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    """With a single place."""
    return deepcopy(batch_once)


def at_work_in(batch: Batch) -> Client:
    """Somebody, by the submission `sub-1`."""
    client = Client()
    client.get(link(batch, "sub-1"))
    client.post(CONSENT, {"agree": "1"})
    client.post("/work/begin/")
    return client


@pytest.fixture
def client(batch: Batch) -> Client:
    return at_work_in(batch)


def came_back(batch: Batch, client: Client, submission_id: str = SECOND) -> Tab:
    tab = Tab(client, link(batch, submission_id))
    says_yes(tab)
    return tab


def says_yes(tab: Tab) -> None:
    """To the question whether the new submission counts from now on."""
    [action] = (action for action, fields in tab.forms.items() if "submission" in fields)
    tab.send(action)


def say(batch: Batch, submission_id: str, status: str, at: datetime | None = None) -> None:
    at = at or timezone.now()
    statuses.note_event(batch.study, submission_id, WHO, status, said_at=at, at=at)


def own() -> Assignment:
    return Assignment.objects.get()


def silent_for(minutes: float) -> None:
    ago = timezone.now() - timedelta(minutes=minutes)
    Assignment.objects.update(seen_at=ago, shown_at=ago)


def displaced(batch: Batch, client: Client) -> str:
    """What somebody is told whose place another took."""
    make.joined(batch, at=timezone.now())
    return client.get("/work/").content.decode()


def test_opening_the_link_again_asks_and_stores_nothing(batch: Batch, client: Client) -> None:
    page = client.get(link(batch, SECOND))
    assert b"Your answers are saved" in page.content
    assert [one.submission_id for one in Submission.objects.all()] == ["sub-1"]
    assert page_of(client.get(link(batch, "sub-1"))) == "/work/"


@pytest.mark.both_databases
def test_keeps_each_and_counts_the_latest(batch: Batch, client: Client) -> None:
    assert came_back(batch, client).address.startswith("/work/")
    assert [one.submission_id for one in Submission.objects.all()] == ["sub-1", SECOND]
    assert (own().submission_id, own().earlier_submission_ids) == (SECOND, ["sub-1"])
    # The older link, opened once more, turns nothing back.
    assert page_of(client.get(link(batch, "sub-1"))) == "/work/"
    client.post(CONSENT, {"agree": "1"})
    assert own().submission_id == SECOND


@pytest.mark.parametrize("opened", ["", "{{%SESSION_ID%}}", "submission-third", "sub-1"])
def test_the_question_keeps_its_own_submission_whatever_was_opened_since(
    batch: Batch, client: Client, opened: str
) -> None:
    tab = Tab(client, link(batch, SECOND))
    client.get(link(batch, opened))
    says_yes(tab)
    assert own().submission_id == SECOND


def test_a_form_that_was_changed_on_the_way_keeps_nothing(batch: Batch, client: Client) -> None:
    other = make.joined(make.running_batch(via="prolific"), submission_id="sub-1")
    for submission in ("submission-third", "", Signer().sign("x")):
        address = f"/resume/{other.resume_token}/"
        assert client.post(address, {"submission": submission}).status_code == 400
    assert Submission.objects.count() == 2


def test_a_stale_consent_form_asks_about_a_new_submission(batch: Batch, client: Client) -> None:
    client.get(link(batch, SECOND))
    page = client.post(CONSENT, {"agree": "1", "door": "of another link"}).content
    assert b"Your answers are saved" in page
    assert own().submission_id == "sub-1"


# After the end


@pytest.mark.parametrize("status", ["TIMED-OUT", "RETURNED"])
@pytest.mark.parametrize("outcome", [Outcome.COMPLETED, Outcome.SCREENED_OUT])
def test_work_that_the_platform_lost_is_handed_in_by_the_new_submission(
    batch: Batch, client: Client, outcome: Outcome, status: str
) -> None:
    Assignment.objects.update(screening={"score": 10, "floor": 50, "passed": False})
    finish(own(), outcome, at=timezone.now())
    say(batch, "sub-1", status)
    ended_at = own().seen_at
    tab = Tab(client, link(batch, SECOND))
    assert "You have finished this study" in tab.text
    says_yes(tab)
    assert f"CODE-{outcome.upper()}" in tab.text
    assert (own().submission_id, own().seen_at) == (SECOND, ended_at)
    [due] = dues(batch.study)
    assert due.base == Decimal("2" if outcome == Outcome.COMPLETED else "0.20")


@pytest.mark.parametrize("status", ["", "ACTIVE", "AWAITING REVIEW", "APPROVED", "REJECTED"])
def test_finished_work_gives_no_second_submission_its_code(
    batch: Batch, client: Client, status: str
) -> None:
    finish(own(), Outcome.COMPLETED, at=timezone.now())
    if status:
        say(batch, "sub-1", status)
    page = client.get(link(batch, SECOND)).content.decode()
    assert "CODE-FULL" in page
    assert "CODE-COMPLETED" not in page
    assert "Your earlier work is paid as you are told" in page
    assert "You have not worked" not in page
    assert f"name the submission {SECOND}" in page
    assert own().submission_id == "sub-1"


def test_who_withdrew_gets_no_code_of_that_by_another_submission(
    batch: Batch, client: Client
) -> None:
    say(batch, "sub-1", "RETURNED")
    assert "CODE-FULL" in client.get(link(batch, SECOND)).content.decode()


def test_the_personal_link_in_another_browser_keeps_the_submission_that_led_there(
    batch: Batch, client: Client
) -> None:
    tab = Tab(Client(), link(batch, SECOND))
    assert "personal link" in tab.text
    tab.open(f"/resume/{own().resume_token}/")
    says_yes(tab)
    assert own().submission_id == SECOND
    assert page_of(tab.browser.get(f"/resume/{own().resume_token}/")) == "/work/"


def test_the_personal_link_of_somebody_else_keeps_no_submission_of_theirs(
    batch: Batch, client: Client
) -> None:
    other = make.joined(make.running_batch(via="prolific"), submission_id="sub-1")
    stranger = Client()
    stranger.get(link(batch, SECOND))
    assert page_of(stranger.get(f"/resume/{other.resume_token}/")) == "/work/"
    assert Submission.objects.count() == 2


def test_a_placeholder_that_was_left_is_no_submission(batch: Batch) -> None:
    client = Client()
    client.get(link(batch, "{{%SESSION_ID%}}"))
    client.post(CONSENT, {"agree": "1"})
    assert own().submission_id == ""


@pytest.mark.parametrize("status", ["RETURNED", "TIMED-OUT", "APPROVED", "REJECTED"])
def test_a_status_of_an_older_one_ends_nothing(batch: Batch, client: Client, status: str) -> None:
    came_back(batch, client)
    silent_for(30)
    lease = Place.objects.get(holder=own()).lease_until
    say(batch, "sub-1", status)
    assert own().outcome == ""
    assert Place.objects.get(holder=own()).lease_until == lease
    assert own().submissions.get(submission_id="sub-1").status == status


def test_a_status_of_the_latest_does_what_it_did(batch: Batch, client: Client) -> None:
    came_back(batch, client)
    say(batch, SECOND, "RETURNED")
    assert own().outcome == Outcome.WITHDRAWN


def test_asking_the_platform_ends_nothing_by_an_older_one(
    prolific: StandIn, connection: ProlificStudy, batch: Batch, client: Client
) -> None:
    came_back(batch, client)
    for name, status in (("sub-1", "RETURNED"), (SECOND, "ACTIVE")):
        prolific.submissions.append({"id": name, "status": status, "participant_id": WHO})
    assert statuses.poll(connection, at=timezone.now()) == 2
    assert statuses.poll(connection, at=timezone.now()) == 0
    assert own().outcome == ""


@pytest.mark.parametrize(
    ("first", "second", "base", "paid_there"),
    [
        ("TIMED-OUT", "", "2", 0),
        ("TIMED-OUT", "AWAITING REVIEW", "2", 1),
        ("RETURNED", "APPROVED", "2", 1),
        ("APPROVED", "RETURNED", "0", 1),
        ("APPROVED", "APPROVED", "2", 2),
        ("AWAITING REVIEW", "AWAITING REVIEW", "2", 2),
    ],
)
def test_the_latest_sets_what_the_platform_paid(
    batch: Batch, client: Client, first: str, second: str, base: str, paid_there: int
) -> None:
    came_back(batch, client)
    finish(own(), Outcome.COMPLETED, at=timezone.now())
    say(batch, "sub-1", first)
    if second:
        say(batch, SECOND, second)
    [due] = dues(batch.study)
    assert (due.base, due.paid_there) == (Decimal(base), paid_there)
    page = signed_in(make.member(batch.study)).get(
        f"/research/studies/{batch.study.slug}/payments/"
    )
    assert ("have the others returned" in page.content.decode()) == (paid_there > 1)


def test_payments_says_who_came_by_several_of_which_nothing_was_said(
    batch: Batch, client: Client
) -> None:
    came_back(batch, client)
    finish(own(), Outcome.COMPLETED, at=timezone.now())
    page = signed_in(make.member(batch.study)).get(
        f"/research/studies/{batch.study.slug}/payments/"
    )
    assert "One person came by several submissions" in page.content.decode()
    assert "came by 2 submissions" in page.content.decode()


@pytest.mark.parametrize("left", ["sub-1", "", "{{%SESSION_ID%}}"])
def test_payments_says_who_came_without_one(batch: Batch, left: str) -> None:
    client = Client()
    client.get(link(batch, left))
    client.post(CONSENT, {"agree": "1"})
    finish(own(), Outcome.COMPLETED, at=timezone.now())
    page = signed_in(make.member(batch.study)).get(
        f"/research/studies/{batch.study.slug}/payments/"
    )
    assert ("One person came by a link without “SESSION_ID”" in page.content.decode()) == (
        left != "sub-1"
    )


def test_one_that_was_handed_in_from_an_old_tab_counts(
    prolific: StandIn, connection: ProlificStudy, batch: Batch, client: Client
) -> None:
    """Somebody opened the new link, and went on in the old tab all the same."""
    client.get(link(batch, SECOND))
    finish(own(), Outcome.COMPLETED, at=timezone.now())
    for name, status in (("sub-1", "TIMED-OUT"), (SECOND, "AWAITING REVIEW")):
        prolific.submissions.append({"id": name, "status": status, "participant_id": WHO})
    assert statuses.poll(connection, at=timezone.now()) == 2
    assert own().submission_id == SECOND
    [due] = dues(batch.study)
    assert (due.base, due.paid_there) == (Decimal(2), 1)


@pytest.mark.parametrize("status", ["RETURNED", "ACTIVE", "RESERVED", "TIMED-OUT"])
def test_one_that_nobody_entered_by_counts_for_nothing(
    batch: Batch, client: Client, status: str
) -> None:
    say(batch, SECOND, status)
    assert (own().outcome, own().submission_id) == ("", "sub-1")
    assert Submission.objects.count() == 1


def test_a_second_that_was_handed_in_beside_the_first_is_said(batch: Batch, client: Client) -> None:
    finish(own(), Outcome.COMPLETED, at=timezone.now())
    say(batch, "sub-1", "APPROVED")
    say(batch, SECOND, "AWAITING REVIEW")
    [due] = dues(batch.study)
    assert (due.person.submission_id, due.paid_there) == ("sub-1", 2)


def test_approves_the_latest_alone(
    prolific: StandIn, connection: ProlificStudy, batch: Batch, client: Client
) -> None:
    came_back(batch, client)
    finish(own(), Outcome.COMPLETED, at=timezone.now())
    for name in ("sub-1", SECOND):
        prolific.submissions.append({"id": name, "status": "AWAITING REVIEW"})
        say(batch, name, "AWAITING REVIEW")
    Assignment.objects.update(amount=3)
    approve(batch.study, [own().pk], at=timezone.now())
    assert statuses.approve_submissions(connection, at=timezone.now()) == (1, [])
    assert prolific.moved == [SECOND]


# A place that the platform's time took


AWAY = "You were away for longer"
RAN_OUT = "Your time for this study ran out on Prolific"


def test_a_time_out_takes_no_place_of_somebody_at_work(batch: Batch, client: Client) -> None:
    silent_for(AT_WORK / timedelta(minutes=1) - 1)
    say(batch, "sub-1", "TIMED-OUT")
    assert not Place.objects.claimable(timezone.now()).exists()
    assert own().timed_out_at is None


def test_a_time_out_lets_the_place_of_the_silent_go_and_tells_them(
    batch: Batch, client: Client
) -> None:
    silent_for(AT_WORK / timedelta(minutes=1) + 1)
    say(batch, "sub-1", "TIMED-OUT")
    page = displaced(batch, client)
    assert RAN_OUT in page
    assert AWAY not in page


def test_who_comes_back_in_time_keeps_the_place(batch: Batch, client: Client) -> None:
    silent_for(30)
    say(batch, "sub-1", "TIMED-OUT")
    came_back(batch, client)
    assert not Place.objects.claimable(timezone.now()).exists()
    assert own().timed_out_at is None


def test_who_was_away_is_told_so(batch: Batch, client: Client) -> None:
    silent_for(200)
    Place.objects.update(lease_until=timezone.now() - timedelta(minutes=1))
    assert AWAY in displaced(batch, client)


def test_who_went_on_after_a_time_out_and_then_was_away_is_told_so(
    batch: Batch, client: Client
) -> None:
    silent_for(30)
    say(batch, "sub-1", "TIMED-OUT")
    Assignment.objects.update(shown_at=timezone.now())
    Place.objects.update(lease_until=timezone.now() - timedelta(minutes=1))
    assert AWAY in displaced(batch, client)


def test_whose_place_a_researcher_released_is_told_so(batch: Batch, client: Client) -> None:
    release_place(own(), at=timezone.now())
    page = displaced(batch, client)
    assert "opened your place to others" in page
    assert AWAY not in page


# Who sees what of them


def test_the_person_s_page_tells_of_both_without_an_id(batch: Batch, client: Client) -> None:
    came_back(batch, client)
    say(batch, "sub-1", "TIMED-OUT")
    say(batch, SECOND, "ACTIVE")
    told = [what for _, what in events(own(), with_pay=False)]
    assert "came back by another submission" in told
    assert "on the platform: timed out (an earlier submission)" in told
    assert "on the platform: active" in told
    address = f"/research/studies/{batch.study.slug}/people/{own().pk}/"
    page = signed_in(make.member(batch.study, "editor")).get(address).content.decode()
    assert "came back by another submission" in page
    assert SECOND not in page


@pytest.mark.parametrize("role", ["owner", "editor"])
def test_an_owner_finds_the_work_by_any_of_them(batch: Batch, client: Client, role: str) -> None:
    came_back(batch, client)
    admin = signed_in(make.member(batch.study, role))
    for name in ("sub-1", SECOND):
        page = admin.get("/admin/annotation/assignment/", {"q": name}).content.decode()
        assert (own().annotator.pseudonym in page) == (role == "owner")
    page = admin.get(f"/admin/annotation/assignment/{own().pk}/change/").content.decode()
    assert (f"{SECOND}, sub-1" in page) == (role == "owner")

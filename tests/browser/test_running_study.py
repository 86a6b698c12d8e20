"""A researcher watches a running study and pays for it, on a phone and on a laptop."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Assignment, Batch, PaymentLine
from annotation.studies.lifecycle import close_study
from annotation.work.commenting import add_comment
from tests import make
from tests.browser.conftest import LAPTOP, NARROW, PHONE

pytestmark = pytest.mark.django_db(transaction=True)

TICK_MS = 11_000  # the overview asks again after ten seconds


@pytest.fixture
def desk(researcher: Page) -> Page:
    resize(researcher, PHONE)
    return researcher


def resize(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})


@pytest.fixture
def batch() -> Batch:
    make.channel("simulated")
    return make.running_batch(via="prolific", wanted=4, training=1, tests=3)


def address(live_server: LiveServer, batch: Batch, page: str) -> str:
    return f"{live_server.url}/research/studies/{batch.study.slug}/{page}"


def at_the_next_tick(page: Page) -> None:
    page.clock.run_for(TICK_MS)


# In pixels; the bar by which a window scrolls takes some of it.
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def fits(page: Page) -> bool:
    """Only what scrolls by itself is wider than the window, a laptop's and a phone's, on which it
    goes on."""
    for size in (LAPTOP, PHONE):
        resize(page, size)
        if page.evaluate(WIDER) > 0:
            return False
    return True


def test_sees_places_fill_without_reloading(
    desk: Page, live_server: LiveServer, batch: Batch
) -> None:
    desk.clock.install()
    desk.goto(address(live_server, batch, "watch/"))
    expect(desk.locator(".r-marks")).to_have_text("○○○○")
    assert fits(desk)
    make.worked_through(batch)
    make.joined(batch, at=timezone.now())
    at_the_next_tick(desk)
    expect(desk.locator(".r-marks")).to_have_text("●◐○○")
    Assignment.objects.open().get().batch.places.filter(kept=False).update(lease_until=make.NOON)
    at_the_next_tick(desk)
    expect(desk.locator(".r-marks")).to_have_text("●○○○")


def test_has_room_for_every_form_on_a_phone(
    desk: Page, live_server: LiveServer, batch: Batch
) -> None:
    adding = f"{live_server.url}/studies/{batch.study.slug}/comparison/systems/add/"
    for page in (adding, address(live_server, batch, "webhooks/")):
        desk.goto(page)
        expect(desk.locator("main form.panel")).to_have_count(1)
        assert fits(desk), page
        resize(desk, NARROW)
        assert desk.evaluate(WIDER) <= 0, page


def test_stops_asking_once_nothing_can_change(
    desk: Page, live_server: LiveServer, batch: Batch
) -> None:
    make.worked_through(batch)
    desk.clock.install()
    desk.goto(address(live_server, batch, "watch/"))
    close_study(batch.study, at=make.NOON)
    at_the_next_tick(desk)
    expect(desk.get_by_text("The study is closed: these figures stay.")).to_be_visible()
    expect(desk.locator("[hx-trigger]")).to_have_count(0)


def test_finds_a_person_and_releases_their_place(
    desk: Page, live_server: LiveServer, batch: Batch
) -> None:
    make.worked_through(batch)
    working = make.at_work(batch, at=timezone.now())
    add_comment(working, text="The text is cut off.", step=0, at=timezone.now())
    desk.goto(address(live_server, batch, "people/"))
    assert fits(desk)
    desk.get_by_label("Where they are").select_option("working")
    desk.get_by_role("button", name="Show").click()
    expect(desk.locator("#rows tbody tr")).to_have_count(1)
    expect(desk.locator("#rows").get_by_text("reported problems").first).to_be_visible()
    desk.get_by_role("link", name=working.annotator.pseudonym).click()
    expect(desk.get_by_text("The text is cut off.")).to_be_visible()
    assert fits(desk)
    desk.get_by_role("button", name="Release the place").click()
    expect(desk.get_by_role("status")).to_contain_text("The place is open")


def test_approves_looks_and_marks_as_sent(
    desk: Page, live_server: LiveServer, batch: Batch
) -> None:
    for _ in range(2):
        make.worked_through(batch)
    desk.goto(address(live_server, batch, "payments/"))
    assert fits(desk)
    desk.get_by_label("for completed work").fill("0.05")
    desk.get_by_label("for those screened out").fill("0")
    desk.get_by_role("button", name="Store").click()
    desk.get_by_role("button", name="Approve all 2 that wait").click()
    expect(desk.get_by_role("status")).to_contain_text("2 people are due is approved")
    desk.get_by_role("link", name="Send the open bonuses…").click()
    expect(desk.get_by_text("Nothing has been sent or written down yet.")).to_be_visible()
    assert fits(desk)
    with desk.expect_download() as download:
        desk.get_by_role("link", name="File of bonuses").click()
    lines = download.value.path().read_text().splitlines()
    assert len(lines) == 2
    desk.get_by_role("button", name="Mark these as sent").click()
    expect(desk.get_by_text("2 lines, ")).to_contain_text(", sent")
    sent = PaymentLine.objects.filter(purpose="bonus").values_list("amount", flat=True)
    assert sorted(line.split(",")[1] for line in lines) == sorted(map(str, sent))


def test_never_shows_a_stored_token(desk: Page, live_server: LiveServer, batch: Batch) -> None:
    desk.goto(address(live_server, batch, "prolific/"))
    assert fits(desk)
    desk.get_by_label("API token").fill("my-secret-token")
    desk.get_by_role("button", name="Store").click()
    expect(desk.get_by_text("A token is stored.")).to_be_visible()
    assert "my-secret-token" not in desk.content()
    assert fits(desk)

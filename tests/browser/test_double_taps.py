"""Two taps in quick succession: one act where they hit one place, two where they do not."""

from time import time

import pytest
from playwright.sync_api import expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Judgement, Kind
from tests import make
from tests.browser.conftest import PHONE, Comes
from tests.browser.finger import Finger, FingerPerson
from tests.browser.kept import KeptPages
from tests.browser.person import DOUBLE_CLICK_MS, Person

pytestmark = pytest.mark.django_db(transaction=True)

# A quick double tap, well within what the page takes for one.
# As in page.js.
UNREAD_MS = 800
SOON_S = 0.2
SEND = "[data-send]"
NONE = "[data-span-none]"


@pytest.fixture
def tapping(pages: KeptPages, live_server: LiveServer) -> FingerPerson:
    """At the only practice example of a batch."""
    page = pages.give(PHONE, has_touch=True, is_mobile=True)
    person = FingerPerson(page, live_server.url, 6)
    person.enter(make.running_batch(training=1, tests=3))
    person.answers_right()
    return person


def middle(person: Person, selector: str) -> tuple[float, float]:
    box = person.page.locator(selector).bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_start_the_test_right_after_that_page_came(tapping: FingerPerson) -> None:
    tapping.goes_on()
    # The answer was sent in this very place.
    tapping.page.wait_for_timeout(DOUBLE_CLICK_MS)
    first = time()
    tapping.finger.touch(*middle(tapping, SEND), at=first)
    tapping.page.wait_for_selector("[data-panel=practice-done]")
    tapping.touches(tapping.page.locator(SEND), at=first + SOON_S)
    expect(tapping.page.locator("[data-panel=answer]")).to_be_visible()
    assert tapping.step == 1


def test_do_not_skip_the_right_answer_where_the_second_hits_the_same_place(
    tapping: FingerPerson,
) -> None:
    first, place = time(), middle(tapping, SEND)
    tapping.finger.touch(*place, at=first)
    tapping.page.wait_for_selector("[data-panel=reveal]")
    x, y = middle(tapping, SEND)
    assert abs(x - place[0]) + abs(y - place[1]) < 4, "The button is meant to stay in its place."
    tapping.finger.touch(place[0] + 5, place[1] - 5, at=first + SOON_S)
    tapping.page.wait_for_timeout(500)
    assert tapping.panel == "reveal"
    # Nor does a refused tap keep the next one from counting.
    tapping.finger.touch(*place, at=first + 2 * SOON_S)
    expect(tapping.page.locator("[data-panel=practice-done]")).to_be_visible()


def test_do_not_answer_two_items_with_none(somebody: Comes) -> None:
    person = somebody(PHONE).start(make.running_batch(kind=Kind.SPANS, zero_shot=True))
    finger, first, place = Finger(person.page, 6), time(), middle(person, NONE)
    finger.touch(*place, at=first)
    expect(person.page.locator(f"{NONE}.is-asking")).to_be_visible()
    finger.touch(*place, at=first + SOON_S)
    finger.touch(*place, at=first + 2.5 * SOON_S)
    expect(person.page.locator("[name=step]")).to_have_value("1")
    finger.touch(*place, at=first + 3.5 * SOON_S)
    person.page.wait_for_timeout(500)
    assert (person.step, Judgement.objects.count()) == (1, 1)
    person.page.wait_for_timeout(UNREAD_MS)
    finger.touch(*middle(person, NONE), at=first + 10 * SOON_S)
    expect(person.page.locator("[name=step]")).to_have_value("2")


def test_do_not_send_none_for_a_text_that_nobody_can_have_read(somebody: Comes) -> None:
    """Who was taught to press twice does so once more."""
    person = somebody(PHONE).start(make.running_batch(kind=Kind.SPANS, zero_shot=True))
    person.page.locator(NONE).click()
    person.page.evaluate(
        "none => document.querySelector('[data-work]').addEventListener('answerplaced', () =>"
        " setTimeout(() => document.querySelector(none).click()), { once: true })",
        NONE,
    )
    person.page.wait_for_timeout(DOUBLE_CLICK_MS)
    person.page.locator(NONE).click()
    expect(person.page.locator("[name=step]")).to_have_value("1")
    expect(person.page.locator(f"{NONE}.is-asking")).to_be_visible()
    assert Judgement.objects.count() == 1


def test_choose_an_answer_that_stands_where_the_button_was(tapping: FingerPerson) -> None:
    for _ in range(2):
        tapping.goes_on()
        tapping.page.wait_for_timeout(DOUBLE_CLICK_MS)
    tapping.goes_on()
    tapping.answers_right()
    first, place = time(), middle(tapping, SEND)
    tapping.finger.touch(*place, at=first)
    expect(tapping.page.locator("[name=step]")).to_have_value("2")
    tapping.page.locator(".option").last.evaluate(
        "(option, [x, y]) => { option.closest('.options').style.zIndex = 9; option.style.cssText ="
        " `position: fixed; left: ${x - 60}px; top: ${y - 24}px; width: 120px`; }",
        place,
    )
    tapping.finger.touch(*place, at=first + SOON_S)
    expect(tapping.page.locator("[name=option]").last).to_be_checked()


def test_a_key_pressed_twice_sends_one_answer_alone(somebody: Comes) -> None:
    """By the page's own clock, which stands still here."""
    person = somebody()
    person.page.clock.install(time=0)
    person.start(make.running_batch(kind=Kind.CHOICE, training=1, tests=3))
    page, clock = person.page, person.page.clock
    clock.pause_at(60_000)
    page.keyboard.press("1")
    with page.expect_response("**/work/submit/"):
        page.keyboard.press("Enter")
    while not page.locator("[data-panel=reveal]").count():
        clock.run_for(20)
    clock.run_for(100)
    page.keyboard.press("Enter")
    clock.run_for(DOUBLE_CLICK_MS)
    expect(page.locator("[data-panel=reveal]")).to_be_visible()
    with page.expect_response("**/work/next/"):
        page.keyboard.press("Enter")
    while not page.locator("[data-panel=practice-done]").count():
        clock.run_for(20)
    assert Judgement.objects.count() == 1


def test_a_number_pressed_again_sends_like_a_second_tap(somebody: Comes) -> None:
    person = somebody().start(make.running_batch(kind=Kind.CHOICE, zero_shot=True))
    person.page.keyboard.press("2")
    person.page.wait_for_timeout(450)
    person.page.keyboard.press("2")
    expect(person.page.locator("[name=step]")).to_have_value("1")
    assert Judgement.objects.get().answer == ["good"]

"""The quick ways to send, a second tap on the chosen option and “None here and send”, lose and
double nothing: without a network, with an answer lost on its way, in two tabs, by going back."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from annotation.models import Judgement, Kind
from tests import make
from tests.browser.conftest import LAPTOP, PHONE, Comes
from tests.browser.person import DOUBLE_CLICK_MS, KEYBOARD, MOUSE, TOUCH, Person

pytestmark = pytest.mark.django_db(transaction=True)

SUBMIT = "**/work/submit/"
# Longer than what counts as a double tap, with room for a slow machine's clock.
APART_MS = DOUBLE_CLICK_MS + 150


def second_tap(person: Person) -> None:
    for _ in range(2):
        person.page.locator(".option").last.tap()
        person.page.wait_for_timeout(APART_MS)


def none_here(person: Person) -> None:
    """Which asks the first time."""
    none = person.page.locator("[data-span-none]")
    none.tap()
    person.page.wait_for_timeout(APART_MS)
    if person.page.locator("[data-span-none].is-asking").count():
        none.tap()


Quick = Callable[[Person], None]
ways = pytest.mark.parametrize(
    ("kind", "quick", "sent"),
    [(Kind.CHOICE, second_tap, ["good"]), (Kind.SPANS, none_here, [])],
    ids=["second tap", "none here"],
)


def at_work(somebody: Comes, kind: str) -> Person:
    return somebody(PHONE, touch=True).start(make.running_batch(kind=kind, zero_shot=True))


def answers() -> list[list[str]]:
    return [judgement.answer for judgement in Judgement.objects.order_by("step")]


def stands_at(person: Person, step: int) -> None:
    expect(person.page.locator("[name=step]")).to_have_value(str(step))


@ways
def test_wait_for_the_network(somebody: Comes, kind: str, quick: Quick, sent: list[str]) -> None:
    person = at_work(somebody, kind)
    person.page.context.set_offline(True)
    quick(person)
    expect(person.page.locator("[data-save-note]")).to_contain_text("Not saved yet")
    # Whatever is tapped meanwhile changes nothing.
    person.page.touchscreen.tap(195, 700)
    assert answers() == []
    person.page.context.set_offline(False)
    stands_at(person, 1)
    assert answers() == [sent]


@ways
def test_store_once_what_arrived_without_its_answer(
    somebody: Comes, kind: str, quick: Quick, sent: list[str]
) -> None:
    person, posted = at_work(somebody, kind), []

    def lose_the_first(route: Route) -> None:
        posted.append(route.request.post_data)
        if len(posted) > 1:
            route.fallback()
            return
        route.fetch()
        route.abort("connectionreset")

    person.page.route(SUBMIT, lose_the_first)
    quick(person)
    stands_at(person, 1)
    assert len(posted) == 2
    assert answers() == [sent]


@ways
def test_count_once_in_two_tabs(somebody: Comes, kind: str, quick: Quick, sent: list[str]) -> None:
    person = at_work(somebody, kind)
    other = Person(person.page.context.new_page(), person.origin)
    other.open("/work/")
    for tab in (person, other):
        quick(tab)
        stands_at(tab, 1)
    assert answers() == [sent]


@ways
def test_leave_nothing_to_send_again_behind_the_button_back(
    somebody: Comes, kind: str, quick: Quick, sent: list[str]
) -> None:
    person = at_work(somebody, kind)
    quick(person)
    stands_at(person, 1)
    person.page.go_back()
    person.page.go_forward()
    stands_at(person, 1)
    assert answers() == [sent]
    quick(person)
    stands_at(person, 2)
    assert answers() == [sent, sent]


def test_moves_no_button_at_the_first_choice(person: Person) -> None:
    person.start(make.running_batch(kind=Kind.SPANS, zero_shot=True))
    undo = person.page.locator("[data-span-undo]")
    expect(undo).to_be_visible()
    before = undo.bounding_box()
    person.selects(0, 0, 4)
    expect(person.page.locator(".span-text")).to_have_count(1)
    assert undo.bounding_box() == before


@pytest.mark.parametrize("by", [MOUSE, KEYBOARD, TOUCH])
def test_none_here_is_an_answer_that_the_other_button_sends_too(somebody: Comes, by: str) -> None:
    batch = make.running_batch(kind=Kind.SPANS, zero_shot=True)
    person = somebody(PHONE if by == TOUCH else LAPTOP, touch=by == TOUCH).start(batch)
    person.presses_none(by)
    none = person.page.locator("[data-span-none].is-asking")
    expect(none).to_have_attribute("aria-pressed", "true")
    assert answers() == []
    # A reload keeps it, as every other answer.
    person.page.reload()
    expect(person.page.locator("[data-span-none]")).to_have_attribute("aria-pressed", "true")
    person.goes_on(by)
    assert answers() == [[]]


def test_none_here_by_the_key_is_sent_by_the_other_key_however_soon(somebody: Comes) -> None:
    person = somebody().start(make.running_batch(kind=Kind.SPANS, zero_shot=True))
    press = "key => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))"
    person.page.evaluate(f"() => ['0', 'Enter'].forEach({press})")
    stands_at(person, 1)
    assert answers() == [[]]


def test_asks_which_is_meant_where_words_are_sent_after_none_here(somebody: Comes) -> None:
    person = somebody().start(make.running_batch(kind=Kind.SPANS, zero_shot=True))
    person.selects(0, 0, 4)
    person.page.locator("[data-span-none]").click()
    person.page.wait_for_timeout(APART_MS)
    send = person.page.locator("[data-send]")
    send.click()
    expect(person.page.locator("[data-span-status]")).to_contain_text("You pressed “None here”")
    assert answers() == []
    person.page.wait_for_timeout(APART_MS)
    send.click()
    stands_at(person, 1)
    assert answers() == [["Anna"]]


def test_words_take_the_place_of_none_here(somebody: Comes) -> None:
    person = somebody().start(make.running_batch(kind=Kind.SPANS, zero_shot=True))
    person.presses_none()
    person.selects(0, 0, 4)
    expect(person.page.locator("[data-span-none]")).to_have_attribute("aria-pressed", "false")
    person.goes_on()
    assert answers() == [["Anna"]]

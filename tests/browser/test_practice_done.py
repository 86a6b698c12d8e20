"""The page between training and test, and instructions that stay at hand."""

import pytest
from playwright.sync_api import expect

from annotation.models import Kind
from tests import make
from tests.browser.conftest import PHONE, Comes
from tests.browser.person import KEYBOARD, MOUSE, Person
from tests.texts import LONG, Text, running_batch_of

pytestmark = pytest.mark.django_db(transaction=True)


def through_training(person: Person) -> Person:
    person.start(make.running_batch(training=1, tests=3))
    person.answers_right()
    person.goes_on()
    person.goes_on()
    return person


@pytest.mark.parametrize("by", [MOUSE, KEYBOARD])
def test_says_how_it_went_and_what_comes(person: Person, by: str) -> None:
    through_training(person)
    page = person.page.locator("[data-panel=practice-done]")
    for sentence in ("Your score: 100%", "3 items are left", "there is no feedback"):
        expect(page).to_contain_text(sentence)
    assert person.focused == "Practice is over."
    assert "3 items are left" in person.page.locator("#announcer").inner_text()
    person.goes_on(by)
    assert (person.panel, person.step) == ("answer", 1)


def test_is_there_after_a_reload_and_without_javascript(person: Person, somebody: Comes) -> None:
    through_training(person)
    plain = somebody(java_script_enabled=False)
    plain.open(person.page.locator(".resume").get_attribute("href") or "")
    expect(plain.page.get_by_text("Practice is over.")).to_be_visible()
    expect(plain.page.get_by_text("Instructions", exact=True)).to_be_visible()
    plain.page.get_by_role("button", name="Start the test").click()
    expect(plain.page.locator("h1")).to_have_text("Test 1 of 3")


def test_keeps_the_instructions_at_hand_and_closes_them_on_the_next_item(somebody: Comes) -> None:
    text = Text(LONG, gold=["Ulm"])
    batch = running_batch_of(Kind.SPANS, tests=[text, text], description="Read **this**.")
    person = somebody(PHONE).start(batch)
    person.page.evaluate("scrollTo(0, 400)")
    summary = person.page.get_by_text("Instructions")
    expect(summary).to_be_in_viewport()
    summary.click()
    expect(person.page.locator(".work-head strong")).to_have_text("this")
    person.answers([])
    person.goes_on()
    expect(person.page.locator(".work-head strong")).to_be_hidden()


def test_leaves_the_item_in_sight_under_long_instructions_on_a_phone(somebody: Comes) -> None:
    text = Text(LONG, gold=["Ulm"])
    batch = running_batch_of(Kind.SPANS, tests=[text], description="Read this.\n\n" * 60)
    page = somebody(PHONE).start(batch).page
    page.get_by_text("Instructions").click()
    head, bar = (page.locator(part).bounding_box() for part in (".work-head", ".send"))
    assert head
    assert bar
    assert bar["y"] - head["y"] - head["height"] > 150


def test_does_not_speak_of_an_item_where_there_is_none(person: Person) -> None:
    through_training(person)
    page = person.page
    page.get_by_role("link", name="Report a problem").click()
    expect(page.get_by_role("heading", level=2)).to_have_text(
        "Write to the people who run the study"
    )
    page.go_back()
    expect(page.get_by_role("link", name="Report a problem", exact=True)).to_be_visible()

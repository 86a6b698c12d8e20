"""Texts longer than the window, several questions about one text, and what is ready for the
keyboard when a page comes."""

from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.models import Batch, Judgement, Kind
from tests.browser.conftest import LAPTOP, PHONE, Comes
from tests.browser.person import Person
from tests.texts import Text, running_batch_of

pytestmark = pytest.mark.django_db(transaction=True)

LONG = "The ferry from Split to Vis takes two hours, and Marta Kovač steers it. " * 24 + "Novi Sad."
IN_SIGHT = """element => {
  const { top, bottom, left } = element.getBoundingClientRect();
  const bar = document.querySelector(".send").getBoundingClientRect().top;
  const head = document.querySelector(".work-head").getBoundingClientRect().bottom;
  return top >= head - 1 && bottom <= bar + 1 && left > 0;
}"""


def long_ones(kind: str) -> Batch:
    names: dict[str, Any] = {"candidates": ["Split", "Vis", "Marta Kovač", "Novi Sad"]}
    fields: dict[str, Any] = names if kind == Kind.CANDIDATE else {}
    gold = {Kind.CANDIDATE: "Vis", Kind.CHOICE: "good", Kind.TEXT: "two hours"}[Kind(kind)]
    texts = [
        Text(LONG, question=f"Which one is meant in question {n}?", gold=[gold], **fields)
        for n in range(4)
    ]
    return running_batch_of(kind, training=[], tests=texts)


def is_in_sight(person: Person, selector: str) -> bool:
    return bool(person.page.locator(selector).last.evaluate(IN_SIGHT))


@pytest.mark.parametrize(
    ("kind", "asked", "answered"),
    [
        (Kind.CANDIDATE, ".question", ".option"),
        (Kind.CHOICE, "legend", ".option"),
        (Kind.TEXT, ".question", "[name=text]"),
    ],
)
def test_have_question_and_answers_beside_them_on_a_laptop(
    somebody: Comes, kind: str, asked: str, answered: str
) -> None:
    person = somebody(LAPTOP).start(long_ones(kind))
    for place in (0, 250, 400):
        person.page.evaluate(f"scrollTo(0, {place})")
        assert is_in_sight(person, asked)
        assert is_in_sight(person, answered)
    text = person.page.locator(".context").bounding_box()
    question = person.page.locator(asked).bounding_box()
    assert text
    assert question
    assert text["x"] + text["width"] <= question["x"] + 30


def test_have_their_names_a_tap_away_on_a_phone(somebody: Comes) -> None:
    person = somebody(PHONE, touch=True).start(long_ones(Kind.CANDIDATE))
    person.page.evaluate("scrollTo(0, 150)")
    assert not is_in_sight(person, ".option")
    person.page.get_by_role("button", name="List of names").tap()
    assert is_in_sight(person, ".option")
    person.page.get_by_role("button", name="Back to the text").tap()
    assert person.page.evaluate("scrollY") == 150
    expect(person.page.get_by_role("button", name="List of names")).to_be_visible()


def test_stay_where_they_are_while_the_question_changes(somebody: Comes) -> None:
    person = somebody(LAPTOP).start(long_ones(Kind.CHOICE))
    expect(person.page.locator("legend.is-new")).to_have_count(0)
    person.page.evaluate("scrollTo(0, 300)")
    person.chooses(1)
    person.goes_on()
    expect(person.page.locator("legend.is-new")).to_have_count(1)
    assert person.page.evaluate("scrollY") == 300


def test_leave_a_field_ready_where_there_is_a_keyboard(somebody: Comes) -> None:
    batch = long_ones(Kind.TEXT)
    laptop, phone = somebody(LAPTOP), somebody(PHONE, touch=True)
    laptop.start(batch)
    expect(laptop.page.locator("[name=text]")).to_be_focused()
    # What is empty is not sent, and what is sent is sent once.
    laptop.page.keyboard.press("Enter")
    expect(laptop.page.locator("[data-form-error]")).to_be_visible()
    assert not Judgement.objects.exists()
    laptop.page.keyboard.type("two hours")
    laptop.page.keyboard.press("Enter")
    laptop.page.keyboard.press("Enter")
    expect(laptop.page.locator("[name=step]")).to_have_value("1")
    expect(laptop.page.locator("[name=text]")).to_be_focused()
    assert [judgement.answer for judgement in Judgement.objects.all()] == [["two hours"]]
    phone.start(batch)
    expect(phone.page.locator("[name=text]")).not_to_be_focused()


def test_go_on_from_the_instructions_by_enter(somebody: Comes) -> None:
    person = somebody(LAPTOP)
    person.join(long_ones(Kind.CHOICE))
    person.page.get_by_role("button", name="I agree").click()
    expect(person.page.get_by_role("button", name="Start")).to_be_visible()
    person.page.wait_for_load_state()
    person.page.keyboard.press("Enter")
    expect(person.page.locator("[data-panel=answer]")).to_be_visible()

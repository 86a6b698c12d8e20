"""Answers to choose from: all in sight, and sent by a second tap."""

from time import time

import pytest
from playwright.sync_api import expect

from annotation.models import Judgement, Kind
from tests import make
from tests.browser.conftest import PHONE, Comes
from tests.browser.finger import Finger
from tests.browser.person import Person
from tests.texts import LONG, Text, running_batch_of

pytestmark = pytest.mark.django_db(transaction=True)

STEP = "[name=step]"


FEW, MANY = ["good", "bad", "neither"], [f"{n} boats were late again" for n in "2345678"]


def at_choice(person: Person, context: str, options: list[str]) -> Person:
    tests = [Text(context, question="Does it follow?", gold=["0"], options=options)] * 2
    return person.start(running_batch_of(Kind.CHOICE, tests=tests))


@pytest.mark.parametrize("context", ["The ferry was late.", LONG * 2])
def test_stand_above_the_bar_where_they_are_few(somebody: Comes, context: str) -> None:
    person = at_choice(somebody(PHONE, touch=True), context, FEW)
    assert person.page.locator(".has-more-below").count() == 0
    for place in (0, 200):
        person.page.evaluate(f"scrollTo(0, {place})")
        box = person.page.locator(".option").last.bounding_box()
        bar = person.page.locator(".send").bounding_box()
        assert box
        assert bar
        assert box["y"] + box["height"] <= bar["y"] + 1


def test_hold_the_answer_back_until_the_last_was_in_sight(somebody: Comes) -> None:
    person = at_choice(somebody(PHONE, touch=True), LONG, MANY)
    expect(person.page.get_by_text("There are more answers below.")).to_be_visible()
    person.page.locator("[name=option]").first.evaluate("option => { option.checked = true; }")
    person.page.locator("[data-send]").click()
    expect(person.page.get_by_role("alert")).to_contain_text("look at all answers")
    expect(person.page.locator(".option").last).to_be_in_viewport(ratio=1)
    assert not Judgement.objects.exists()
    person.goes_on()
    assert Judgement.objects.count() == 1


def test_can_be_sent_where_the_last_is_taller_than_the_window(somebody: Comes) -> None:
    person = at_choice(somebody(PHONE, touch=True), LONG, MANY)
    tall = "option => { option.style.minHeight = '3000px'; }"
    person.page.locator(".option").last.evaluate(tall)
    person.page.locator("[name=option]").first.evaluate("option => { option.checked = true; }")
    person.page.locator("[data-send]").click()
    expect(person.page.get_by_role("alert")).to_contain_text("look at all answers")
    person.page.wait_for_timeout(400)
    person.page.locator("[data-send]").click()
    expect(person.page.locator(STEP)).to_have_value("1")


def test_send_by_a_second_tap_that_is_no_double_tap(somebody: Comes) -> None:
    person = at_choice(somebody(PHONE, touch=True), "The ferry was late.", FEW)
    finger, first = Finger(person.page, 6), time()
    box = person.page.locator(".option").nth(1).bounding_box()
    assert box
    place = box["x"] + 40, box["y"] + 20
    finger.touch(*place, at=first)
    expect(person.page.locator("[name=option]").nth(1)).to_be_checked()
    finger.touch(*place, at=first + 0.3)
    person.page.wait_for_timeout(300)
    assert not Judgement.objects.exists()
    finger.touch(*place, at=first + 1)
    expect(person.page.locator(STEP)).to_have_value("1")
    # A third one right behind chooses at most, and sends nothing.
    finger.touch(*place, at=first + 1.2)
    finger.touch(*place, at=first + 1.4)
    person.page.wait_for_timeout(300)
    assert [judgement.answer for judgement in Judgement.objects.all()] == [["1"]]


def test_send_nothing_by_a_first_tap_on_another(person: Person) -> None:
    person.start(make.running_batch(zero_shot=True))
    person.page.locator(".option").first.click()
    person.page.wait_for_timeout(450)
    person.page.locator(".option").last.click()
    assert person.is_chosen(1)
    person.page.wait_for_timeout(450)
    person.page.locator(".option").last.click()
    expect(person.page.locator(STEP)).to_have_value("1")
    assert Judgement.objects.get().answer == ["good"]


def test_tell_how_long_the_rest_takes_and_when_a_quarter_and_half_are_done(person: Person) -> None:
    person.start(make.running_batch(zero_shot=True, tests=24))
    rest = person.page.locator(".progress-bar")
    for done in range(10):
        assert "min left" not in rest.inner_text()
        assert ("a quarter · " in rest.inner_text()) == (done == 6)
        person.answers_right()
        person.goes_on()
    expect(rest).to_contain_text("about 1 min left")
    person.answers_right()
    person.goes_on()
    assert "halfway" not in rest.inner_text()
    person.answers_right()
    person.goes_on()
    expect(rest).to_contain_text("halfway · ")

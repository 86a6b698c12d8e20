"""Letters and pages at 200 % on a phone: nothing is cut off, and nothing scrolls sideways."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, CDPSession, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Kind
from tests.browser.conftest import PHONE
from tests.browser.person import DOUBLE_CLICK_MS, Person
from tests.texts import Text, running_batch_of

pytestmark = pytest.mark.django_db(transaction=True)

FERRY = "The ferry from Split to Vis is steered by Marta Kovač , of Dunav Line ."
NAMES = ["Split", "Vis", "Marta Kovač", "Dunav Line"]
GOLD = {
    Kind.CHOICE: "good",
    Kind.SPANS: "Marta Kovač",
    Kind.TEXT: "Marta Kovač",
    Kind.CANDIDATE: "Marta Kovač",
    Kind.NUMBER: "1,130 kilometres",
    Kind.LABELS: "good",
}
ARABIC = "تستغرق العبّارة من سبليت إلى فيس أكثر من ساعتين بقليل."
# Of the two the one with the longer words.
LANGUAGE = "de"
# A browser's usual letters are of 16 pixels.
LARGE_LETTERS = 32
HALF_A_PHONE: Any = {"width": PHONE[0] // 2, "height": PHONE[1] // 2}
ROOT = "parseFloat(getComputedStyle(document.documentElement).fontSize)"
# What is seen and reaches past the window, or is clipped without a way to scroll to it.
CUT = """() => {
  const width = document.documentElement.clientWidth, cut = [];
  for (const element of document.querySelectorAll("body *")) {
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest(".visually-hidden, .skip-link, .span-reading, dialog, svg")) continue;
    if (getComputedStyle(element.closest(".verdict-sum") || element).clipPath !== "none") continue;
    const { left, right } = element.getBoundingClientRect();
    const { display, overflowX } = getComputedStyle(element);
    // What is typed into a field can be longer than the field.
    const isClipped = display !== "inline" && overflowX !== "visible" && element.tagName !== "INPUT"
      && element.clientWidth && element.scrollWidth > element.clientWidth + 1;
    if (right > width + 1 || left < -1 || isClipped) cut.push(element.outerHTML.slice(0, 120));
  }
  const wide = document.documentElement.scrollWidth;
  return wide > width ? [...cut, `${wide} pixels of ${width}`] : cut;
}"""


def large(browser: Browser, origin: str) -> Person:
    """The whole page: half as many pixels of its own in each direction."""
    context = browser.new_context(
        viewport=HALF_A_PHONE,
        device_scale_factor=2,
        locale=LANGUAGE,
        reduced_motion="reduce",
    )
    return Person(context.new_page(), origin)


def cut_off(person: Person, letters: CDPSession) -> dict[str, list[str]]:
    """In the large page, and with the large letters alone, as a phone's settings have them."""
    cut = {"page": person.page.evaluate(CUT)}
    person.page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    letters.send("Page.setFontSizes", {"fontSizes": {"standard": LARGE_LETTERS}})
    assert person.page.evaluate(ROOT) == LARGE_LETTERS
    cut["letters"] = person.page.evaluate(CUT)
    letters.send("Page.setFontSizes", {"fontSizes": {"standard": LARGE_LETTERS // 2}})
    person.page.set_viewport_size(HALF_A_PHONE)
    return {where: found for where, found in cut.items() if found}


def states(person: Person, text: Text, kind: str, **task_fields: Any) -> Iterator[str]:
    """Through a batch of one example for practice and one for the test."""
    page = person.page
    consent = "We **store** little:\n\n- your answers\n- how long each took"
    study = {"consent_text": consent, "contact": "ask@example.org", "min_training_score": 1}
    person.join(running_batch_of(kind, training=[text], tests=[text], study=study, **task_fields))
    yield "consent"
    page.locator("[name=agree]").click()
    yield "description"
    page.locator("[data-panel=description] [type=submit]").click()
    page.wait_for_selector("[data-panel=answer]")
    person.sends()
    expect(page.get_by_role("alert")).to_be_visible()
    yield "error"
    person.answers(text.gold)
    if kind == Kind.SPANS:
        page.locator("[data-span-exact]").click()
    yield "answered"
    person.goes_on()
    yield "reveal"
    page.locator(".work-head summary").click()
    yield "instructions"
    page.locator(".work-head summary").click()
    person.goes_on()
    assert person.panel == "practice-done"
    yield "practice done"
    page.locator("form[action*=device] button").click()
    yield "another device"
    person.open("/work/comment/")
    yield "comment"
    person.open("/work/withdraw/")
    yield "stop"
    person.open("/work/")
    person.goes_on()
    # In such a small window an option may stand where the button was that was clicked just now.
    page.wait_for_timeout(DOUBLE_CLICK_MS)
    person.answers(text.gold)
    person.goes_on()
    assert person.panel == "finished"
    yield "end"


@pytest.mark.parametrize("kind", [*Kind.values, "right to left"])
def test_cuts_nothing_off(browser: Browser, live_server: LiveServer, kind: str) -> None:
    person = large(browser, live_server.url)
    letters = person.page.context.new_cdp_session(person.page)
    letters.send("Page.enable")
    if kind == "right to left":
        walk = states(
            person, Text(ARABIC, question="أين؟", gold=["سبليت"]), Kind.SPANS,
            direction="rtl", language="ar",
        )  # fmt: skip
    else:
        text = Text(FERRY, question="Who is it?", gold=[GOLD[Kind(kind)]], candidates=NAMES)
        walk = states(person, text, kind)
    cut = {state: found for state in walk if (found := cut_off(person, letters))}
    assert cut == {}
    assert person.problems == []
    person.page.context.close()


@pytest.mark.parametrize("kind", [Kind.SPANS, Kind.CANDIDATE])
def test_shows_the_whole_question_where_it_scrolls_with_the_text(
    browser: Browser, live_server: LiveServer, kind: str
) -> None:
    asked = "How many of the caves above the village were closed when the road was built?"
    text = Text(FERRY, question=asked, gold=["Marta Kovač"], candidates=NAMES)
    person = large(browser, live_server.url)
    person.join(running_batch_of(kind, tests=[text]))
    person.page.locator("[name=agree]").click()
    person.page.locator("[data-panel=description] [type=submit]").click()
    person.page.wait_for_selector("[data-panel=answer]")
    question = person.page.locator(".question-top")
    shown, whole = question.evaluate(
        "({ clientHeight, scrollHeight }) => [clientHeight, scrollHeight]"
    )
    assert shown == whole
    person.page.context.close()

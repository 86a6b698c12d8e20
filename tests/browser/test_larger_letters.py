"""Larger letters on phones: the text that is read keeps its room, for every kind of answer."""

from itertools import product

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Kind
from tests.browser.person import Person
from tests.browser.test_twice_the_size import CUT
from tests.texts import Text, running_batch_of

pytestmark = pytest.mark.django_db(transaction=True)

PHONES = [(360, 740), (390, 844), (430, 932)]
# A browser's usual letters are of 16 pixels.
LETTERS = [16, 20, 24, 28, 32]
LEAST_ROOM = 0.4
FERRY = "The ferry from Split to Vis is steered by Marta Kovač , of Dunav Line . " * 3
ASKED = "Which of the people are named in the text that you just read?"
NAMES = ["Split", "Vis", "Marta Kovač", "Dunav Line"]
# The share of the window that what stays in sight leaves to the text.
ROOM = """() => {
  const stays = [...document.querySelectorAll(".work-head, .question-top, .send")].filter((el) =>
    el.checkVisibility() && getComputedStyle(el).position === "sticky");
  return 1 - stays.reduce((sum, el) => sum + el.offsetHeight, 0) / innerHeight;
}"""
# Words that no line is too short for, and that are broken all the same.
BROKEN = """() => {
  const range = document.createRange(), broken = [];
  const walker = document.createTreeWalker(document.getElementById("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!parent.checkVisibility() || parent.closest(".visually-hidden, .span-reading")) continue;
    if (getComputedStyle(parent.closest(".verdict-sum") || parent).clipPath !== "none") continue;
    for (const { index, 0: word } of node.data.matchAll(/\\p{L}{2,11}/gu)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      if (lines.size > 1) broken.push(word);
    }
  }
  return broken;
}"""
# At one go: they are asked sixty times.
ALL = f"[({ROOM})(), ({BROKEN})(), ({CUT})()]"

GOLD = {Kind.CHOICE: "good", Kind.NUMBER: "1,130 kilometres", Kind.LABELS: "good"}


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("kind", Kind.values)
def test_leave_the_text_its_room(
    browser: Browser, live_server: LiveServer, kind: str, language: str
) -> None:
    context = browser.new_context(
        locale=language, reduced_motion="reduce", has_touch=True, is_mobile=True
    )
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Page.enable")
    gold = GOLD.get(Kind(kind), "Marta Kovač")
    text = Text(FERRY, question=ASKED, gold=[gold], candidates=NAMES)
    person = Person(page, live_server.url).start(running_batch_of(kind, training=[text]))
    faults = []

    def look(state: str) -> None:
        for (width, height), letters in product(PHONES, LETTERS):
            page.set_viewport_size({"width": width, "height": height})
            session.send("Page.setFontSizes", {"fontSizes": {"standard": letters}})
            room, broken, cut = page.evaluate(ALL)
            if room < LEAST_ROOM or broken or cut:
                faults.append((state, width, letters, room, broken, cut))
        session.send("Page.setFontSizes", {"fontSizes": {"standard": LETTERS[0]}})

    look("asked")
    person.sends()
    expect(page.get_by_role("alert")).to_be_visible()
    look("error")
    person.answers(text.gold)
    look("answered")
    person.goes_on()
    look("reveal")
    assert faults == []
    context.close()

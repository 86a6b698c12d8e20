"""Choosing spans with a finger: real touch events with a radius, whose tap the browser may give to
a neighbour of the word that was touched."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.finger import Finger
from tests.browser.picker import EXACT, NONE, UNDO, Picker, open_in

CONLL = (
    "SOCCER - JAPAN GET LUCKY WIN , CHINA IN SURPRISE DEFEAT . The U.N. and the University "
    "Athletic Association ( UAA ) met AMR Corp. in Al-Ain , 3-0 , at 1996-12-06 ; NBA to Rome ."
)
TEXTS = {
    "English": (CONLL, "ltr"),
    "Chinese": (
        "日本队在亚洲杯小组赛中以二比一险胜叙利亚队，中国队意外输给乌兹别克斯坦队。",
        "ltr",
    ),
    "Arabic": (
        "فاز المنتخب الياباني على سوريا بهدفين لهدف ، وخسرت الصين أمام أوزبكستان في العين .",
        "rtl",
    ),
    "Thai": ("ทีมชาติญี่ปุ่น ชนะ ซีเรีย สองต่อหนึ่ง ในการแข่งขัน ที่ อัลไอน์", "ltr"),
    "emoji and marks": ("Zoe\u0308 👩‍👩‍👧 e\u0301te\u0301 🇩🇪 (ok) a-b “q” x", "ltr"),
}
RADII = [6, 14]


@pytest.fixture
def phone(new_context: Callable[..., Any]) -> Page:
    options = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    return new_context(**options).new_page()


def boxes(picker: Picker) -> list[dict[str, Any]]:
    """Where the words are now: each line box of a word, in pixels of the window."""
    return picker.page.evaluate(
        """[...document.querySelectorAll('.span-word')].map((el) => ({
            token: [el.token.start, el.token.end],
            lines: [...el.getClientRects()].filter(({ width }) => width)
                .map(({ x, y, width, height }) => [x, y, width, height]),
        }))"""
    )


def within(rng: Random, box: dict[str, Any]) -> tuple[float, float]:
    """A point in a word: a pixel away from the edge, where a pixel is the neighbour's too."""
    x, y, width, height = rng.choice(box["lines"])
    edge = min(1, width / 2)
    return rng.uniform(x + edge, x + width - edge), y + height * rng.uniform(0.2, 0.8)


NOTHING_CHOSEN = """document.querySelector("[data-span-picker]").dispatchEvent(
    new CustomEvent("answerrestore", { detail: { spans: [], none: false } }))"""


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("exact", [False, True], ids=["words", "characters"])
@pytest.mark.parametrize("name", TEXTS)
def test_takes_the_words_that_the_finger_touched(
    phone: Page, name: str, exact: bool, radius: float
) -> None:
    text, direction = TEXTS[name]
    picker = open_in(phone, text, direction=direction, most="1")
    if exact:
        picker.page.locator(EXACT).tap()
    finger, rng = Finger(phone, radius), Random(radius)
    wrong = []
    for _ in range(25):
        picker.page.evaluate(NOTHING_CHOSEN)
        words = boxes(picker)
        first, last = rng.sample(words, 2)
        if not text[slice(*first["token"])].strip():
            continue  # nobody can choose a space alone
        finger.touch(*within(rng, first))
        # The first tap may have moved nothing, but the list beneath may grow with an answer.
        finger.touch(*within(rng, boxes(picker)[words.index(last)]))
        start = min(first["token"][0], last["token"][0])
        end = max(first["token"][1], last["token"][1])
        if picker.spans != [[0, start, end]]:
            wrong.append((text[start:end], picker.texts))
    assert not wrong, wrong


@pytest.mark.parametrize("radius", RADII)
def test_leaves_the_controls_to_a_finger_on_them(phone: Page, radius: float) -> None:
    picker = open_in(phone)
    finger = Finger(phone, radius)

    def touch(selector: str) -> None:
        box = picker.page.locator(selector).bounding_box()
        assert box
        finger.touch(box["x"] + box["width"] / 2, box["y"] + 3)

    picker.word("Real").tap()
    touch(UNDO)
    assert picker.texts == []
    touch(NONE)
    assert picker.none == "1"


NUDGE = "[data-span-nudge] button"


def test_corrects_the_last_tap_by_a_tap(phone: Page) -> None:
    picker = open_in(phone)
    earlier, later = (picker.page.locator(NUDGE).nth(n) for n in (0, 1))
    assert not earlier.is_visible()
    picker.word("Real").tap()
    later.tap()
    assert picker.texts == ["Real Madrid"]
    earlier.tap()
    assert picker.texts == ["Real"]
    picker.page.locator(UNDO).tap()
    assert picker.texts == ["Real Madrid"]
    assert not later.is_visible()

"""Scripts without spaces: their words come from the browser, and touching taps add to a phrase."""

import pytest
from playwright.sync_api import Page

from tests.browser.picker import EXACT, Picker, open_in

APART = "[data-act='apart']"
TEXTS = {
    "zh": "昨天下午的大雨让通往乌兹别克斯坦边境的公路关闭了三个小时，2024年6月。",
    "ja": "彼は東京大学で学び、カーテンの向こうで田中さんに会った。",
    "th": "ครูเดินทางไปเชียงใหม่กับนักเรียน",
    "km": "ខ្ញុំស្រឡាញ់ភាសាខ្មែរ",
}
# As a browser has it that cannot find words.
WITHOUT = "delete Intl.Segmenter"
WORDS = """() => [...document.querySelectorAll(".span-word")].map((el) => el.textContent)"""
SEGMENTED = """([lang, text]) => {
  const parts = new Intl.Segmenter(lang, { granularity: "word" }).segment(text);
  return [...parts].map(({ segment }) => segment);
}"""


def words(picker: Picker) -> list[str]:
    return picker.page.evaluate(WORDS)


@pytest.mark.parametrize("lang", TEXTS)
def test_takes_the_words_that_the_browser_finds(page: Page, lang: str) -> None:
    text = TEXTS[lang]
    picker = open_in(page, text, lang=lang)
    assert words(picker) == page.evaluate(SEGMENTED, [lang, text])
    assert len(words(picker)) < len(text) * 0.8
    assert not picker.problems


def test_taps_that_touch_make_one_phrase(page: Page) -> None:
    picker = open_in(page, TEXTS["zh"], lang="zh")
    parts = words(picker)
    first = next(n for n, word in enumerate(parts) if word.startswith("乌"))
    last = next(n for n, word in enumerate(parts) if word.endswith("坦"))
    assert last > first
    for place in range(first, last + 1):
        page.locator(".span-word").nth(place).click()
    assert picker.texts == ["乌兹别克斯坦"]
    assert "Chosen: 乌兹别克斯坦" in picker.status


@pytest.mark.parametrize("text", [TEXTS["zh"], "Real Madrid beat Barcelona."])
def test_two_phrases_that_touch_are_kept_apart(page: Page, text: str) -> None:
    picker = open_in(page, text, lang="zh")
    one, two, three = words(picker)[:3]
    picker.tap(one)
    picker.page.locator(APART).click()
    assert "starts another phrase" in picker.status
    assert not picker.page.locator(APART).is_visible()
    picker.tap(two, three)
    assert [picker.texts[0], len(picker.texts)] == [one, 2]
    assert picker.texts[1].startswith(two)
    assert picker.texts[1].endswith(three)


def test_one_phrase_alone_needs_nothing_apart(page: Page) -> None:
    picker = open_in(page, TEXTS["zh"], lang="zh", most="1")
    picker.tap(words(picker)[0])
    assert not picker.page.locator(APART).is_visible()


def test_without_words_characters_are_taken_from_the_first_to_the_last(page: Page) -> None:
    page.add_init_script(WITHOUT)
    picker = open_in(page, TEXTS["zh"], lang="zh")
    assert words(picker)[:4] == ["昨", "天", "下", "午"]
    picker.tap("乌", "坦", "边")
    assert picker.texts == ["乌兹别克斯坦", "边"]


def test_a_character_is_chosen_exactly(page: Page) -> None:
    picker = open_in(page, TEXTS["zh"], lang="zh")
    picker.page.locator(EXACT).click()
    picker.tap("乌", "克")
    assert picker.texts == ["乌兹别克"]


def test_a_key_jumps_to_the_next_clause_and_over_words_of_single_characters(page: Page) -> None:
    picker = open_in(page, TEXTS["ja"], "Next text.", lang="ja")
    page.locator(".span-word[tabindex]").focus()
    picker.press("Control+ArrowRight")
    assert picker.focused == "カーテン"
    picker.press("Control+ArrowLeft")
    assert picker.focused == "彼"
    picker.press("Control+ArrowRight", "Control+ArrowRight", "Control+ArrowRight")
    assert picker.focused == "Next"
    picker.press("Control+ArrowLeft")
    picker.page.locator(EXACT).click()
    page.locator(".span-word[tabindex]").focus()
    starts = []
    for _ in range(4):
        starts.append(page.evaluate("document.activeElement.token.start"))
        picker.press("Control+ArrowRight")
    parts = page.evaluate(SEGMENTED, ["ja", TEXTS["ja"]])
    assert starts == [sum(map(len, parts[:n])) for n in range(4)]


def test_a_text_with_spaces_is_cut_as_the_server_says(page: Page) -> None:
    picker = open_in(page, "AT&T met O'Brien 東京.", lang="en")
    assert words(picker) == ["AT&T", "met", "O'Brien", "東京", "."]

"""Choosing spans in a real Chromium: by mouse, touch and keyboard."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.picker import EXACT, NONE, TEXT, UNDO, Picker, open_in

Opened = Callable[..., Picker]


@pytest.fixture
def open_picker(page: Page) -> Opened:
    return partial(open_in, page)


# ---- Taps


def test_takes_a_word_by_one_tap_and_adds_the_one_beside_it(open_picker: Opened) -> None:
    picker = open_picker()
    picker.tap("Real")
    assert picker.status == "Chosen: Real."
    assert picker.texts == picker.listed == ["Real"]
    picker.tap("Madrid")
    assert picker.texts == picker.listed == ["Real Madrid"]
    assert picker.marked("chosen") == "Real Madrid"
    picker.tap("He")
    assert picker.texts == ["Real Madrid", "He"]
    assert picker.told[-1] == {"spans": picker.spans, "none": False, "complete": True}
    assert picker.problems == []


def test_takes_a_phrase_back_by_a_tap_inside(open_picker: Opened) -> None:
    picker = open_picker()
    picker.tap("Real", "Madrid", "He", "Real")
    assert picker.texts == ["He"]
    assert picker.status == "Removed: Real Madrid."
    picker.page.click(UNDO)
    assert picker.texts == ["Real Madrid", "He"]


def test_counts_a_double_click_as_one_tap(open_picker: Opened) -> None:
    picker = open_picker()
    picker.word("Belgrade").dblclick()
    assert picker.texts == ["Belgrade"]


@pytest.mark.parametrize(
    ("text", "words", "taken"),
    [
        ("In Bre - X gold", ["Bre", "X"], ["Bre - X"]),
        ("In Bre - X gold", ["X", "Bre"], ["Bre - X"]),
        ("Dallas-Fort Worth", ["Dallas", "Fort", "Worth"], ["Dallas-Fort Worth"]),
        ("b M . Waugh c S", ["M", "Waugh"], ["M . Waugh"]),
        ("in Rome . Paris", ["Rome", "Paris"], ["Rome", "Paris"]),
        ("Ann, Bo and Cy", ["Ann", "Bo", "Cy"], ["Ann", "Bo", "Cy"]),
        ("New York and", ["York", "New"], ["New York"]),
        # Between two phrases a word goes to the one that was changed last.
        ("Ann Bo Cy", ["Ann", "Cy", "Bo"], ["Ann", "Bo Cy"]),
    ],
)
def test_adds_what_stands_beside_a_phrase(
    open_picker: Opened, text: str, words: list[str], taken: list[str]
) -> None:
    picker = open_picker(text)
    picker.tap(*words)
    assert picker.texts == taken


def test_keeps_phrases_apart_whose_end_was_moved_or_that_were_dragged(open_picker: Opened) -> None:
    picker = open_picker("Rome Paris Bonn Oslo")
    picker.tap("Rome", "Paris")
    picker.page.get_by_role("button", name="End one word earlier").click()
    picker.tap("Paris")
    assert picker.texts == ["Rome", "Paris"]
    picker.drag("Bonn", "Bonn")
    picker.tap("Oslo")
    assert picker.texts == ["Rome", "Paris", "Bonn", "Oslo"]


def test_moves_the_end_that_was_set_last(open_picker: Opened) -> None:
    picker = open_picker("one two three four five")
    earlier = picker.page.get_by_role("button", name="End one word earlier")
    later = picker.page.get_by_role("button", name="End one word later")
    picker.tap("three")
    later.click()
    assert picker.texts == ["three four"]
    earlier.click()
    earlier.click()
    assert picker.texts == ["two three"]
    earlier.click()
    earlier.click()
    assert picker.texts == ["one two three"]


def test_takes_punctuation_that_was_tapped_itself(open_picker: Opened) -> None:
    picker = open_picker()
    picker.tap("(", "UAA", ")")
    picker.tap("Barcelona", ".")
    assert picker.texts == ["(UAA)", "Barcelona."]


def test_takes_the_nearest_word_where_a_tap_falls_into_a_gap(open_picker: Opened) -> None:
    picker = open_picker()
    box = picker.word("left").bounding_box()
    assert box
    picker.page.mouse.click(box["x"] - 1, box["y"] + 4)
    assert picker.texts == ["left"]


def test_chooses_by_touch_without_hindering_the_scrolling(new_context: Callable[..., Any]) -> None:
    context = new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    picker = open_in(context.new_page())
    picker.word("Real").tap()
    picker.word("Madrid").tap()
    picker.word("He").tap()
    assert picker.texts == ["Real Madrid", "He"]
    touch_action = "el => getComputedStyle(el).touchAction"
    assert picker.page.locator("[data-segment]").evaluate(touch_action) == "manipulation"


# ---- Drags


def test_snaps_a_drag_to_whole_words_and_shows_it_before_the_button_is_up(
    open_picker: Opened,
) -> None:
    picker = open_picker()
    picker.hold("Belgrade", ",")
    assert picker.marked("preview") == "Belgrade"
    assert picker.spans == []
    picker.page.mouse.up()
    assert picker.texts == ["Belgrade"]
    assert picker.marked("preview") == ""


@pytest.mark.parametrize(
    ("first", "last", "taken"),
    [
        ("of", "U.N.", "of the U.N."),
        ("Belgrade", "Real", "Belgrade, then left Real"),
        ("Real", "then", "then left Real"),
        ("Barcelona", ".", "Barcelona"),
        ("(", ")", "(UAA)"),
        ("(", "UAA", "UAA"),
        ("met", "Li", 'met "Ana Li"'),
        ("Madrid", "Madrid", "Madrid"),
        (",", ",", ","),
    ],
)
def test_takes_by_a_drag(open_picker: Opened, first: str, last: str, taken: str) -> None:
    picker = open_picker()
    picker.drag(first, last)
    assert picker.texts == [taken]


def test_does_not_count_the_end_of_a_drag_as_a_tap(open_picker: Opened) -> None:
    picker = open_picker()
    picker.drag("He", "met")
    assert picker.texts == ["He met"]
    picker.tap("Belgrade")
    assert picker.texts == ["He met", "Belgrade"]


def test_scrolls_while_a_drag_is_held_at_the_edge(open_picker: Opened) -> None:
    picker = open_picker("word " * 2000)
    picker.page.locator(".span-word").first.scroll_into_view_if_needed()
    box = picker.page.locator(".span-word").first.bounding_box()
    assert box
    picker.page.mouse.move(box["x"] + 2, box["y"] + 4)
    picker.page.mouse.down()
    picker.page.mouse.move(200, picker.page.viewport_size["height"] - 5, steps=3)
    picker.page.evaluate(
        """new Promise((done) => {
            const timer = setInterval(() => {
                if (scrollY < 200) return;
                clearInterval(timer);
                done();
            }, 20);
        })"""
    )
    picker.page.mouse.up()
    assert len(picker.texts[0]) > 1000


# ---- The keyboard alone


def test_chooses_by_keyboard_alone(open_picker: Opened) -> None:
    picker = open_picker()
    picker.press("Tab")
    assert picker.focused == "He"
    picker.press("ArrowRight", "ArrowRight", "ArrowRight", "Enter", "ArrowRight", "Enter")
    assert picker.texts == ["Ana Li"]
    assert "Ana Li" in picker.status
    picker.press("Home", "Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowLeft")
    assert picker.texts == ["Ana Li", "He met"]
    picker.press("End", "ArrowLeft", "Space")
    assert picker.texts[2:] == ["Barcelona"]
    picker.press("Enter")
    assert picker.texts == ["Ana Li", "He met"]


@pytest.mark.parametrize(
    ("keys", "taken"),
    [
        (["Enter", "Shift+ArrowRight", "Shift+ArrowRight"], ["Madrid beat Celta"]),
        (["Enter", "ArrowRight", "Enter", "Shift+ArrowRight"], ["Madrid beat Celta"]),
        (["Enter", "Shift+ArrowLeft"], ["Real Madrid"]),
        (["Enter", "Shift+ArrowRight", "Shift+ArrowLeft", "Shift+ArrowRight"], ["Madrid beat"]),
        (["Enter", "Shift+ArrowRight", "ArrowLeft", "Shift+ArrowLeft"], ["Real Madrid beat"]),
    ],
)
def test_adds_words_by_shift_to_the_phrase_that_is_there(
    open_picker: Opened, keys: list[str], taken: list[str]
) -> None:
    picker = open_picker("Real Madrid beat Celta today")
    picker.press("Tab", "ArrowRight", *keys)
    assert picker.texts == picker.listed == taken


def test_lets_only_one_word_take_part_in_the_order_of_the_tab_key(open_picker: Opened) -> None:
    picker = open_picker(TEXT, "A second one.")
    picker.press("Tab", "End", "ArrowRight")
    assert picker.focused == "A"
    assert picker.page.locator(".span-word[tabindex]").all_inner_texts() == ["A"]
    assert picker.page.locator(".span-word[role=button]").all_inner_texts() == ["A"]
    picker.press("Tab")
    assert picker.focused == "Undo"
    picker.press("Shift+Tab")
    assert picker.focused == "A"
    picker.press("ArrowLeft")
    assert picker.focused == "."


def test_tells_whether_the_focused_word_is_chosen(open_picker: Opened) -> None:
    picker = open_picker()
    picker.press("Tab")
    pressed = picker.page.locator(".span-word[tabindex]")
    assert pressed.get_attribute("aria-pressed") == "false"
    picker.press("Enter")
    assert pressed.get_attribute("aria-pressed") == "true"
    picker.press("Control+z")
    assert pressed.get_attribute("aria-pressed") == "false"


def test_leaves_the_keys_of_the_browser_alone(open_picker: Opened) -> None:
    picker = open_picker()
    picker.press("Tab")
    picker.page.evaluate(
        "window.kept = []; addEventListener('keydown', (e) => kept.push(e.defaultPrevented))"
    )
    picker.press("Control+c", "Alt+ArrowLeft", "Control+Home", "Escape", "x", "Tab")
    kept = picker.page.evaluate("kept")
    assert len(kept) >= 6
    assert not any(kept)


def test_moves_by_lines(open_picker: Opened) -> None:
    picker = open_picker("alpha beta gamma " * 60)
    picker.press("Tab", "ArrowRight")
    before = picker.page.locator(":focus").bounding_box()
    picker.press("ArrowDown", "ArrowDown")
    after = picker.page.locator(":focus").bounding_box()
    assert before
    assert after
    assert after["y"] - before["y"] == pytest.approx(2 * 36, abs=2)
    assert abs(after["x"] - before["x"]) < 60
    picker.press("ArrowUp", "ArrowUp")
    assert picker.page.locator(":focus").bounding_box() == before


def test_stays_within_a_segment(open_picker: Opened) -> None:
    picker = open_picker("One two", "Three")
    picker.press("Tab", "End", "Enter", "Shift+ArrowRight")
    assert picker.focused == "Three"
    assert picker.spans == [[0, 4, 7]]
    picker.press("Enter")
    assert picker.spans == [[0, 4, 7], [1, 0, 5]]


def test_follows_the_direction_of_the_text(open_picker: Opened) -> None:
    picker = open_picker("التقى الرئيس في بلغراد، أمس.", direction="rtl")
    picker.press("Tab", "ArrowLeft", "Enter", "ArrowLeft", "Enter")
    assert picker.texts == ["الرئيس في"]
    picker.drag("بلغراد", "،")
    assert picker.texts[1] == "بلغراد"


# ---- The list, undo, none


def test_draws_the_edges_of_a_latin_name_around_it_in_arabic(open_picker: Opened) -> None:
    picker = open_picker("قال Tim Cook إن الشركة", direction="rtl")
    picker.tap("Tim", "Cook")
    assert picker.texts == ["Tim Cook"]
    edge = "(el) => parseFloat(getComputedStyle(el).boxShadow.match(/(-?[\\d.]+)px/)[1])"
    # The beginning has its edge to the left, the end to the right, as in a text from the left.
    assert picker.word("Tim").evaluate(edge) < 0 < picker.word("Cook").evaluate(edge)
    picker.tap("الشركة", "إن")
    assert picker.word("الشركة").evaluate(edge) < 0 < picker.word("إن").evaluate(edge)


def test_removes_a_span_and_keeps_the_focus_at_hand(open_picker: Opened) -> None:
    picker = open_picker()
    picker.tap("He", "U.N.", "Belgrade")
    picker.page.get_by_role("button", name="Remove: U.N.").press("Enter")
    assert picker.texts == ["He", "Belgrade"]
    assert picker.status == "Removed: U.N."
    focused = picker.page.locator(":focus")
    assert focused.get_attribute("aria-label") == "Remove: Belgrade"
    focused.press("Enter")
    picker.page.locator(":focus").press("Enter")
    assert picker.texts == []
    assert picker.focused == "Undo"
    assert picker.told[-1]["complete"] is False


def test_undoes_step_by_step(open_picker: Opened) -> None:
    picker = open_picker()
    picker.tap("He", "met", "Real")
    picker.page.get_by_role("button", name="Remove: He met").click()
    undone = []
    for _ in range(5):
        picker.page.click(UNDO)
        undone.append(picker.texts)
    assert undone == [["He met", "Real"], ["He met"], ["He"], [], []]
    assert picker.status == "There is nothing to undo."


def test_undoes_by_the_place_of_the_key_where_it_gives_no_latin_letter(
    open_picker: Opened,
) -> None:
    picker = open_picker()
    picker.tap("Real")
    key = {"key": "ئ", "code": "KeyZ", "ctrlKey": True, "bubbles": True, "cancelable": True}
    picker.word("Real").evaluate(
        "(el, key) => el.dispatchEvent(new KeyboardEvent('keydown', key))", key
    )
    assert picker.texts == []


def test_adds_the_missing_partner_by_one_press(open_picker: Opened) -> None:
    picker = open_picker()
    picker.tap("(", "UAA")
    assert picker.texts == ["(UAA"]
    picker.page.get_by_role("button", name=re.compile("^Add")).click()
    assert picker.texts == ["(UAA)"]
    assert picker.page.get_by_role("button", name=re.compile("^Add")).count() == 0


def test_sends_none_by_one_press(open_picker: Opened) -> None:
    picker = open_picker()
    sent = counts_sent(picker)
    picker.page.click(NONE)
    assert (picker.spans, picker.none, sent()) == ([], "1", 1)
    assert picker.told[-1] == {"spans": [], "none": True, "complete": True}


def test_asks_before_none_is_sent_if_somebody_wants_it(open_picker: Opened) -> None:
    picker = open_picker()
    sent = counts_sent(picker)
    picker.page.evaluate("addEventListener('nonechosen', (event) => event.preventDefault())")
    picker.page.click(NONE)
    assert picker.status.startswith("Press again to send")
    # It is chosen, and not sent: another button may send it.
    assert (picker.none, sent()) == ("1", 0)
    assert picker.told[-1] == {"spans": [], "none": True, "complete": True}
    expect(picker.page.locator(NONE)).to_have_class("is-asking")
    picker.page.click(NONE)
    assert (picker.none, sent()) == ("1", 1)
    expect(picker.page.locator(NONE)).not_to_have_class("is-asking")


def test_asks_again_before_none_removes_what_is_chosen(open_picker: Opened) -> None:
    picker = open_picker()
    sent = counts_sent(picker)
    picker.tap("He", "Real")
    picker.page.click(NONE)
    assert picker.status.startswith("Press again to remove what you chose")
    assert (len(picker.spans), picker.none, sent()) == (2, "", 0)
    picker.page.click(NONE)
    assert (picker.spans, picker.none, sent()) == ([], "1", 1)
    picker.page.click(UNDO)
    assert (picker.texts, picker.none) == (["He", "Real"], "")


def test_forgets_the_question_when_something_else_is_done(open_picker: Opened) -> None:
    picker = open_picker()
    picker.tap("He")
    picker.page.click(NONE)
    picker.tap("Real")
    picker.page.click(NONE)
    assert (picker.texts, picker.none) == (["He", "Real"], "")


def test_clears_none_when_a_span_is_chosen(open_picker: Opened) -> None:
    picker = open_picker(none="1")
    picker.tap("He")
    assert (picker.texts, picker.none) == (["He"], "")
    assert picker.page.locator(NONE).get_attribute("aria-pressed") == "false"


def counts_sent(picker: Picker) -> Callable[[], int]:
    """How often the form was sent; it goes nowhere."""
    picker.page.evaluate(
        """() => {
            window.sent = 0;
            document.querySelector("form").addEventListener("submit", (event) => {
                event.preventDefault();
                window.sent += 1;
            });
        }"""
    )
    return lambda: picker.page.evaluate("sent")


def test_sets_the_other_end_where_one_phrase_is_asked_for(open_picker: Opened) -> None:
    picker = open_picker(most="1")
    picker.tap("U.N.", "Belgrade")
    assert picker.texts == picker.listed == ["U.N. in Belgrade"]
    picker.tap("left")
    assert picker.texts == ["U.N. in Belgrade, then left"]
    picker.tap("He")
    assert picker.texts == ['He met "Ana Li" (UAA) of the U.N.']
    picker.tap("met")
    assert picker.texts == []
    picker.drag("Real", "Madrid")
    picker.tap("left")
    assert picker.texts == ["left"]
    assert picker.status.startswith("Chosen instead: left.")


def test_begins_another_phrase_far_from_the_one(open_picker: Opened) -> None:
    picker = open_picker("Anna came. " + "It rained. " * 40 + "Boris left.", most="1")
    picker.tap("Anna", "Boris")
    assert picker.texts == ["Boris"]
    assert picker.status.startswith("Chosen instead: Boris.")
    picker.tap("left")
    assert picker.texts == ["Boris left"]


def test_refuses_more_spans_than_are_allowed(open_picker: Opened) -> None:
    picker = open_picker(most="2")
    picker.tap("He", "Real", "U.N.")
    assert picker.texts == ["He", "Real"]
    assert picker.status == "You can choose 2. Remove one first."


def test_keeps_overlapping_spans_apart_and_equal_ones_once(open_picker: Opened) -> None:
    picker = open_picker()
    picker.drag("then", "Real")
    picker.drag("left", "Madrid")
    picker.drag("then", "Real")
    assert picker.texts == picker.listed == ["then left Real", "left Real Madrid"]
    assert picker.marked("chosen") == "then left Real Madrid"
    assert picker.status == "Already chosen: then left Real."
    assert (picker.marked("first"), picker.marked("last")) == ("thenleft", "RealMadrid")
    picker.page.get_by_role("button", name="Remove: then left Real").click()
    assert picker.marked("chosen") == "left Real Madrid"


def test_shows_which_place_an_entry_of_the_list_means(open_picker: Opened) -> None:
    picker = open_picker("Bo and Bo")
    picker.word("Bo", 1).click()
    picker.page.locator(".span-text").hover()
    assert picker.page.locator(".is-preview").evaluate("el => el.previousSibling !== null")
    picker.page.locator("h1").hover()
    assert picker.marked("preview") == ""


# ---- The exact way


def test_takes_parts_of_words_in_the_exact_way(open_picker: Opened) -> None:
    picker = open_picker("Leicestershire had 東京都.")
    picker.page.click(EXACT)
    letters = picker.page.locator(".span-word")
    letters.nth(0).click()
    letters.nth(8).click()
    assert picker.texts == ["Leicester"]
    picker.drag("東", "京")
    picker.page.click(EXACT)
    assert picker.texts == ["Leicester", "東京"]
    assert picker.marked("chosen") == "Leicester東京"
    picker.tap("had")
    assert picker.texts[2] == "had"


def test_moves_the_ends_of_a_span_by_characters(open_picker: Opened) -> None:
    picker = open_picker("a cafés 👩‍👧 x")
    picker.tap("cafés")
    picker.page.click(EXACT)

    def press(name: str) -> None:
        picker.page.get_by_role("button", name=name).press("Enter")

    press("End one character earlier")
    press("End one character earlier")
    assert picker.texts == ["caf"]
    assert picker.page.locator(":focus").get_attribute("aria-label") == (
        "End one character earlier: caf"
    )
    press("Start one character later")
    assert picker.texts == ["af"]
    for _ in range(9):
        press("End one character later")
    assert picker.texts == ["afés 👩‍👧 x"]
    for _ in range(9):
        press("Start one character later")
    assert picker.texts == ["x"]
    press("Start one character later")
    assert picker.texts == ["x"]


def test_lists_spans_in_the_order_of_the_text_with_the_focus_on_the_one_that_moves(
    open_picker: Opened,
) -> None:
    picker = open_picker("ab cd ef")
    for word in ["ef", "cd", "ab"]:
        picker.drag(word, word)
    assert picker.listed == ["ab", "cd", "ef"]
    assert picker.texts == ["ef", "cd", "ab"]
    picker.page.click(EXACT)
    picker.page.get_by_role("button", name="Start one character earlier: ef").press("Enter")
    picker.press(*["Enter"] * 4)
    assert picker.listed == ["ab", "b cd ef", "cd"]
    assert picker.page.locator(":focus").get_attribute("aria-label") == (
        "Start one character earlier: b cd ef"
    )
    picker.page.get_by_role("button", name="Remove: b cd ef").press("Enter")
    assert picker.texts == ["cd", "ab"]


def test_takes_exact_ranges_by_keyboard_and_refuses_mere_space(open_picker: Opened) -> None:
    picker = open_picker("ab cd")
    picker.page.click(EXACT)
    picker.press("Shift+Tab", "Shift+Tab")
    assert picker.focused == "a"
    picker.press("ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight")
    assert picker.texts == ["b c"]
    picker.page.click(UNDO)
    picker.page.click(UNDO)
    picker.tap(" ")
    assert picker.texts == []
    assert picker.status == "There is only space here."


# ---- What the page and the server see


def test_counts_code_points(open_picker: Opened) -> None:
    picker = open_picker("😀👍🏽 e\u0301a 🇩🇪 met\r\n<b>&amp; 漢字 𝒳y.")
    picker.tap("met", "𝒳y")
    picker.drag("🇩🇪", "🇩🇪")
    picker.tap("😀")
    assert picker.texts == ["met", "𝒳y", "🇩🇪", "😀"]
    assert picker.spans[0] == [0, 11, 14]


def test_restores_a_draft(open_picker: Opened) -> None:
    picker = open_picker(spans="[[0,0,2],[0,4,999],[3,0,1],[0,29,33]]")
    assert picker.spans == [[0, 0, 2], [0, 29, 33]]
    assert picker.listed == ["He", "U.N."]
    assert picker.told[-1]["complete"] is True


def test_says_nothing_before_there_is_an_answer(open_picker: Opened) -> None:
    picker = open_picker()
    picker.page.click(EXACT)
    assert picker.told == []


def test_restores_none(open_picker: Opened) -> None:
    picker = open_picker(none="1")
    assert picker.page.locator(NONE).get_attribute("aria-pressed") == "true"
    assert picker.told[-1] == {"spans": [], "none": True, "complete": True}


def test_restores_what_an_event_brings(open_picker: Opened) -> None:
    picker = open_picker()
    send = """detail => document.querySelector("[data-span-picker]")
        .dispatchEvent(new CustomEvent("answerrestore", {detail}))"""
    picker.page.evaluate(send, {"spans": [[0, 0, 6]], "none": False})
    assert picker.texts == picker.listed == ["He met"]
    picker.page.evaluate(send, {"spans": [], "none": True})
    assert (picker.spans, picker.none) == ([], "1")


def test_starts_once_and_starts_again_on_what_is_swapped_in(open_picker: Opened) -> None:
    picker = open_picker()
    picker.tap("He")
    load = "document.body.dispatchEvent(new CustomEvent('htmx:load', {bubbles: true}))"
    picker.page.evaluate(load)
    picker.tap("Real")
    assert picker.texts == ["He", "Real"]
    picker.page.evaluate(
        """() => {
            const form = document.querySelector("form");
            const fresh = new DOMParser().parseFromString(form.outerHTML, "text/html");
            const segment = fresh.querySelector("[data-segment]");
            segment.textContent = "New words here.";
            Object.assign(segment.dataset, { length: 15, tokens: "0 3 1 5 1 4 0 -1" });
            fresh.querySelector("[name=spans]").setAttribute("value", "[]");
            fresh.querySelector("[data-span-picker]").classList.remove("is-ready");
            form.replaceWith(fresh.querySelector("form"));
        }"""
    )
    picker.page.evaluate(load)
    picker.segments = ["New words here."]
    assert picker.spans == []
    picker.tap("words", "here")
    assert picker.texts == ["words here"]


def test_closes_the_plain_way_and_keeps_it_at_hand(open_picker: Opened) -> None:
    picker = open_picker()
    assert not picker.page.locator("textarea").is_visible()
    picker.page.get_by_text("Type it instead").click()
    assert picker.page.locator("textarea").is_visible()
    assert picker.page.locator("[type=checkbox]").count() == 0
    assert picker.page.locator("[data-segment]").get_attribute("translate") == "no"


def test_leaves_the_plain_way_where_there_are_no_scripts(new_context: Callable[..., Any]) -> None:
    picker = open_in(new_context(java_script_enabled=False).new_page())
    assert picker.page.locator("textarea").is_visible()
    assert not picker.page.locator("[data-span-bar]").is_visible()


def test_keeps_the_plain_way_where_the_text_was_changed_on_its_way(open_picker: Opened) -> None:
    picker = open_picker("He left.", length=9)
    assert picker.problems == ["Segment 0 shows 8 characters, not 9."]
    assert picker.page.locator("textarea").is_visible()
    assert not picker.page.locator("[data-span-bar]").is_visible()


def test_changes_only_the_words_that_a_drag_gains(open_picker: Opened) -> None:
    text = " ".join(f"w{i}" for i in range(3400))
    picker = open_picker(text)
    assert len(text) > 19_000
    picker.word("w1700").scroll_into_view_if_needed()
    picker.hold("w1700", "w1702")
    picker.page.evaluate(
        """() => {
            window.changes = 0;
            const count = (records) => { window.changes += records.length; };
            new MutationObserver(count).observe(document.querySelector("[data-segment]"),
                {attributes: true, childList: true, subtree: true, characterData: true});
        }"""
    )
    box = picker.word("w1706").bounding_box()
    assert box
    picker.page.mouse.move(box["x"] + 4, box["y"] + 4)
    picker.page.evaluate("new Promise(requestAnimationFrame)")
    assert picker.page.evaluate("changes") == 8  # four words and four gaps
    picker.page.mouse.up()
    assert picker.texts == ["w1700 w1701 w1702 w1703 w1704 w1705 w1706"]


# ---- What everybody can see and press


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_has_no_fault_that_axe_finds(new_context: Callable[..., Any], scheme: str) -> None:
    picker = open_in(new_context(color_scheme=scheme).new_page())
    picker.tap("Ana", "Li", "UAA", "Real", "Madrid", "left")
    picker.page.click(EXACT)
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
    options = {"runOnly": rules, "resultTypes": ["violations"]}
    assert Axe().run(picker.page, options=options).response["violations"] == []


@pytest.mark.parametrize("width", [320, 640, 1280])
def test_fits_its_width_with_targets_of_24_pixels(
    new_context: Callable[..., Any], width: int
) -> None:
    page = new_context(viewport={"width": width, "height": 700}).new_page()
    picker = open_in(page, TEXT + " Donaudampfschifffahrtsgesellschaft" * 3 + "x" * 90)
    picker.tap("He", "Belgrade")
    picker.page.click(EXACT)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for control in page.locator("[data-span-picker] :is(button, input:not([type=hidden]))").all():
        box = control.bounding_box()
        assert box
        assert min(box["width"], box["height"]) >= 24
    heights = page.locator(".span-word").evaluate_all(
        "els => els.map(el => el.getClientRects()[0].height)"
    )
    assert min(heights) >= 24


def test_marks_with_a_line_and_not_by_colour_alone(open_picker: Opened) -> None:
    picker = open_picker()
    line = """el => {
        const style = getComputedStyle(el);
        return `${style.textDecorationLine} ${style.textDecorationStyle}`;
    }"""
    assert picker.word("He").evaluate(line) == "none solid"
    picker.tap("He")
    assert picker.word("He").evaluate(line) == "underline solid"
    picker.hold("left", "left")
    assert picker.word("left").evaluate(line) == "underline dashed"

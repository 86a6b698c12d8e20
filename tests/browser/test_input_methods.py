"""Characters count once, however they come from a keyboard: by keys, by an input method, or by what
a phone's keyboard composes."""

from collections.abc import Sequence
from typing import Any

import pytest
from playwright.sync_api import CDPSession, expect

from annotation.models import Judgement, Kind
from tests import make
from tests.browser.conftest import Comes
from tests.browser.person import KEYBOARD, Person

pytestmark = pytest.mark.django_db(transaction=True)

FIELD = "[name=text]"
# Of a composition: what stands there after each key, and what is taken in the end.
COMPOSITIONS = {
    "Japanese": (["n", "に", "にh", "にほ", "にほn", "にほんg", "にほんご", "日本語"], "日本語"),
    "Chinese": (["b", "be", "bei", "bei j", "bei ji", "bei jing"], "北京"),
    "Korean": (["ㅎ", "하", "한"], "한"),
    "accent": (["´"], "é"),
    "two units of UTF-16": (["k", "ka"], "𠮷野家"),
}
# Events of browsers that cannot be driven here, for “に” out of “n”: each with its data and, where
# it is one of input, its type.
OTHERS = {
    # The last input comes behind the end.
    "Firefox": [
        ("compositionstart", "", None),
        ("compositionupdate", "n", None),
        ("input", "n", "insertCompositionText"),
        ("compositionupdate", "に", None),
        ("compositionend", "に", None),
        ("input", "に", "insertCompositionText"),
    ],
    # What was composed is removed, and put in again.
    "Safari": [
        ("compositionstart", "", None),
        ("compositionupdate", "n", None),
        ("input", "n", "insertCompositionText"),
        ("input", None, "deleteCompositionText"),
        ("input", "に", "insertFromComposition"),
        ("compositionend", "に", None),
    ],
}
DISPATCH = """(field, events) => {
    for (const [kind, data, inputType] of events) {
        const isInput = kind === "input";
        const made = isInput ? InputEvent : CompositionEvent;
        const isComposing = isInput && inputType === "insertCompositionText";
        field.dispatchEvent(new made(kind, { data, inputType, isComposing, bubbles: true }));
    }
}"""


class Writer:
    """Writes as an input method, or a keyboard of another layout, of the operating system does."""

    def __init__(self, person: Person) -> None:
        self.session: CDPSession = person.page.context.new_cdp_session(person.page)

    def key(self, key: str, text: str = "", code: int = 0) -> None:
        event: dict[str, Any] = {"key": key, "text": text, "windowsVirtualKeyCode": code}
        kind = "keyDown" if text else "rawKeyDown"
        self.session.send("Input.dispatchKeyEvent", {"type": kind, **event})
        self.session.send("Input.dispatchKeyEvent", {"type": "keyUp", **event, "text": ""})

    def shows(self, text: str) -> None:
        # The method takes the key for itself: 229 is all that the page hears of it.
        self.key("Process", code=229)
        place = {"selectionStart": len(text), "selectionEnd": len(text)}
        self.session.send("Input.imeSetComposition", {"text": text, **place})

    def takes(self, text: str) -> None:
        self.session.send("Input.insertText", {"text": text})

    def composes(self, stages: Sequence[str], taken: str) -> None:
        for stage in stages:
            self.shows(stage)
        self.takes(taken)


@pytest.fixture
def writing(somebody: Comes) -> Person:
    person = somebody().start(make.running_batch(kind=Kind.TEXT, zero_shot=True))
    person.page.locator(FIELD).focus()
    return person


def sent(person: Person) -> tuple[str, int | None]:
    """What arrived, and how much of it counts as typed."""
    person.goes_on(KEYBOARD)
    judgement = Judgement.objects.latest("step")
    return judgement.answer[0], judgement.typed


@pytest.mark.parametrize(("stages", "taken"), COMPOSITIONS.values(), ids=COMPOSITIONS)
def test_counts_what_was_composed_once(writing: Person, stages: Sequence[str], taken: str) -> None:
    writer = Writer(writing)
    for _ in range(3):
        writer.composes(stages, taken)
    assert sent(writing) == (3 * taken, 3 * len(taken))


@pytest.mark.parametrize("events", OTHERS.values(), ids=OTHERS)
def test_counts_it_once_in_browsers_that_tell_it_otherwise(
    writing: Person, events: Sequence[Sequence[str | None]]
) -> None:
    field = writing.page.locator(FIELD)
    field.evaluate(DISPATCH, events)
    field.evaluate(DISPATCH, events)
    field.evaluate("field => { field.value = 'にに'; }")
    assert sent(writing) == ("にに", 2)


def test_counts_beside_it_what_is_typed_by_keys(writing: Person) -> None:
    writing.page.keyboard.type("in ")
    Writer(writing).composes(*COMPOSITIONS["Japanese"])
    writing.page.keyboard.type(" or")
    assert sent(writing) == ("in 日本語 or", 9)


def test_counts_nothing_of_what_was_composed_and_given_up(writing: Person) -> None:
    writer = Writer(writing)
    writer.shows("にほんご")
    writer.shows("")
    writing.page.keyboard.type("no")
    assert sent(writing) == ("no", 2)


def test_counts_what_is_sent_before_it_is_taken(writing: Person) -> None:
    """A phone's keyboard composes every word, and sends with the last one still open."""
    writer = Writer(writing)
    writer.composes(["B", "Bo", "Bor", "Bori"], "Boris ")
    for stage in ("a", "an", "and"):
        writer.shows(stage)
    writing.page.evaluate("document.querySelector('[data-answer-form]').requestSubmit()")
    expect(writing.page.locator("[name=step]")).to_have_value("1")
    judgement = Judgement.objects.get()
    assert (judgement.answer, judgement.typed) == (["Boris and"], 9)


@pytest.mark.parametrize("word", ["مرحبا", "שלום", "Äpfel"])
def test_counts_the_keys_of_other_layouts(writing: Person, word: str) -> None:
    writer = Writer(writing)
    for letter in word:
        writer.key(letter, text=letter)
    assert sent(writing) == (word, len(word))


def test_counts_a_dead_key_with_its_letter_where_no_method_is_at_work(writing: Person) -> None:
    writer = Writer(writing)
    writer.key("Dead", code=222)
    writer.key("é", text="é", code=69)
    assert sent(writing) == ("é", 1)

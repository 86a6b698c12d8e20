"""A page that stays still: from one item of a task to the next, and when something is said."""

from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.models import Kind
from tests import make
from tests.browser.conftest import LAPTOP, PHONE, Comes
from tests.browser.person import Person
from tests.texts import LONG, Text, running_batch_of

pytestmark = pytest.mark.django_db(transaction=True)

SIZES = pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
FERRY = "The ferry to Vis is steered by Marta Kovač, of Dunav Line."
LONGER = f"{FERRY} {LONG}"
ASKED = "Which of the people named in the text that you just read has been to the island?"
PEOPLE = ["Vis", "Marta Kovač", "Dunav Line"]
LONG_OPTION = "Nobody has, since the boat did not leave that day"
# Of what is answered with and of the bar: place, size and letters.
BOXES = """() => [...document.querySelectorAll(
  ".item .option, .item [type=text], .item .check, .send, .send [data-send], .span-tools, .segment"
)].filter((el) => el.checkVisibility()).map((el) => {
  const { x, y, width, height } = el.getBoundingClientRect(), { fontSize } = getComputedStyle(el);
  // A text is as high as it is long, and begins below what is asked on a phone.
  const box = el.matches(".segment") ? [x, width] : [x, y, width, height];
  return [el.className || el.name, fontSize, ...box.map(Math.round)].join(" ");
})"""
TWO, THREE = ["Marta", "Nobody"], ["Marta", LONG_OPTION, "Ana"]
OF_KIND: dict[str, list[Text]] = {
    Kind.CHOICE: [Text(FERRY, "Who?", ["0"], options=TWO), Text(LONGER, ASKED, ["0"], options=TWO)],
    Kind.LABELS: [Text(FERRY, "Which fit?", ["good"]), Text(LONGER, ASKED, ["good"])],
    Kind.TEXT: [Text(FERRY, "Who?", ["Marta"]), Text(LONGER, ASKED, ["Marta"])],
    Kind.NUMBER: [Text(FERRY, "How many?", ["12"]), Text(LONGER, ASKED, ["12"])],
    Kind.SPANS: [Text(FERRY, "Who?", ["Marta"]), Text(LONGER, ASKED, ["Marta"])],
    # A list below a long text has another place on a phone.
    Kind.CANDIDATE: [
        Text(FERRY, "Who?", ["Vis"], candidates=PEOPLE),
        Text(f"{FERRY} {FERRY}", ASKED, ["Vis"], candidates=PEOPLE),
    ],
}


def boxes(person: Person) -> list[str]:
    found: list[str] = person.page.evaluate(BOXES)
    return found


@SIZES
@pytest.mark.parametrize("kind", OF_KIND)
def test_has_one_size_and_place_in_all_items(
    somebody: Comes, kind: str, size: tuple[int, int]
) -> None:
    texts = OF_KIND[kind]
    person = somebody(size, touch=size == PHONE).start(running_batch_of(kind, tests=texts))
    first = boxes(person)
    assert len(first) > 3
    for _ in texts[1:]:
        person.answers_right()
        person.goes_on()
        expect(person.page.locator(".has-more-below")).to_have_count(0)
        assert boxes(person) == first


@SIZES
def test_has_one_size_and_place_whatever_options_hold(
    somebody: Comes, size: tuple[int, int]
) -> None:
    texts = [Text(f"{FERRY} {n}", "Who?", ["0"], options=o) for n, o in enumerate([THREE, TWO])]
    person = somebody(size, touch=size == PHONE).start(running_batch_of(Kind.CHOICE, tests=texts))
    first = boxes(person)
    person.answers_right()
    person.goes_on()
    then = boxes(person)
    assert len(set(first)) == len(set(then)) + 1
    assert set(then) < set(first)


@SIZES
@pytest.mark.parametrize("kind", OF_KIND)
def test_is_moved_by_no_error(somebody: Comes, kind: str, size: tuple[int, int]) -> None:
    person = somebody(size, touch=size == PHONE)
    person.start(running_batch_of(kind, tests=OF_KIND[kind][:1]))
    before = boxes(person)
    person.sends()
    alert = person.page.get_by_role("alert")
    expect(alert).to_be_in_viewport(ratio=1)
    assert alert.evaluate("({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight")
    assert boxes(person) == before


@SIZES
def test_is_moved_by_no_phrase_that_is_chosen(somebody: Comes, size: tuple[int, int]) -> None:
    person = somebody(size, touch=size == PHONE)
    person.start(running_batch_of(Kind.SPANS, tests=OF_KIND[Kind.SPANS]))
    plain = person.page.locator("[data-span-plain]")
    before = [*boxes(person), plain.bounding_box()]
    for name in ("Vis", "Dunav", "Marta Kovač", "ferry"):
        person.selects(0, FERRY.index(name), FERRY.index(name) + len(name))
        assert [*boxes(person), plain.bounding_box()] == before
    person.page.get_by_role("button", name="Remove: Marta Kovač").click()
    expect(person.page.locator(".span-item")).to_have_count(3)
    assert [*boxes(person), plain.bounding_box()] == before


def test_breaks_no_word_of_an_option(somebody: Comes) -> None:
    options = ["contradict", "neutral", "entailment", "unrelated", "unclear"]
    texts = [Text(FERRY, "Does it follow?", [gold]) for gold in options]
    batch = running_batch_of(Kind.CHOICE, training=texts)
    person = somebody(PHONE, touch=True).start(batch)
    lines = """options => options.map(option => {
      const range = document.createRange();
      range.selectNodeContents(option);
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top / 8))).size;
    })"""
    assert person.page.locator(".option-text").evaluate_all(lines) == [1] * (len(options) + 2)
    places = {box["x"] for option in person.page.locator(".option").all()
              if (box := option.bounding_box())}  # fmt: skip
    assert len(places) == 2


def test_says_in_the_first_items_alone_that_an_answer_is_final(person: Person) -> None:
    person.start(make.running_batch(kind=Kind.TEXT, zero_shot=True, tests=4))
    final = person.page.get_by_text("It cannot be changed afterwards.")
    for _ in range(3):
        expect(final).to_be_visible()
        person.answers_right()
        person.goes_on()
    expect(final).to_be_hidden()
    person.page.locator(".work-head summary").click()
    said: Any = person.page.locator(".gestures")
    expect(said).to_contain_text("An answer cannot be changed once it is sent.")

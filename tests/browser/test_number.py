"""The page of a number: what was read is shown before it is sent."""

import pytest
from playwright.sync_api import expect

from annotation.models import Judgement, Kind
from scoring.core.normalisation import read_number
from tests import make
from tests.annotation.kinds.numbers import READ, UNREAD, generated
from tests.browser.conftest import PHONE, Comes
from tests.browser.person import Person

pytestmark = pytest.mark.django_db(transaction=True)


def test_reads_what_the_server_reads(person: Person) -> None:
    person.start(make.running_batch(kind=Kind.NUMBER, zero_shot=True))
    field, line = person.page.locator("[name=number]"), person.page.locator("#number-read")
    # What begins or ends with a line break cannot be typed into a field.
    for text in [*READ, *filter(None, UNREAD)]:
        field.fill(text)
        shown = line.inner_text().removeprefix("read as ").replace("\xa0", " ")
        read = read_number(shown) if line.inner_text().startswith("read as") else None
        # The field holds no more than can be read.
        assert read == read_number(text[:100]), (text, shown)
    assert person.problems == []


READS_ALL = """texts => texts.map(text => {
  const field = document.querySelector("[name=number]");
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  return document.getElementById("number-read").textContent;
})"""


def test_says_of_no_text_another_number_than_the_server(person: Person) -> None:
    person.start(make.running_batch(kind=Kind.NUMBER, zero_shot=True))
    texts = generated()
    shown = person.page.evaluate(READS_ALL, list(texts))
    read = [
        read_number(line.removeprefix("read as ")) if line.startswith("read as") else None
        for line in shown
    ]
    told = dict(zip(texts, read, strict=True))
    assert {text: value for text, value in told.items() if value != texts[text]} == {}


def test_sends_what_was_typed_and_keeps_what_cannot_be_read(somebody: Comes) -> None:
    person = somebody(PHONE, touch=True)
    person.start(make.running_batch(kind=Kind.NUMBER, zero_shot=True))
    line = person.page.locator("#number-read")
    assert person.page.locator("[name=number]").get_attribute("inputmode") == "decimal"
    person.types("1.234,5")
    expect(line).to_have_text("not one number yet")
    person.sends()
    expect(person.page.get_by_role("alert")).to_contain_text("is not one number")
    expect(person.page.locator("[name=number]")).to_have_value("1.234,5")
    person.page.locator("[name=number]").fill("1,130")
    expect(line).to_have_text("read as 1130")
    # Some phones' digits come without a minus.
    person.presses(person.page.locator("[data-negate]"))
    expect(line).to_have_text("read as -1130")
    # Nor with the bar of a fraction.
    person.page.locator("[name=number]").fill("2")
    person.presses(person.page.locator("[data-slash]"))
    person.page.keyboard.type("3")
    expect(line).to_have_text("read as 2/3")
    person.page.locator("[name=number]").fill("-1,130")
    person.goes_on()
    assert Judgement.objects.get().answer == ["-1,130"]
    # The page that came in its place tells it too.
    person.types("12.000")
    expect(line).to_have_text("read as 12")

"""What a screen reader is given: Chromium's accessibility tree, and what is announced."""

from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.models import Kind
from tests.browser.person import KEYBOARD, Person
from tests.texts import Text, running_batch_of

pytestmark = pytest.mark.django_db(transaction=True)

CITIES = Text("Anna met Boris in Oslo and Rome.", gold=["Oslo", "Rome"])
NAMES = Text("Al saw Bo. Bo saw Al.", question="@ slept.", gold=["Bo"], candidates=["Al", "Bo"])


def tree(person: Person) -> list[dict[str, Any]]:
    """The nodes that a screen reader meets, in the order of the page."""
    session = person.page.context.new_cdp_session(person.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    return [node for node in nodes if not node.get("ignored")]


def value(node: dict[str, Any], name: str) -> str:
    return str(node.get(name, {}).get("value", ""))


def nodes_of(person: Person, role: str) -> list[dict[str, Any]]:
    return [node for node in tree(person) if value(node, "role") == role]


@pytest.mark.parametrize("kind", Kind.values)
def test_names_the_text_as_a_group(person: Person, kind: str) -> None:
    text = NAMES if kind == Kind.CANDIDATE else CITIES
    person.start(running_batch_of(kind, tests=[text]))
    assert "Text" in [value(node, "name") for node in nodes_of(person, "group")]


def test_says_how_to_choose_and_takes_the_arrow_keys(person: Person) -> None:
    person.start(running_batch_of(Kind.SPANS, tests=[CITIES, CITIES]))
    (control,) = nodes_of(person, "application")
    assert value(control, "name") == "Text to choose from"
    assert "the arrow keys go from word to word" in value(control, "description")
    (group,) = [node for node in nodes_of(person, "group") if value(node, "name") == "Text"]
    assert value(group, "description").startswith("Go into the text with the tab key.")


def test_gives_the_text_to_read_besides_the_control(person: Person) -> None:
    person.start(running_batch_of(Kind.SPANS, tests=[CITIES]))
    texts = [value(node, "name") for node in tree(person) if value(node, "role") == "StaticText"]
    assert CITIES.context in texts


def test_announces_what_was_chosen(person: Person) -> None:
    person.start(running_batch_of(Kind.SPANS, tests=[CITIES]))
    person.selects(0, 18, 22, by=KEYBOARD)
    status = person.page.locator("[data-span-status]")
    assert status.get_attribute("aria-live") == "polite"
    expect(status).to_contain_text("Chosen: Oslo.")


def test_names_each_candidate_once(person: Person) -> None:
    person.start(running_batch_of(Kind.CANDIDATE, tests=[NAMES]))
    assert [value(node, "name") for node in nodes_of(person, "radio")] == ["Al", "Bo"]


def test_reads_the_reveal_as_sentences(person: Person) -> None:
    person.start(running_batch_of(Kind.SPANS, training=[CITIES]))
    person.answers(["Oslo", "Anna"])
    person.goes_on()
    said = person.page.locator("#announcer").inner_text()
    assert said == ("Partly right. Score: 50%. Missed: Rome. Extra: Anna. Right: Oslo.")
    signs = [value(node, "name") for node in tree(person)]
    assert {"missed:", "extra:", "right:"} <= set(signs)


def test_says_which_answer_was_saved(person: Person) -> None:
    person.start(running_batch_of(Kind.SPANS, tests=[CITIES, CITIES]))
    person.answers([])
    person.goes_on()
    expect(person.page.locator("#save-state")).to_have_text("Item 1 saved")


def test_stops_at_nothing_that_is_empty(person: Person) -> None:
    person.start(running_batch_of(Kind.SPANS, tests=[CITIES]))
    assert "Chosen" not in [value(node, "name") for node in nodes_of(person, "list")]
    person.selects(0, 18, 22, by=KEYBOARD)
    assert "Chosen" in [value(node, "name") for node in nodes_of(person, "list")]
    roles = [value(node, "role") for node in tree(person)]
    # What is announced later lies behind all that is read line by line.
    assert roles.index("status") > roles.index("contentinfo")


def test_says_how_to_choose_once(person: Person) -> None:
    person.start(running_batch_of(Kind.SPANS, tests=[CITIES]))
    texts = [value(node, "name") for node in nodes_of(person, "StaticText")]
    assert not [text for text in texts if text.startswith("Go into the text")]


@pytest.mark.parametrize("kind", [Kind.CHOICE, Kind.CANDIDATE])
def test_calls_nothing_invalid_that_nobody_has_answered(person: Person, kind: str) -> None:
    """Firefox says so of the whole form as soon as one of its fields is required."""
    person.start(running_batch_of(kind, tests=[NAMES]))
    assert person.page.locator("main :invalid").count() == 0

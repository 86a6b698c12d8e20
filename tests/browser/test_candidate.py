"""Candidates: the question in sight, names to tap in the text, many options in little room."""

from random import Random

import pytest
from playwright.sync_api import expect

from annotation.models import Judgement, Kind
from tests.browser.conftest import LAPTOP, PHONE, Comes
from tests.browser.person import Person
from tests.browser.test_touch import Finger
from tests.texts import LONG, Text, running_batch_of

pytestmark = pytest.mark.django_db(transaction=True)

LAST = ["Li", "Ray", "Fox", "Orr", "Day", "Ek"]
NAMES = [f"{first} {last}" for first in ("Ana", "Bo", "Cy") for last in LAST]
MANY = Text(
    f"{', '.join(NAMES)} met. {LONG}",
    question="Boats were built by @placeholder.",
    gold=["Bo Fox"],
    candidates=NAMES,
)
CHOSEN = "[data-chosen]"


def at_example(person: Person, text: Text = MANY) -> Person:
    return person.start(running_batch_of(Kind.CANDIDATE, tests=[text, text]))


@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_keeps_the_question_in_sight(somebody: Comes, size: tuple[int, int]) -> None:
    person = at_example(somebody(size))
    person.page.locator(".option").last.scroll_into_view_if_needed()
    expect(person.page.locator(".question")).to_be_in_viewport(ratio=1)


def test_moves_names_closer_rather_than_behind_the_bar(somebody: Comes) -> None:
    """The bar is taller once it says that nothing is chosen."""
    names = ["Princess Ottilie", "Norrgard Star", "Cape Merrin", "Port Ellery", "Calder Quay"]
    text = Text(
        f"The ferry {names[0]} and the freighter {names[1]} collided in thick fog off {names[2]} "
        f"on Sunday. Nobody was hurt. The {names[0]} returned to {names[3]} under her own power; "
        f"the other ship was towed to {names[4]} with a hole in her bow. Josefine Bell, who leads "
        "the inquiry, said that the radar had been working on both.",
        question="Dockers in @placeholder began to unload the damaged vessel on Monday. Who or "
        "what is @placeholder?",
        gold=["Calder Quay"],
        candidates=[*names, "Josefine Bell"],
    )
    person = at_example(somebody(PHONE, touch=True), text)
    last = person.page.locator(".option").last.bounding_box()
    bar = person.page.locator(".send").bounding_box()
    assert last
    assert bar
    assert last["y"] + last["height"] <= bar["y"]


def test_shows_eighteen_options_on_one_screen_of_a_phone(somebody: Comes) -> None:
    person = at_example(somebody(PHONE, touch=True))
    height = person.page.locator(".option-list").evaluate("list => list.clientHeight")
    assert height < PHONE[1] / 2
    smallest = person.page.locator(".option").evaluate_all(
        "options => Math.min(...options.map(option => option.clientHeight))"
    )
    assert smallest >= 42


def test_chooses_a_name_in_the_text_and_stays_where_the_reader_is(somebody: Comes) -> None:
    person = at_example(somebody(PHONE, touch=True))
    expect(person.page.locator(CHOSEN)).to_have_text("Choose a name in the text, or in the list.")
    before = person.page.evaluate("scrollY")
    person.page.locator("mark", has_text="Cy Fox").tap()
    expect(person.page.locator(CHOSEN)).to_contain_text("Cy Fox")
    expect(person.page.locator("#announcer")).to_contain_text("Cy Fox")
    assert person.page.evaluate("scrollY") == before
    person.page.locator("mark", has_text="Cy Ray").tap()
    assert person.page.locator("mark.is-chosen").all_inner_texts() == ["Cy Ray"]
    person.goes_on()
    assert Judgement.objects.get().answer == ["Cy Ray"]


@pytest.mark.parametrize("radius", [6, 14])
def test_takes_the_name_that_the_finger_touched(somebody: Comes, radius: int) -> None:
    person = at_example(somebody(PHONE, touch=True))
    finger, rng = Finger(person.page, radius), Random(radius)
    wrong = []
    for _ in range(60):
        name = rng.choice(NAMES)
        mark = person.page.locator(".context mark", has_text=name)
        x, y, width, height = mark.evaluate(
            "mark => { const b = mark.getClientRects()[0]; return [b.x, b.y, b.width, b.height]; }"
        )
        finger.touch(x + rng.uniform(1, width - 1), y + height * rng.uniform(0.2, 0.8))
        chosen = person.page.locator("mark.is-chosen").all_inner_texts()
        if chosen != [name]:
            wrong.append((name, chosen))
    assert not wrong, wrong


def test_takes_the_longer_of_two_names_that_overlap(somebody: Comes) -> None:
    names = ["New York", "New York City"]
    text = Text("New York City is large.", gold=names[:1], candidates=names)
    person = at_example(somebody(), text)
    person.page.locator("mark", has_text="New York").first.click()
    expect(person.page.locator(CHOSEN)).to_contain_text("New York City")
    person.chooses(0)
    assert person.page.locator("mark.is-chosen").all_inner_texts() == ["New York"]


def test_chooses_in_the_text_without_javascript(somebody: Comes) -> None:
    person = somebody(java_script_enabled=False)
    person.join(running_batch_of(Kind.CANDIDATE, tests=[MANY]))
    person.page.get_by_role("button", name="I agree").click()
    person.page.get_by_role("button", name="Start").click()
    person.page.locator("mark", has_text="Bo Fox").click()
    expect(person.page.get_by_role("radio", name="Bo Fox", exact=True)).to_be_checked()


def test_shows_the_choice_again_after_a_reload(somebody: Comes) -> None:
    person = at_example(somebody())
    person.chooses(3)
    person.page.reload()
    expect(person.page.locator(CHOSEN)).to_contain_text(NAMES[3])
    assert person.page.locator("mark.is-chosen").all_inner_texts() == [NAMES[3]]

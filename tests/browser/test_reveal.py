"""What the page shows once an answer is locked: the comparison, at rest."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Response, expect

from annotation.models import Batch, Judgement, Kind
from tests import make
from tests.browser.conftest import LAPTOP, PHONE, Comes
from tests.browser.person import KEYBOARD, Person
from tests.every import every
from tests.texts import LONG, Text, long_texts, running_batch_of

pytestmark = pytest.mark.django_db(transaction=True)

CANARY = "People are no cities."
CITIES = Text(
    "Anna met Boris in Oslo and Rome.", gold=["Oslo", "Rome"], explanation=f"{CANARY}\n\nRead on."
)
# Answered right below: where something is missed, the page goes there.
LONG_TEXTS = {
    Kind.CHOICE: Text(LONG, question="Is this good or bad?", gold=["bad"]),
    Kind.CANDIDATE: Text(
        LONG, question="Boats were built in @.", gold=["Vienna"], candidates=["Vienna", "Ulm"]
    ),
    Kind.SPANS: Text(LONG, gold=["Vienna", "Ulm"]),
    Kind.TEXT: Text(LONG, question="Where were boats built?", gold=["in Ulm"]),
    Kind.NUMBER: Text(LONG, question="How many countries?", gold=["10"]),
    Kind.LABELS: Text(LONG, question="Which fit?", gold=["bad"]),
}


def places(person: Person, *selectors: str) -> list[list[float]]:
    """Where elements stand in the window, to the pixel."""
    return person.page.evaluate(
        """selectors => [...document.querySelectorAll(selectors)].map((element) => {
            const {x, y, width, height} = element.getBoundingClientRect();
            return [x, y, width, height].map(Math.round);
        })""",
        ", ".join(selectors),
    )


def texts(person: Person, selector: str) -> list[str]:
    return [" ".join(text.split()) for text in person.page.locator(selector).all_inner_texts()]


def selected_cities(person: Person) -> Person:
    person.start(running_batch_of(Kind.SPANS, training=[CITIES], tests=[CITIES]))
    person.answers(["Oslo", "Anna"])
    person.goes_on()
    return person


def test_compares_in_words_and_marks(person: Person) -> None:
    selected_cities(person)
    for mark, text in {"right": "Oslo", "extra": "Anna", "missed": "Rome"}.items():
        assert texts(person, f".context mark.{mark}") == [text]
    lines = person.page.locator(".context mark").evaluate_all(
        """marks => marks.map(mark => getComputedStyle(mark)).map(
            (style) => style.textDecorationLine + style.textDecorationStyle)"""
    )
    assert len(set(lines)) == 3
    assert texts(person, ".verdict-head") == ["Partly right. Score: 50%."]
    assert texts(person, ".verdict-sum") == ["Missed: Rome. Extra: Anna. Right: Oslo."]
    assert texts(person, ".explanation p") == [CANARY, "Read on."]


def test_names_pieces_in_the_order_of_the_text_and_ends_each_sentence_once(
    person: Person,
) -> None:
    text = Text("Rome, Oslo, Ulm and New York, BC. Bonn", gold=["Rome", "Ulm", "New York, BC."])
    person.start(running_batch_of(Kind.SPANS, training=[text]))
    person.answers(["Bonn", "Ulm", "Oslo"])
    listed = texts(person, ".span-text")
    assert listed == ["Oslo", "Ulm", "Bonn"]
    person.goes_on()
    assert texts(person, ".verdict-sum") == [
        "Missed: Rome, New York, BC. Extra: Oslo, Bonn. Right: Ulm."
    ]


def test_shows_how_near_a_phrase_with_a_wrong_end_came(person: Person) -> None:
    text = Text("He lived in Los Angeles, then in Ulm.", gold=["Los Angeles", "Ulm"])
    person.start(running_batch_of(Kind.SPANS, training=[text]))
    person.answers(["in Los Angeles"])
    person.goes_on()
    assert texts(person, ".verdict-head") == ["Not quite."]
    assert texts(person, ".verdict-sum") == [
        "Nearly: you chose “in Los Angeles”, the expected answer is “Los Angeles”. A phrase counts "
        "only as a whole, word for word. Missed: Ulm."
    ]
    # Each is one shape, which begins and ends once.
    for mark, own in {"extra": "in Los Angeles", "missed": "Los Angeles"}.items():
        marks = person.page.locator(f".context mark.{mark}").all()
        drawn = [(m.inner_text(), (m.get_attribute("class") or "").split()) for m in marks]
        shape = "".join(text for text, _classes in drawn).removesuffix("Ulm")
        assert shape == own
        firsts = [text for text, classes in drawn if f"{mark}-first" in classes]
        assert firsts[0] == drawn[0][0]
        assert len(firsts) == (2 if mark == "missed" else 1)


def test_lists_what_the_bar_has_no_room_for(person: Person) -> None:
    gold = ["Anna", "Boris", "Oslo", "Rome"]
    person.start(running_batch_of(Kind.SPANS, training=[Text(CITIES.context, gold=gold)]))
    person.answers([])
    person.goes_on()
    assert texts(person, ".verdict-list mark") == gold


# Whether the sign in front of a word stands on the same line as that word.
TOGETHER = """told => {
  const text = [...told.childNodes].find((node) => node.data?.trim());
  const word = document.createRange();
  const start = text.data.search(/\\S/);
  word.setStart(text, start);
  word.setEnd(text, start + 1);
  return Math.abs(word.getBoundingClientRect().top - told.getClientRects()[0].top) < 4;
}"""


def test_keeps_each_sign_beside_its_word(person: Person) -> None:
    selected_cities(person)
    for width in range(320, 440, 5):
        person.page.set_viewport_size({"width": width, "height": 640})
        for told in person.page.locator(".told").all():
            assert told.evaluate(TOGETHER), f"A sign stands alone at {width} pixels."


def test_says_the_result_and_puts_the_focus_on_next(person: Person) -> None:
    person.start(running_batch_of(Kind.SPANS, training=[CITIES]))
    announcer = person.page.locator("#announcer")
    assert announcer.get_attribute("aria-live") == "polite"
    before = announcer.element_handle()
    person.answers(["Oslo", "Rome"])
    person.goes_on()
    assert before.is_visible()
    said = before.inner_text()
    assert "Right. Right: Oslo, Rome." in " ".join(said.split())
    assert "Rome" in said
    assert person.focused == "Next"


def test_tells_the_answer_of_a_choice_where_it_was_offered(person: Person) -> None:
    person.start(running_batch_of(Kind.CHOICE, training=[Text("Fine.", gold=["good"])]))
    person.chooses(0)
    person.goes_on()
    assert texts(person, ".option.extra") == ["bad (your answer)"]
    assert texts(person, ".option.missed") == ["good (the right answer)"]
    assert texts(person, ".verdict-sum") == ["Your answer: bad. The right answer: good."]
    assert "The right answer: good" in person.page.locator("#announcer").inner_text()


def test_marks_every_mention_of_a_candidate(person: Person) -> None:
    text = Text("Al saw Bo. Bo saw Al. Cy slept.", gold=["Bo"], candidates=["Al", "Bo", "Cy"])
    person.start(running_batch_of(Kind.CANDIDATE, training=[text]))
    assert texts(person, ".option-text") == ["Al", "Bo", "Cy"]
    assert texts(person, "mark.mention") == ["Al", "Bo", "Bo", "Al", "Cy"]
    person.chooses(0)
    assert texts(person, "mark.is-chosen") == ["Al", "Al"]
    person.goes_on()
    assert texts(person, "mark.extra") == ["Al", "Al"]
    assert texts(person, "mark.missed") == ["Bo", "Bo"]


@pytest.mark.parametrize(
    ("gold", "own", "said"),
    [
        ([], [], "There was nothing to choose here, and you chose none."),
        ([], ["Oslo"], "There was nothing to choose here. Extra: Oslo."),
        (["Oslo", "Rome"], [], "You chose none. Missed: Oslo, Rome."),
        (["Anna", "met", "in", "Rome"], [], "You chose none. Missed: Anna, met, in and 1 more."),
    ],
)
def test_says_what_none_came_to(person: Person, gold: list[str], own: list[str], said: str) -> None:
    person.start(running_batch_of(Kind.SPANS, training=[Text(CITIES.context, gold=gold)]))
    person.answers(own)
    person.goes_on()
    assert texts(person, ".verdict-sum") == [said]


FAR = "The wine was good. " * 120


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_brings_the_gold_into_view(somebody: Comes, size: tuple[int, int], motion: str) -> None:
    text = Text(f"{FAR}Rome is old. {FAR}", gold=["Rome"])
    person = somebody(size, touch=size == PHONE, reduced_motion=motion)
    person.start(running_batch_of(Kind.SPANS, training=[text]))
    person.answers([])
    person.goes_on()
    mark = person.page.locator(".context mark.missed")
    expect(mark).to_be_in_viewport(ratio=1)
    # The last of a smooth scroll may still be under way.
    person.page.wait_for_function(
        """() => document.querySelector('.context mark').getBoundingClientRect().bottom
            < document.querySelector('.send').getBoundingClientRect().top"""
    )


def test_tells_the_marks_apart_by_signs_in_forced_colours(somebody: Comes) -> None:
    person = selected_cities(somebody(forced_colors="active"))
    looks = person.page.locator(".context mark").evaluate_all(
        """marks => marks.map(mark => [getComputedStyle(mark, '::before').content.slice(0, 3),
            getComputedStyle(mark).textDecorationStyle, getComputedStyle(mark).outlineStyle])"""
    )
    assert len({str(look) for look in looks}) == 3
    assert len({look[0] for look in looks}) == 3
    colours = person.page.locator(".context mark").evaluate_all(
        "marks => marks.map(mark => getComputedStyle(mark).backgroundColor)"
    )
    assert len(set(colours)) == 1


def test_names_the_other_accepted_answers(person: Person) -> None:
    text = Text("In Rome, Italy.", gold=["Rome"], more_gold=[["Rome, Italy"], []])
    person.start(running_batch_of(Kind.SPANS, training=[text], max_spans=1))
    person.answers(["Rome"])
    person.goes_on()
    assert texts(person, ".also") == ["Also accepted: Rome, Italy", "Also accepted: none here"]


@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
@pytest.mark.parametrize("kind", Kind.values)
def test_moves_nothing_when_the_answer_is_locked(
    somebody: Comes, kind: str, size: tuple[int, int]
) -> None:
    person = somebody(size, touch=size == PHONE)
    person.start(running_batch_of(kind, training=[LONG_TEXTS[Kind(kind)]]))
    if kind == Kind.SPANS:
        person.answers(["Vienna", "Ulm"])
    elif kind in (Kind.TEXT, Kind.NUMBER):
        person.types("Vienna" if kind == Kind.TEXT else "12")
    else:
        person.chooses(0)
    person.sees_all_options()
    steady = (".progress-bar", ".question", "legend", ".segment", ".option", ".option-text")
    person.page.evaluate("scrollTo(0, 150)")
    before = places(person, *steady), places(person, "[data-send]")[0][3]
    person.goes_on()
    assert person.page.evaluate("scrollY") == 150
    assert (places(person, *steady), places(person, "[data-send]")[0][3]) == before


def test_keeps_the_button_where_it_was(person: Person) -> None:
    person.start(make.running_batch())
    before = places(person, "[data-send]")
    person.chooses(0)
    person.goes_on()
    assert places(person, "[data-send]") == before


@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_asks_all_questions_of_a_text_while_it_stands_still(
    somebody: Comes, size: tuple[int, int]
) -> None:
    person = somebody(size)
    other = Text("Another text.", question="Which cities are named?", gold=[])
    person.start(running_batch_of(Kind.SPANS, training=[*long_texts(3), other]))
    while person.page.locator(".segment").inner_text() == other.context:
        person.answers([])
        person.goes_on()
        person.goes_on()
    # So far that the first of the cities stays in sight, below the question.
    person.page.evaluate("scrollTo(0, 40)")
    stood, asked = set(), []
    for _ in range(3):
        asked.append(person.page.locator(".question").inner_text())
        person.answers([])
        stood.add(str(places(person, ".segment")))
        person.goes_on(by=KEYBOARD)
        stood.add(str(places(person, ".segment")))
        person.goes_on()
    assert len(set(asked)) == 3
    assert len(stood) == 1


def test_begins_a_new_text_at_its_top(person: Person) -> None:
    training = [Text(f"{n} {LONG}", gold=["Ulm"]) for n in range(2)]
    person.start(running_batch_of(Kind.SPANS, training=training))
    person.answers([])
    person.page.evaluate("scrollTo(0, 200)")
    person.goes_on()
    person.goes_on()
    assert person.page.evaluate("scrollY") == 0


def test_stays_when_the_answer_was_sent_by_a_double_click(person: Person) -> None:
    person.start(make.running_batch())
    person.chooses(0)
    person.page.locator("[data-send]").dblclick()
    expect(person.page.locator("[data-panel=reveal]")).to_be_visible()
    person.page.wait_for_timeout(500)
    assert person.panel == "reveal"
    person.goes_on()
    assert person.step == 1


def test_stays_while_the_key_that_sent_the_answer_is_held(person: Person) -> None:
    person.start(make.running_batch())
    person.page.keyboard.press("1")
    person.page.keyboard.down("Enter")
    person.page.wait_for_selector("[data-panel=reveal]")
    for _ in range(5):
        person.page.keyboard.down("Enter")
    person.page.wait_for_timeout(300)
    assert person.panel == "reveal"
    person.page.keyboard.up("Enter")
    person.goes_on(by=KEYBOARD)
    assert person.step == 1


def test_leaves_no_gold_in_the_browser(person: Person) -> None:
    answered: list[Response] = []

    def keep(response: Response) -> None:
        answered.append(response)

    person.page.on("response", keep)
    selected_cities(person)
    assert CANARY in person.page.content()
    person.goes_on()
    kept = "JSON.stringify([localStorage, sessionStorage, history.state])"
    assert CANARY not in person.page.evaluate(kept)
    assert person.page.evaluate("caches.keys()") == []
    assert CANARY not in person.page.content()
    person.page.go_back()
    assert CANARY not in person.page.content()
    of_work = [r for r in answered if urlsplit(r.url).path.startswith("/work/")]
    assert len(of_work) >= 3
    assert every("no-store" in (r.header_value("cache-control") or "") for r in of_work)


def test_counts_every_character_of_a_text_with_carriage_returns(person: Person) -> None:
    text = Text("One\r\ntwo\rthree <four> &amp; 𝕗ive six.", gold=["six"])
    batch: Batch = running_batch_of(Kind.SPANS, training=[text])
    person.start(batch)
    person.answers(["<four>", "six"])
    person.goes_on()
    assert Judgement.objects.get().answer == ["<four>", "six"]

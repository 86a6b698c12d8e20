"""Accessibility: axe on every page and state, and what axe cannot see."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Kind, Outcome
from annotation.work.finishing import finish
from tests import make
from tests.browser.conftest import LAPTOP, NARROW, Comes
from tests.browser.person import Person
from tests.texts import LONG, Text, long_texts, running_batch_of

pytestmark = pytest.mark.django_db(transaction=True)

AXE = Axe().axe_script
VIOLATIONS = "async (given) => (await axe.run(...given)).violations"
# WCAG's rules up to 2.2 AA, and axe's good practice on top.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Only the faults are collected: a passage has hundreds of words, each an element that passes.
# Without the style sheets, which only rules for media ask for: there are none.
OPTIONS = {"runOnly": RULES, "resultTypes": ["violations"], "preload": False}
# Of a text's hundreds of words the first ones, and those that are dressed otherwise.
ALIKE = "[data-segment] > :nth-child(n + 16):not([class*=is-])"
CONTEXT = {"exclude": [[ALIKE]]}
# What another colour scheme can change.
OF_COLOURS = {**OPTIONS, "runOnly": {"type": "rule", "values": ["color-contrast"]}}
SCHEMES: dict[Any, dict[str, Any]] = {"light": OPTIONS, "dark": OF_COLOURS}
# A laptop's page at 200 %: half the pixels in each direction.
ZOOMED = (640, 400)
# In turn; the last is how the person goes on.
VIEWS: list[tuple[tuple[int, int], Any, dict[str, Any]]] = [
    (NARROW, "light", OPTIONS),
    (ZOOMED, "dark", OPTIONS),
    (LAPTOP, "dark", OF_COLOURS),
    (LAPTOP, "light", OPTIONS),
]
OF_KIND = {"description", "answer", "error", "answered", "unsaved", "reveal", "instructions"}
LONG_QUESTION = Text(
    LONG,
    question="Boats were built in @placeholder, where the river is still narrow enough.",
    gold=["Ulm"],
    candidates=["Vienna", "Bratislava", "Budapest", "Belgrade", "Ulm", "the Black Forest"],
    explanation="The last sentence says so.",
)

SMALL = """() => [...document.querySelectorAll(
    "a, button, summary, label, input:not([type=hidden]), textarea")]
  .filter((element) => element.checkVisibility() && !element.closest("label:not(:scope)"))
  .filter((element) => !element.matches(".resume, .skip-link"))
  .map((element) => [element.outerHTML.slice(0, 80), element.getBoundingClientRect()])
  .filter(([, box]) => box.width < 24 || box.height < 24)
  .map(([html]) => html)"""
# Colours pass from one to another.
SETTLE = """() => document.getAnimations()
  .filter((animation) => animation instanceof CSSTransition)
  .forEach((transition) => transition.finish())"""
WIDER = "document.body.scrollWidth - Math.round(document.body.getBoundingClientRect().width)"
COVERED = """() => {
  const element = document.activeElement, box = element.getBoundingClientRect();
  const points = [[box.x + 3, box.y + 3], [box.right - 3, box.bottom - 3]];
  const seen = points.some(([x, y]) => {
    const top = document.elementFromPoint(x, y);
    return top && (element.contains(top) || top.contains(element));
  });
  return seen ? "" : element.outerHTML.slice(0, 120);
}"""
RING = """() => {
  const ringed = document.activeElement.closest("label.option") || document.activeElement;
  const {outlineStyle, outlineWidth} = getComputedStyle(ringed);
  return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
}"""


def resize(person: Person, size: tuple[int, int]) -> None:
    person.page.set_viewport_size({"width": size[0], "height": size[1]})


def findings(person: Person, options: dict[str, Any] = OPTIONS) -> list[str]:
    """Everything that is wrong with the page as it stands."""
    found = findings_of_axe(person.page, options)
    small = [f"smaller than 24 px: {html}" for html in person.page.evaluate(SMALL)]
    return [*found, *small, *person.problems]


def findings_of_axe(page: Page, options: dict[str, Any]) -> list[str]:
    """What axe finds, and whether the page is wider than its window."""
    page.wait_for_load_state()
    page.evaluate(SETTLE)
    # Half a megabyte, which a page needs once.
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found = [
        f"{rule['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for rule in page.evaluate(VIOLATIONS, [CONTEXT, options])
        for node in rule["nodes"]
    ]
    wider = page.evaluate(WIDER)
    return [*found, *([f"{wider} px too wide"] if wider else [])]


def findings_at(
    page: Page, views: list[tuple[tuple[int, int], Any]], options: dict[str, Any] = OPTIONS
) -> dict[str, list[str]]:
    """Findings by size and colour scheme, of a page that stays as it is."""
    wrong = {}
    for (width, height), scheme in views:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        wrong[f"{width} px, {scheme}"] = findings_of_axe(page, options)
    return {view: found for view, found in wrong.items() if found}


def findings_by_scheme(person: Person) -> dict[str, list[str]]:
    wrong = {}
    for scheme, options in SCHEMES.items():
        person.page.emulate_media(color_scheme=scheme)
        wrong[scheme] = findings(person, options)
    return {scheme: found for scheme, found in wrong.items() if found}


def findings_by_view(person: Person) -> dict[str, list[str]]:
    wrong = {}
    for size, scheme, options in VIEWS:
        resize(person, size)
        person.page.emulate_media(color_scheme=scheme)
        wrong[f"{size[0]} px, {scheme}"] = findings(person, options)
    return {view: found for view, found in wrong.items() if found}


def batch_of(kind: str, times: int = 4) -> Any:
    """Training that is answered wrongly or in part, on texts that have to scroll: on a phone, and
    where they stand four times on a laptop too."""
    text = LONG_QUESTION
    if kind == Kind.SPANS:
        text = long_texts(2)[1]
    elif kind == Kind.CHOICE:
        text = Text(LONG, question="Is this good or bad?", gold=["good"], explanation="It is.")
    text = replace(text, context=LONG[: len(LONG) * times // 4])
    return running_batch_of(kind, training=[text], tests=[] if kind == Kind.SPANS else [text])


def states(person: Person, kind: str) -> Iterator[str]:
    """Leads through every state of a batch and stops at each."""
    page = person.page
    # Chosen exactly, every character is an element, and axe looks at each.
    person.join(batch_of(kind, times=1))
    yield "consent"
    # A page that is being replaced has no document for a moment: each is waited for.
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="Start").wait_for()
    yield "description"
    page.get_by_role("button", name="Continue on another device").click()
    page.get_by_role("link", name="Back to the work").wait_for()
    yield "another device"
    page.get_by_role("link", name="Back to the work").click()
    page.get_by_text("Stop taking part").click()
    yield "stop"
    page.get_by_text("No, go on").click()
    page.get_by_text("Report a problem").click()
    page.get_by_role("textbox").fill("The button is too small.")
    yield "comment"
    page.get_by_role("button", name="Send this").click()
    page.get_by_text("Back to the work").wait_for()
    yield "comment stored"
    page.get_by_text("Back to the work").click()
    page.get_by_role("button", name="Start").click()
    page.wait_for_selector("[data-panel=answer]")
    yield "answer"
    person.sends()
    expect(page.get_by_role("alert")).to_be_visible()
    yield "error"
    if kind == Kind.SPANS:
        person.answers(["Vienna", "Danube"])
        page.locator("[data-span-exact]").click()
    elif kind in (Kind.TEXT, Kind.NUMBER):
        person.types("Vienna" if kind == Kind.TEXT else "12")
    else:
        person.chooses(0)
    yield "answered"
    page.context.set_offline(True)
    person.sends()
    expect(page.locator("[data-save-note]")).to_contain_text("Not saved yet")
    yield "unsaved"
    page.context.set_offline(False)
    page.wait_for_selector("[data-panel=reveal]")
    yield "reveal"
    page.get_by_text("Instructions").click()
    yield "instructions"
    person.join(person.assignment.batch)
    yield "who"
    person.open("/go/")
    page.get_by_label("Code").fill("XXXX")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("alert")).to_be_visible()
    yield "wrong code"


@pytest.mark.parametrize("kind", Kind.values)
def test_finds_nothing_wrong_in_any_state(somebody: Comes, kind: str) -> None:
    person = somebody(LAPTOP, reduced_motion="reduce")
    wrong = {}
    for state in states(person, kind):
        # The pages around the answers are the same for every kind.
        if kind == Kind.SPANS or state in OF_KIND:
            wrong[state] = findings_by_view(person)
    assert len(wrong) >= len(OF_KIND)
    assert {state: found for state, found in wrong.items() if found} == {}


def test_finds_nothing_wrong_with_the_list_of_keys(somebody: Comes) -> None:
    person = somebody(reduced_motion="reduce").start(batch_of(Kind.SPANS))
    person.page.keyboard.press("?")
    expect(person.page.get_by_role("dialog")).to_be_visible()
    assert findings_by_scheme(person) == {}


@pytest.mark.parametrize("outcome", Outcome.values)
def test_finds_nothing_wrong_at_the_end(somebody: Comes, outcome: str) -> None:
    person = somebody(NARROW, reduced_motion="reduce")
    person.join(
        make.running_batch(contact="ask@example.org", via="prolific"),
        f"?PROLIFIC_PID={make.prolific_id(1)}",
    )
    person.page.get_by_role("button", name="I agree").click()
    assignment = person.assignment
    assignment.screening = {"reason": "floor", "score": 45, "floor": 60}
    assignment.save()
    finish(assignment, outcome, at=make.NOON)
    person.page.reload()
    assert f"CODE-{outcome.upper()}" in person.page.locator("main").inner_text()
    assert findings_by_scheme(person) == {}


def full(person: Person) -> None:
    batch = make.running_batch(wanted=1, contact="ask@example.org")
    make.joined(batch, at=timezone.now())
    person.join(batch)
    assert "CODE-FULL" in person.page.locator("main").inner_text()


def stranger(person: Person) -> None:
    person.open("/work/")


@pytest.mark.parametrize("arrive", [full, stranger])
def test_finds_nothing_wrong_with_a_refusal(
    somebody: Comes, arrive: Callable[[Person], None]
) -> None:
    person = somebody(NARROW, reduced_motion="reduce")
    arrive(person)
    assert findings_by_scheme(person) == {}


@pytest.mark.parametrize("kind", Kind.values)
def test_writes_from_right_to_left_where_the_benchmark_does(somebody: Comes, kind: str) -> None:
    text = Text(
        "وصلت ليلى إلى القاهرة ثم سافرت إلى دمشق.", question="أين؟", candidates=["القاهرة", "دمشق"]
    )
    batch = running_batch_of(kind, tests=[text], direction="rtl", language="ar")
    person = somebody().start(batch)
    for shown in (".segment", "legend, .question"):
        side = person.page.locator(shown).evaluate("element => getComputedStyle(element).direction")
        assert side == "rtl"
    # The page speaks the language of its texts.
    assert person.page.locator("html").get_attribute("dir") == "rtl"
    assert findings(person) == []


# What is answered where it is no matter what.
GIVEN = {Kind.CHOICE: "bad", Kind.NUMBER: "12", Kind.LABELS: "bad"}

# The focused element is ringed, and nothing covers it


@pytest.mark.parametrize("kind", Kind.values)
def test_shows_what_has_the_focus(somebody: Comes, kind: str) -> None:
    # Without motion: nobody tabs while the page still glides to what was missed.
    person = somebody(LAPTOP, reduced_motion="reduce").start(batch_of(kind))
    wrong, seen = [], Counter[int]()
    for panel in ("answer", "reveal"):
        if panel == "reveal":
            person.answers([GIVEN.get(Kind(kind), "Vienna")])
            person.goes_on()
        for size in (NARROW, ZOOMED, LAPTOP):
            resize(person, size)
            # From the top of the page on.
            person.page.reload()
            person.page.wait_for_selector(f"[data-panel={panel}]")
            for _ in range(12):
                person.page.keyboard.press("Tab")
                if person.page.evaluate("document.activeElement === document.body"):
                    break
                seen[size[0]] += 1
                covered = person.page.evaluate(COVERED)
                wrong += [f"{size[0]} px: {covered}"] if covered else []
                if not person.page.evaluate(RING):
                    wrong.append(f"{size[0]} px, no ring: {person.focused}")
    assert min(seen.values()) >= 10
    assert wrong == []


@pytest.mark.parametrize("kind", Kind.values)
def test_never_hides_text_behind_the_bar(somebody: Comes, kind: str) -> None:
    person = somebody(NARROW).start(batch_of(kind))
    person.answers([GIVEN.get(Kind(kind), "Vienna")])
    for _ in range(2):
        for size in (ZOOMED, NARROW):
            resize(person, size)
            # Asked until it holds: what comes after an answer may still be arriving.
            person.page.wait_for_function(
                "() => (scrollTo(0, document.body.scrollHeight),"
                " document.querySelector('.item').getBoundingClientRect().bottom"
                " <= document.querySelector('.send').getBoundingClientRect().top)"
            )
            share = person.page.evaluate(
                "document.querySelector('.send').getBoundingClientRect().height / innerHeight"
            )
            sticky = person.page.evaluate(
                "getComputedStyle(document.querySelector('.send')).position"
            )
            assert sticky == "static" or share < 0.4
        person.goes_on()


def test_moves_nothing_for_whoever_wants_less_motion(somebody: Comes) -> None:
    person = somebody(reduced_motion="reduce").start(make.running_batch())
    moving = (
        "elements => elements.filter(e => getComputedStyle(e).transitionDuration !== '0s').length"
    )
    assert person.page.locator("*").evaluate_all(moving) == 0

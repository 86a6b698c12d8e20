"""Somebody who works on the pages, by mouse, by touch or by the keyboard alone."""

from collections.abc import Iterable, Sequence

from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Locator, Page

from annotation.kinds import answer_kind
from annotation.kinds.gold import gold_in_force
from annotation.models import Assignment, Batch
from annotation.models.frozen import FrozenExample
from annotation.work.judging import current_example
from tests import make

WORDS = """() => [...document.querySelectorAll(".span-word")].map(({token}) =>
    [token.segment.number, token.start, token.end, token.text])"""
# Of scripts without spaces a phrase is taken from its first character to its last.
STEP = "[data-panel]"
# What htmx has brought and not opened yet.
SETTLING = ".htmx-added, .htmx-settling, .htmx-swapping"
DOUBLE_CLICK_MS = 350
UNCOVER = """(element) => {
  const bar = document.querySelector(".send").getBoundingClientRect();
  const isCovered = element.getBoundingClientRect().bottom > bar.top;
  if (isCovered) element.scrollIntoView({ block: "center" });
}"""
MOUSE, TOUCH, KEYBOARD = "mouse", "touch", "keyboard"


class Person:
    def __init__(self, page: Page, origin: str) -> None:
        self.page, self.origin = page, origin
        self.problems: list[str] = []
        # Whether the next answer is that nothing is there.
        self.means_none = False
        page.on("pageerror", lambda error: self.problems.append(str(error)))

    # Coming in

    def open(self, path: str) -> None:
        self.page.goto(self.origin + path)

    def join(self, batch: Batch, query: str = "") -> None:
        self.open(reverse("annotation:join_batch", args=[batch.join_token]) + query)

    def start(self, batch: Batch) -> "Person":
        """At the first example, by the link of somebody who has read and agreed already: two pages
        less than `enter` needs."""
        assignment = make.at_work(batch, at=timezone.now())
        self.open(reverse("annotation:resume", args=[assignment.resume_token]))
        return self._at_first_example()

    def enter(self, batch: Batch) -> "Person":
        """From the link through its pages to the first example."""
        self.join(batch)
        self.page.get_by_role("button", name="I agree").click()
        self.page.get_by_role("button", name="Start").click()
        return self._at_first_example()

    def _at_first_example(self) -> "Person":
        self.page.wait_for_selector("[data-panel=answer]")
        # Its scripts lay it out: what is tapped before they ran stands elsewhere a moment later.
        self.page.wait_for_load_state()
        return self

    @property
    def assignment(self) -> Assignment:
        """The one of the personal link on the page."""
        link = self.page.locator(".resume").get_attribute("href") or ""
        return Assignment.objects.get(resume_token=link.strip("/").rpartition("/")[2])

    # Where the page stands

    @property
    def panel(self) -> str:
        return self.page.locator(STEP).get_attribute("data-panel") or ""

    @property
    def step(self) -> int:
        return int(self.page.locator("[name=step]").input_value())

    @property
    def note(self) -> str:
        return self.page.locator("[data-save-note]").inner_text().strip()

    @property
    def focused(self) -> str:
        return self.page.evaluate("document.activeElement?.innerText || ''").strip()

    def goes_on(self, by: str = MOUSE) -> None:
        """Send the answer or leave the reveal, and wait for what replaces it."""
        self.page.locator(STEP).evaluate("panel => { panel.dataset.was = 1; }")
        self.sends(by)
        self.page.wait_for_selector(f"{STEP}:not([data-was])")
        self.page.wait_for_selector(SETTLING, state="detached")

    def sends(self, by: str = MOUSE) -> None:
        """By the button; where none is the answer, that is sent by its own."""
        if self.means_none:
            self.means_none = False
            self._sends_none(by)
            return
        self.sees_all_options()
        button = self.page.locator("[data-send]")
        if by == KEYBOARD:
            # Nor so soon after the last key.
            self.page.wait_for_timeout(DOUBLE_CLICK_MS)
            button.focus()
            self.page.keyboard.press("Enter")
        else:
            # Not so soon after the last click as to count as a double click.
            self.page.wait_for_timeout(0 if self.panel == "answer" else DOUBLE_CLICK_MS)
            self.presses(button, by)

    def sees_all_options(self) -> None:
        """Before that nothing is sent."""
        # A page that has just come counts them only once its scripts have run.
        self.page.wait_for_load_state()
        if self.page.locator(".has-more-below").count():
            # What stands behind the bar is in view for Playwright.
            last = self.page.locator(".option").last
            last.evaluate("option => option.scrollIntoView({ block: 'center' })")
            self.page.locator(".has-more-below").wait_for(state="detached")

    def _sends_none(self, by: str) -> None:
        """Asked for once in a piece of work whether it is meant."""
        for _ in range(2):
            self.page.wait_for_timeout(DOUBLE_CLICK_MS)
            self.presses_none(by)
            if not self.page.locator("[data-span-none].is-asking").count():
                return

    def presses(self, target: Locator, by: str = MOUSE) -> None:
        self.touches(target) if by == TOUCH else target.click()

    def touches(self, target: Locator) -> None:
        target.tap()

    # Answering

    def option(self, text: str) -> Locator:
        return self.page.locator(".option", has=self.page.get_by_text(text, exact=True))

    def chooses(self, number: int, by: str = MOUSE) -> None:
        """The option at a place, counted from 0."""
        if by == KEYBOARD and number < 9:
            # A page that has just come takes keys only once its scripts have run.
            self.page.wait_for_selector("html.keys-on", state="attached")
            self.page.keyboard.press(str(number + 1))
        elif by == KEYBOARD:
            self.page.locator("[name=option]").first.focus()
            for _ in range(number):
                self.page.keyboard.press("ArrowDown")
        else:
            option = self.page.locator(".option").nth(number)
            option.evaluate(UNCOVER)  # the bar at the foot takes a tap that is meant for it
            self.presses(option, by)

    def ticks(self, numbers: Sequence[int], by: str = MOUSE) -> None:
        """All of these options, or the last one, which is none of them."""
        for number in numbers:
            self.chooses(number, by)
        if not numbers and by == KEYBOARD:
            self.page.keyboard.press("0")
        elif not numbers:
            self.chooses(self.page.locator(".option").count() - 1, by)

    def is_chosen(self, number: int) -> bool:
        return self.page.locator("[name=option]").nth(number).is_checked()

    def selects(self, segment: int, start: int, end: int, by: str = MOUSE) -> None:
        """A stretch of a segment: its words, or its characters where it cuts into a word."""
        words = self._words_over(segment, start, end)
        is_exact = (words[0][1], words[-1][2]) != (start, end)
        if is_exact:
            self._toggles("[data-span-exact]", by)
            words = self._words_over(segment, start, end)
        takes_one = self.page.locator("[data-max-spans='1']").count()
        ends_alone = is_exact or takes_one
        places = [place for place, *_ in words]
        self._selects_words(places[:: len(places) - 1 or 1] if ends_alone else places, by)
        if is_exact:
            self._toggles("[data-span-exact]", by)

    def _words_over(self, segment: int, start: int, end: int) -> list[tuple[int, int, int, str]]:
        """The place among all words, the start, the end and the text of each."""
        # A page that has just come has no words before its scripts have made them.
        self.page.wait_for_selector("[data-span-picker].is-ready")
        words = enumerate(self.page.evaluate(WORDS))
        return [
            (n, a, b, text)
            for n, (s, a, b, text) in words
            if s == segment and a < end and b > start
        ]

    def _selects_words(self, places: Sequence[int], by: str) -> None:
        """Word by word, or by the first and the last."""
        word = self.page.locator(".span-word")
        for place in places:
            if by == KEYBOARD:
                self._walks_to(place)
                self.page.keyboard.press("Enter")
            else:
                self.presses(word.nth(place), by)

    def _toggles(self, control: str, by: str) -> None:
        button = self.page.locator(control)
        if by == KEYBOARD:
            button.focus()
            self.page.keyboard.press("Enter")
        else:
            self.presses(button, by)

    def _walks_to(self, place: int) -> None:
        """From one word to another with the tab key."""
        self.page.locator(".span-word[tabindex]").focus()
        now = self.page.evaluate(
            "[...document.querySelectorAll('.span-word')].indexOf(document.activeElement)"
        )
        key = "ArrowRight" if place > now else "ArrowLeft"
        for _ in range(abs(place - now)):
            self.page.keyboard.press(key)

    def finds_nothing(self) -> None:
        """To be sent by the button that says so."""
        self.means_none = True

    def presses_none(self, by: str = MOUSE) -> None:
        if by == KEYBOARD:
            self.page.keyboard.press("0")
        else:
            self._toggles("[data-span-none]", by)

    def types(self, text: str, by: str = MOUSE) -> None:
        """A short text or a number, or none."""
        field = self.page.locator("[name=text], [name=number]" if text else "[name=none]")
        if by == KEYBOARD:
            field.focus()
        else:
            self.presses(field, by)
        if text:
            self.page.keyboard.type(text)
        elif by == KEYBOARD:
            self.page.keyboard.press(" ")

    def answers(
        self, texts: Sequence[str], by: str = MOUSE, example: FrozenExample | None = None
    ) -> None:
        """Give the texts as the answer, each selected at its first occurrence."""
        example = example or current_example(self.assignment)
        kind = answer_kind(self.assignment.batch.task.kind)
        options = kind.options(example)
        if kind.takes_sets:
            self.ticks([options.index(text) for text in texts], by)
        elif options:
            self.chooses(options.index(texts[0]), by)
        elif not kind.takes_pieces:
            self.types("".join(texts), by)
        elif not texts:
            self.finds_nothing()
        for text in texts if kind.takes_pieces else ():
            self.selects(*_place_of(text, example.context), by=by)

    def answers_right(self, by: str = MOUSE) -> None:
        assignment = self.assignment
        example = current_example(assignment)
        gold = gold_in_force([example.pk], assignment.batch.task_id, 1)[example.pk]
        self.answers((gold.alternative_texts() or [[]])[0], by)


def _place_of(text: str, context: Iterable[str]) -> tuple[int, int, int]:
    for segment, whole in enumerate(context):
        start = whole.find(text)
        if start >= 0:
            return segment, start, start + len(text)
    raise AssertionError(f"{text!r} is not in the text.")

"""The static page on which spans are chosen, opened by itself."""

import html
import json
import re
from typing import Any

from django.conf import settings
from playwright.sync_api import Locator, Page, Route

from annotation.kinds.spans import boundaries
from scoring.core.spans import check_spans

ORIGIN = "http://baseliner.test"
PAGE = "tests/browser/pages/spans.html"
# The page's first script: what is told may be told while it loads.
TELLS = "told.js"
TOLD = "window.told = []; addEventListener('answerchange', (e) => told.push(e.detail))"
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; form-action 'self'"
TEXT = 'He met "Ana Li" (UAA) of the U.N. in Belgrade, then left Real Madrid-Barcelona.'
EXACT = "[data-span-exact]"
NONE = "[data-span-none]"
UNDO = "[data-span-undo]"


class Picker:
    """The open page, in the words of somebody choosing spans on it."""

    def __init__(self, page: Page, segments: list[str], problems: list[str]) -> None:
        self.page, self.segments, self.problems = page, segments, problems

    def word(self, text: str, nth: int = 0) -> Locator:
        return self.page.locator(".span-word", has_text=re.compile(f"^{re.escape(text)}$")).nth(nth)

    def tap(self, *words: str) -> None:
        for word in words:
            self.word(word).click()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def drag(self, first: str, last: str) -> None:
        self.hold(first, last)
        self.page.mouse.up()

    def hold(self, first: str, last: str) -> None:
        """Drags from a word to a word and keeps the button down."""
        start, end = self.word(first).bounding_box(), self.word(last).bounding_box()
        assert start
        assert end
        self.page.mouse.move(start["x"] + 1, start["y"] + start["height"] / 2)
        self.page.mouse.down()
        self.page.mouse.move(end["x"] + end["width"] - 2, end["y"] + end["height"] / 2, steps=4)

    @property
    def spans(self) -> list[list[int]]:
        return json.loads(self.page.locator("input[name=spans]").input_value())

    @property
    def none(self) -> str:
        return self.page.locator("input[name=none]").input_value()

    @property
    def texts(self) -> list[str]:
        """How the server reads the answer; a span given twice would show as one too few."""
        assert len({tuple(span) for span in self.spans}) == len(self.spans)
        return [check_spans(self.segments, [span])[0] for span in self.spans]

    @property
    def listed(self) -> list[str]:
        return self.page.locator(".span-text").all_inner_texts()

    @property
    def status(self) -> str:
        return self.page.locator("[data-span-status]").inner_text()

    def marked(self, name: str) -> str:
        return "".join(self.page.locator(f"[data-segment] .is-{name}").all_text_contents())

    @property
    def focused(self) -> str:
        return self.page.evaluate("document.activeElement.textContent")

    @property
    def told(self) -> list[dict[str, Any]]:
        """The details of every answerchange that reached the document."""
        return self.page.evaluate("window.told")


def document_of(
    segments: list[str], direction: str, length: int, most: str, spans: str, none: str, lang: str
) -> str:
    source = (settings.BASE_DIR / PAGE).read_text()
    divs = "".join(
        f'<div data-segment="{i}" dir="{direction}" lang="{lang}"'
        f' data-length="{length or len(text)}" data-tokens="{boundaries(text)[0]}"'
        f' data-joined="{boundaries(text)[1]}">'
        f"{escape(text)}</div>"
        for i, text in enumerate(segments)
    )
    source = re.sub("<!-- text -->.*<!-- /text -->", lambda _: divs, source, flags=re.DOTALL)
    source = source.replace("<script", f'<script src="/{TELLS}"></script><script', 1)
    source = source.replace('data-max-spans=""', f'data-max-spans="{most}"')
    source = source.replace('value="[]"', f'value="{html.escape(spans)}"')
    return source.replace('name="none" value=""', f'name="none" value="{none}"')


def escape(text: str) -> str:
    return html.escape(text).replace("\r", "&#13;")


def open_in(
    page: Page,
    *segments: str,
    direction: str = "ltr",
    length: int = 0,
    most: str = "",
    spans: str = "[]",
    none: str = "",
    lang: str = "en",
) -> Picker:
    """Opens the static page in a given Playwright page, under a strict content security policy."""
    chosen = list(segments) or [TEXT]
    body = document_of(chosen, direction, length, most, spans, none, lang)
    problems: list[str] = []

    def serve(route: Route) -> None:
        path = route.request.url.removeprefix(f"{ORIGIN}/")
        if path == PAGE:
            headers = {"content-security-policy": POLICY, "content-type": "text/html"}
            route.fulfill(body=body, headers=headers)
        elif path == TELLS:
            route.fulfill(body=TOLD, content_type="text/javascript")
        elif (settings.BASE_DIR / path).is_file():
            route.fulfill(path=settings.BASE_DIR / path)
        else:
            route.fulfill(status=204)

    page.route(f"{ORIGIN}/**", serve)
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{ORIGIN}/{PAGE}")
    return Picker(page, chosen, problems)

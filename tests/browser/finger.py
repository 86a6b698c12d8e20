"""Somebody who works with a finger: touches have a radius, and seldom hit the middle."""

from itertools import cycle
from random import Random
from typing import Any

from playwright.sync_api import CDPSession, Locator, Page

from tests.browser.person import MOUSE, TOUCH, Person

# The line boxes of an element as they are in the window, and whether a point is the element's.
LINES = """element => [...element.getClientRects()].filter(({width}) => width)
    .map(({x, y, width, height}) => [x, y, width, height])"""
IS_HIT = """(element, [x, y]) => {
  const top = document.elementFromPoint(x, y);
  return top !== null && (element.contains(top) || top.contains(element));
}"""


# How long a finger stays for a tap.
TAP_S = 0.03


class Finger:
    """Of one radius, or of several by turns."""

    def __init__(self, page: Page, *radii: float) -> None:
        self.session: CDPSession = page.context.new_cdp_session(page)
        self.radii = cycle(radii)

    def touch(self, x: float, y: float, *, at: float | None = None) -> None:
        """At a time in seconds since 1970: to the page the touch came then, however slow the
        machine is."""
        radius = next(self.radii)
        point = {"x": x, "y": y, "radiusX": radius, "radiusY": radius, "force": 1}
        self._send("touchStart", [point], at)
        self._send("touchEnd", [], at and at + TAP_S)

    def _send(self, kind: str, points: list[dict[str, float]], at: float | None) -> None:
        event: dict[str, Any] = {"type": kind, "touchPoints": points}
        self.session.send("Input.dispatchTouchEvent", event | ({"timestamp": at} if at else {}))


class FingerPerson(Person):
    """Touches anywhere within what is to be touched, as long as nothing covers it there."""

    def __init__(self, page: Page, origin: str, *radii: float) -> None:
        super().__init__(page, origin)
        self.finger, self.rng = Finger(page, *radii), Random(radii[0])

    def touches(self, target: Locator, *, at: float | None = None) -> None:
        target.scroll_into_view_if_needed()
        point = self._point(target)
        if not target.evaluate(IS_HIT, point):
            target.evaluate("element => element.scrollIntoView({ block: 'center' })")
            point = self._point(target)
        assert target.evaluate(IS_HIT, point), f"Something covers {target}."
        self.finger.touch(*point, at=at)

    def chooses(self, number: int, by: str = MOUSE) -> None:
        """A candidate where it stands in the text as often as in the list."""
        name = self.page.locator(f"mark.mention[data-options~='{number}']")
        if by == TOUCH and name.count() and self.rng.random() < 0.5:
            self.touches(name.first)
        else:
            super().chooses(number, by)

    def _point(self, target: Locator) -> list[float]:
        boxes: list[Any] = target.evaluate(LINES)
        x, y, width, height = self.rng.choice(boxes)
        edge = min(1, width / 2)
        return [
            self.rng.uniform(x + edge, x + width - edge),
            y + height * self.rng.uniform(0.2, 0.8),
        ]

"""Pages that a test leaves to the next one: a new one starts a process, and what that reads and
compiles anew costs more than most tests. Each comes as if it were new. One on which a test did what
cannot be undone is closed."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page

# As in a browser that nobody set up; what can be asked for without a context of its own.
MEDIA: dict[str, Any] = {
    "color_scheme": "light",
    "reduced_motion": "no-preference",
    "forced_colors": "none",
    "contrast": "no-preference",
    "media": "null",
}
BLANK = "about:blank"
EMPTY = "localStorage.clear(); sessionStorage.clear(); name = ''"
# Where a new page takes the mouse to be.
CORNER = (0, 0)
# So many are kept, since each has a process.
MOST = 4
# What stays with a page, or with all pages beside it, for as long as they are open.
LASTING = {
    Page: {
        "add_init_script", "add_locator_handler", "close", "clock", "expose_binding",
        "expose_function", "once", "route_from_har", "route_web_socket",
        "set_default_navigation_timeout", "set_default_timeout", "set_extra_http_headers",
    },
    BrowserContext: {
        "add_init_script", "clock", "close", "expose_binding", "expose_function",
        "grant_permissions", "new_cdp_session", "on", "once", "route", "route_from_har",
        "route_web_socket", "set_default_navigation_timeout", "set_default_timeout",
        "set_extra_http_headers", "set_geolocation",
    },
}  # fmt: skip


class KeptPages:
    """Gives out pages, each in a context of its own, and takes back all that it gave."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.free: list[tuple[dict[str, Any], Page]] = []
        self.given: list[tuple[dict[str, Any], Page]] = []
        self.spent: set[BrowserContext] = set()
        self.listening: list[tuple[Page, Any, Any]] = []

    def give(self, size: tuple[int, int], **options: Any) -> Page:
        """Return an empty page of this size; options are those of `new_context`."""
        media = {name: options.pop(name, usual) for name, usual in MEDIA.items()}
        page = self._free(options) or self.browser.new_context(**options).new_page()
        self.given.append((options, page))
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(**media)
        return page

    def _free(self, options: dict[str, Any]) -> Page | None:
        for kept in self.free:
            if kept[0] == options:
                self.free.remove(kept)
                return kept[1]
        return None

    def take_back(self) -> None:
        for page, event, listener in self.listening:
            page.remove_listener(event, listener)
        for options, page in self.given:
            if page.context not in self.spent and empty(page):
                self.free.append((options, page))
            else:
                page.context.close()
        while len(self.free) > MOST:
            self.free.pop(0)[1].context.close()
        for noted in (self.listening, self.given, self.spent):
            noted.clear()

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """Note from now on what tests do to pages and contexts that lasts."""
        for kind, names in LASTING.items():
            for name in names:
                plain = getattr(kind, name)
                is_property = isinstance(plain, property)
                noting = self._noting(plain.fget if is_property else plain)
                patch.setattr(kind, name, property(noting) if is_property else noting)
        patch.setattr(Page, "on", self._listens(Page.on))

    def _noting(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(plain)
        def noting(owner: Page | BrowserContext, *args: Any, **options: Any) -> Any:
            self.spent.add(owner.context if isinstance(owner, Page) else owner)
            return plain(owner, *args, **options)

        return noting

    def _listens(self, plain: Callable[..., None]) -> Callable[..., None]:
        @wraps(plain)
        def on(page: Page, event: Any, f: Any) -> None:
            self.listening.append((page, event, f))
            plain(page, event, f)

        return on


def empty(page: Page) -> bool:
    """Leave nothing of a test's in a page and its context; false where that fails."""
    context = page.context
    try:
        for other in context.pages:
            if other != page:
                other.close()
        context.set_offline(False)
        page.unroute_all()
        # From within, so that it stays in its process and may still reach what it stored.
        page.evaluate(f"location.replace('{BLANK}')")
        page.wait_for_url(BLANK)
        page.evaluate(EMPTY)
        context.clear_cookies()
        page.mouse.move(*CORNER)
    except Error:
        return False
    return True

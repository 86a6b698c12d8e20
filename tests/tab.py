"""A tab without a browser: it shows a page, and sends that page's forms with what they carry."""

from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

from django.test import Client


class _Forms(HTMLParser):
    """The hidden fields of a page's forms, by where they lead."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, dict[str, str]] = {}
        self._current: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._current = self.fields.setdefault(given.get("action", ""), {})
        if tag == "input" and given.get("type") == "hidden":
            self._current[given["name"]] = given.get("value", "")


class Tab:
    """One tab: it shows a page, and sends that page's forms with what they carry."""

    def __init__(self, browser: Client, address: str) -> None:
        self.browser, self.address, self.text = browser, address, ""
        self.forms: dict[str, dict[str, str]] = {}
        self.open(address)

    def open(self, address: str) -> None:
        response = self.browser.get(address, follow=True)
        where = response.redirect_chain[-1][0] if response.redirect_chain else address
        self._show(response, where)

    def reload(self) -> None:
        self.open(self.address)

    def send(
        self, action: str, given: Mapping[str, str] | None = None, *, htmx: bool = False
    ) -> Any:
        form = {**self.forms[action], **(given or {})}
        headers = {"HX-Request": "true"} if htmx else {}
        response = self.browser.post(action, form, headers=headers, follow=True)
        if htmx:
            # The frame around the item stays as it was.
            self.forms |= forms_in(response.content.decode())
            self.text = response.content.decode()
        else:
            chain = response.redirect_chain
            self._show(response, chain[-1][0] if chain else self.address)
        return response

    def _show(self, response: Any, address: str) -> None:
        self.text, self.address = response.content.decode(), address
        self.forms = forms_in(self.text)


def forms_in(text: str) -> dict[str, dict[str, str]]:
    parser = _Forms()
    parser.feed(text)
    return parser.fields

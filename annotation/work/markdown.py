"""Texts that researchers write in Markdown, as HTML for a page."""

from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

# Raw HTML is shown as it was typed. A page loads nothing from elsewhere, so pictures are off; a
# line ends where the writer ended it.
_MARKDOWN = MarkdownIt("commonmark", {"html": False, "breaks": True}).disable("image")


@lru_cache(maxsize=256)
def markdown_html(text: str) -> SafeString:
    tokens = _MARKDOWN.parse(text)
    for token in tokens:
        _lower(token)
    html: str = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return mark_safe(html)  # the renderer escapes all that it did not make itself


def _lower(token: Token) -> None:
    """A page has its own first heading: those of a text stand below it."""
    if token.type in ("heading_open", "heading_close"):
        token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"

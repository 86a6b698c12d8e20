"""The documentation as the installation shows it: docs/ and nothing else, by the same files that
`make docs` makes a site of."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from posixpath import dirname, join, normpath

from django.conf import settings
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from config.documentation.generated import GENERATED

FOLDER = settings.BASE_DIR / "docs"
FIRST = "index"
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
# Lists of pages are for the site's margin: Sphinx alone reads them.
_DIRECTIVE = re.compile(r"^```\{toctree\}.*?^```$", re.MULTILINE | re.DOTALL)
_NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")


def page_names() -> list[str]:
    pages = FOLDER.rglob("*.md")
    return sorted(page.relative_to(FOLDER).with_suffix("").as_posix() for page in pages)


def page_file(name: str) -> Path | None:
    """Of a page that there is: the name comes from an address."""
    return FOLDER / f"{name}.md" if name in page_names() else None


@cache
def source(name: str) -> str:
    """As Sphinx reads it: the page, and what follows from the code."""
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    return f"{text}\n{GENERATED[name]()}" if name in GENERATED else text


@cache
def page_html(name: str, root: str) -> SafeString:
    """Its links lead to pages and pictures under the root."""
    tokens = _parsed(name)
    for token in tokens:
        for inner in token.children or []:
            _lead(inner, name, root)
    html: str = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return mark_safe(html)  # docs/ is the project's own, and raw HTML in it is shown as typed


def title(name: str) -> str:
    match = re.search(r"^# (.+)$", source(name), re.MULTILINE)
    return match[1] if match else name


def _parsed(name: str) -> list[Token]:
    tokens = _MARKDOWN.parse(_DIRECTIVE.sub("", source(name)))
    taken: set[str] = set()
    for heading, text in pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", _anchor(text.content, taken))
    return tokens


def _anchor(heading: str, taken: set[str]) -> str:
    """As GitHub and MyST make them."""
    plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    wanted = _NOT_IN_ANCHORS.sub("", plain.lower().replace(" ", "-"))
    anchor, again = wanted, 0
    while anchor in taken:
        again += 1
        anchor = f"{wanted}-{again}"
    taken.add(anchor)
    return anchor


def _lead(token: Token, name: str, root: str) -> None:
    for attribute in ("href", "src"):
        target = str(token.attrs.get(attribute, ""))
        if target and "://" not in target and not target.startswith(("#", "mailto:")):
            token.attrSet(attribute, root + address(resolved(name, target)))


def resolved(name: str, target: str) -> str:
    """A relative link of a page, from docs/ on."""
    return normpath(join(dirname(name), target))


def address(target: str) -> str:
    """explained/figures.md#s1 is at explained/figures/#s1; pictures are where they are."""
    path, hash_sign, anchor = target.partition("#")
    if path.endswith(".md"):
        path = path.removesuffix(".md").removesuffix(FIRST)
        path = f"{path}/" if path and not path.endswith("/") else path
    return path + hash_sign + anchor

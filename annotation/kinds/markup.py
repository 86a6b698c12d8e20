"""Texts that are more than plain, where a task says so: Markdown with tables and code, and
mathematics between dollars as MathML.

A formula that cannot be read whole, or whose MathML holds anything that is not on the lists below,
is shown as it was written; the audit of the import names it.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any
from xml.etree import ElementTree

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from annotation.models import Formula
from annotation.models.benchmark import Markup
from annotation.models.texts import checksum

register = template.Library()
# What a formula may be made of: nothing that loads, runs, leads elsewhere or is styled.
ELEMENTS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "ms", "mstyle", "mpadded", "mphantom"),
    *("msup", "msub", "msubsup", "mfrac", "msqrt", "mroot", "munder", "mover", "munderover"),
    *("mmultiscripts", "mprescripts", "mtable", "mtr", "mtd", "menclose"),
}
ATTRIBUTES = {
    *("display", "displaystyle", "scriptlevel", "mathvariant", "stretchy", "fence", "form"),
    *("separator", "accent", "accentunder", "movablelimits", "largeop", "symmetric", "minsize"),
    *("maxsize", "lspace", "rspace", "width", "height", "depth", "voffset", "linethickness"),
    *("columnalign", "rowalign", "columnlines", "rowlines", "columnspacing", "rowspacing"),
    "notation",
}
# Of how many parts some of them are made.
PARTS = {
    **dict.fromkeys(("mfrac", "mroot", "msup", "msub", "munder", "mover"), 2),
    **dict.fromkeys(("msubsup", "munderover"), 3),
}
NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
LONGEST, DEEPEST = 2_000, 40


@lru_cache(maxsize=4096)
def mathml(formula: str, *, display: bool = False) -> str:
    """The formula as MathML; empty where it cannot be read."""
    depths = accumulate({"{": 1, "}": -1}.get(sign, 0) for sign in formula)
    if len(formula) > LONGEST or max(depths, default=0) > DEEPEST:
        return ""
    try:
        made: str = convert(formula, display="block" if display else "inline")
        root = ElementTree.fromstring(made)
    except Exception:  # the library raises whatever its way through the formula leads to
        return ""
    return made if all(map(_is_allowed, root.iter())) else ""


@lru_cache(maxsize=4096)
def _kept(formula: str, *, display: bool) -> str:
    """The formula as the import made it; in a description written since, as it is made now."""
    kept = Formula.objects.filter(pk=_key(formula, display=display)).first()
    return mathml(formula, display=display) if kept is None else kept.mathml


def _key(formula: str, *, display: bool) -> str:
    return checksum([formula, display])


def formulas_in(texts: Iterable[str]) -> list[Formula]:
    """The mathematics of texts, made to be kept."""
    formulas = {
        (token.content.strip(), not token.type.endswith("math_inline"))
        for text in texts
        for token in _formulas(RICH.parse(text))
    }
    return [
        Formula(checksum=_key(formula, display=display), mathml=mathml(formula, display=display))
        for formula, display in formulas
    ]


def _is_allowed(element: ElementTree.Element) -> bool:
    """An unknown command would be printed by its name."""
    name = element.tag.removeprefix(NAMESPACE)
    is_command = len(element.text or "") > 1 and str(element.text).startswith("\\")
    is_whole = len(element) == PARTS.get(name, len(element))
    is_known = name in ELEMENTS and element.attrib.keys() <= ATTRIBUTES
    return is_known and is_whole and not is_command


def _formula_html(formula: str, options: dict[str, Any]) -> str:
    made = _kept(formula, display=bool(options.get("display_mode")))
    return made or f"<code>{escape(formula)}</code>"


# Raw HTML is shown as it was typed. A page loads nothing from elsewhere, so pictures are off; a
# line ends where the writer ended it.
MARKDOWN = MarkdownIt("commonmark", {"html": False, "breaks": True}).disable("image")
RICH = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table").disable("image")
# “$5 and $10” are amounts.
dollarmath_plugin(
    RICH,
    allow_labels=False,
    allow_space=False,
    allow_digits=False,
    double_inline=True,
    renderer=_formula_html,
)
# An item leads nowhere else, where somebody could look its answer up: a link is its text.
for end in ("open", "close"):
    RICH.add_render_rule(f"link_{end}", lambda *_: "")


def rendered(text: str, by: MarkdownIt = RICH) -> SafeString:
    """A page has its own first heading: those of a text stand below it."""
    tokens = by.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
        if style := str(token.attrs.pop("style", "")):  # which the page's policy forbids
            token.attrs["class"] = style.replace(":", "-")
    html: str = by.renderer.render(tokens, by.options, {})
    return mark_safe(html)  # the renderer escapes all that it did not make itself


@lru_cache(maxsize=256)
def markdown_html(text: str, markup: str = Markup.NONE) -> SafeString:
    """A description, or a text for consent; with mathematics where a task's markup says so."""
    return rendered(text, RICH if markup == Markup.MARKDOWN else MARKDOWN)


@register.filter
@lru_cache(maxsize=1024)
def in_blocks(text: str) -> SafeString:
    return rendered(text)


@register.filter
def in_line(text: str, markup: str) -> str:
    """A question or an option: without paragraphs; as it is where the task has plain texts."""
    return mark_safe(RICH.renderInline(text)) if markup == Markup.MARKDOWN else text


@register.filter
def blanks(text: str) -> SafeString:
    """A cloze question with a blank for @placeholder, in texts of either direction."""
    return mark_safe(escape(text).replace("@placeholder", '<bdi class="blank">_____</bdi>'))


def unreadable(text: str) -> list[str]:
    formulas = [token.content for token in _formulas(RICH.parse(text))]
    return [formula for formula in formulas if not mathml(formula)]


def _formulas(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        if token.type.startswith("math_"):
            yield token
        yield from _formulas(token.children or [])

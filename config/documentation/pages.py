"""The documentation as the installation shows it to everybody: docs/ and nothing else, by the same
files that `make docs` makes a site of. It tells nothing of the installation's data."""

import argparse
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import pairwise
from posixpath import dirname, join, normpath

from django import template
from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.core.management.base import DjangoHelpFormatter
from django.urls import reverse
from django.utils import translation
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from annotation.studies.exported_tables import EXPORTS
from scoring.analysis.tables import ALL, PROVENANCE
from scoring.comparison.row_tables import finding_table, interval_table, row_table
from scoring.episodes.board import EpisodeBoard
from scoring.episodes.tables import episode_tables
from scoring.leaderboard.board import Board
from scoring.leaderboard.tables import exported_tables

OURS = ("annotation", "scoring", "config")
# What every command of Django takes.
COMMON = (
    *("help", "version", "verbosity", "settings", "pythonpath", "traceback", "no_color"),
    *("force_color", "skip_checks"),
)
WIDTH = 88


def commands() -> str:
    return "\n".join(_command(name) for name in command_names())


def command_names() -> list[str]:
    """Django's own are left out, and what this project only changes in them."""
    own = [name for name, app in get_commands().items() if app in OURS]
    return sorted(name for name in own if name not in ("makemigrations", "migrate"))


def command_parser(name: str) -> argparse.ArgumentParser:
    app = get_commands()[name]
    assert isinstance(app, str)
    return load_command_class(app, name).create_parser("manage.py", name)


def _command(name: str) -> str:
    parser = command_parser(name)
    about = parser.description or ""
    parser.description = None
    parser.formatter_class = partial(DjangoHelpFormatter, width=WIDTH)
    for action in parser._actions:
        if action.dest in COMMON:
            action.help = argparse.SUPPRESS
    return f"## {name}\n\n{_escaped(about)}\n\n```text\n{parser.format_help().strip()}\n```\n"


def dictionary() -> str:
    with translation.override("en"):
        return "\n".join(_tables())


def _tables() -> Iterator[str]:
    for name, export in EXPORTS.items():
        rows = ([f"`{column.key}`", column.meaning] for column in export.columns)
        yield f"## {name}.csv\n\n{export.about}\n\n{_table(['column', 'meaning'], rows)}"
    of_scoring = [
        *(row_table("comparison", []), finding_table([]), interval_table([], {}), *ALL, PROVENANCE),
        *episode_tables(EpisodeBoard("", {("", False): 1, ("", True): 1}, ()), []),
        *exported_tables(Board("", (), (), (), (), ())),
    ]
    for table in of_scoring:
        rows = ([f"`{one.key}`", str(one.meaning), str(one.unit)] for one in table.columns)
        yield f"## {table.name}\n\n{_table(['column', 'meaning', 'unit'], rows)}"


def _table(heading: list[str], rows: Iterable[list[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    cells = ([text.replace("|", "\\|").replace("\n", " ") for text in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells) + "\n"


def _escaped(text: str) -> str:
    """Words with underscores are names, not emphasis; nothing here is HTML or a reference."""
    for sign in "\\<>*_[]":
        text = text.replace(sign, "\\" + sign)
    return text


GENERATED: dict[str, Callable[[], str]] = {
    "reference/commands": commands,
    "reference/dictionary": dictionary,
}


FOLDER = settings.BASE_DIR / "docs"
PICTURES = FOLDER / "screens"
FIRST = "index"
register = template.Library()
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
# Lists of pages are for the site's margin: Sphinx alone reads them.
_DIRECTIVE = re.compile(r"^```\{toctree\}.*?^```$", re.MULTILINE | re.DOTALL)
_NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")


def page_names() -> list[str]:
    pages = FOLDER.rglob("*.md")
    return sorted(page.relative_to(FOLDER).with_suffix("").as_posix() for page in pages)


@cache
def source(name: str) -> str:
    """As Sphinx reads it: the page, and what follows from the code."""
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    return f"{text}\n{GENERATED[name]()}" if name in GENERATED else text


@cache
def page_html(name: str, root: str) -> SafeString:
    """Its links lead to pages and pictures under the root."""
    tokens = tokens_of(name)
    taken: set[str] = set()
    for heading, text in pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", anchor(text.content, taken))
    for token in tokens:
        for inner in token.children or []:
            _lead(inner, name, root)
    html: str = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return mark_safe(html)  # docs/ is the project's own, and raw HTML in it is shown as typed


def title(name: str) -> str:
    match = re.search(r"^# (.+)$", source(name), re.MULTILINE)
    return match[1] if match else name


def tokens_of(name: str) -> list[Token]:
    return _MARKDOWN.parse(_DIRECTIVE.sub("", source(name)))


def anchor(heading: str, taken: set[str]) -> str:
    """As GitHub and MyST make them."""
    plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    wanted = _NOT_IN_ANCHORS.sub("", plain.lower().replace(" ", "-"))
    made, again = wanted, 0
    while made in taken:
        again += 1
        made = f"{wanted}-{again}"
    taken.add(made)
    return made


def _lead(token: Token, name: str, root: str) -> None:
    for attribute in ("href", "src"):
        target = str(token.attrs.get(attribute, ""))
        if target and "://" not in target and not target.startswith(("#", "mailto:")):
            token.attrSet(attribute, root + address(resolved(name, target)))


def resolved(name: str, target: str) -> str:
    return normpath(join(dirname(name), target))


def address(target: str) -> str:
    """explained/figures.md#s1 is at explained/figures/#s1; pictures are where they are."""
    path, hash_sign, anchor = target.partition("#")
    if path.endswith(".md"):
        path = path.removesuffix(".md").removesuffix(FIRST)
        path = f"{path}/" if path and not path.endswith("/") else path
    return path + hash_sign + anchor


@register.simple_tag
def docs(page: str) -> str:
    """The address of a page, as in {% docs "explained/figures#verdicts" %}: the installation's own,
    or where DOCS_URL says that the site is."""
    name, hash_sign, anchor = page.partition("#")
    if settings.DOCS_URL:
        return f"{settings.DOCS_URL}/{name}.html{hash_sign}{anchor}"
    return reverse("documentation") + address(f"{name}.md{hash_sign}{anchor}")

"""The documentation as the installation shows it to everybody: docs/ and nothing else, by the same
files that `make docs` makes a site of. It tells nothing of the installation's data."""

import argparse
import re
from collections.abc import Iterable
from functools import cache, partial
from itertools import chain
from posixpath import dirname, join, normpath
from typing import Any

from django import template
from django.conf import settings
from django.core.management import BaseCommand, get_commands, load_command_class
from django.core.management.base import DjangoHelpFormatter
from django.urls import reverse
from django.utils import translation
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin

from annotation.api.people import BATCHES, PERSON_COLUMNS, PROGRESS
from annotation.models.settings import SETTINGS, in_table
from annotation.studies.exported_tables import EXPORTS
from annotation.studies.study_file.reading import described
from scoring.analysis.tables import ALL, PROVENANCE
from scoring.comparison.row_tables import finding_table, interval_table, row_table
from scoring.episodes.board import EpisodeBoard
from scoring.episodes.tables import episode_tables
from scoring.leaderboard.board import Board
from scoring.leaderboard.tables import exported_tables


def command_parsers() -> dict[str, argparse.ArgumentParser]:
    """The parsers of commands, by name. Django's own are left out, and those that this project only
    changes."""
    formatter = partial(DjangoHelpFormatter, width=88)
    return {
        name: load_command_class(str(app), name).create_parser(
            "manage.py", name, formatter_class=formatter
        )
        for name, app in sorted(get_commands().items())
        if app in ("annotation", "scoring", "config") and name not in ("makemigrations", "migrate")
    }


def commands() -> str:
    of_every_command = {action.dest for action in BaseCommand().create_parser("", "")._actions}
    sections = []
    for name, parser in command_parsers().items():
        # Words with underscores are names, not emphasis; nothing here is HTML or a reference.
        about = re.sub(r"([\\<>*_\[\]])", r"\\\1", parser.description or "")
        parser.description = None
        for action in parser._actions:
            if action.dest in of_every_command:
                action.help = argparse.SUPPRESS
        sections.append(f"## {name}\n\n{about}\n\n```text\n{parser.format_help().strip()}\n```\n")
    return "\n".join(sections)


def dictionary() -> str:
    with translation.override("en"):
        exported = [export.table for export in EXPORTS.values()]
        tables = [
            *(row_table("comparison", []), finding_table([]), interval_table([], {})),
            *(*ALL, PROVENANCE),
            *episode_tables(EpisodeBoard("", {("", False): 1, ("", True): 1}, ()), []),
            *exported_tables(Board("", (), (), (), (), ())),
        ]
        sections = [
            *(_columns(f"{t.name}.csv\n\n{t.note}", t.columns, "meaning") for t in exported),
            *(_columns(table.name, table.columns, "meaning", "unit") for table in tables),
        ]
    return "\n".join(sections)


def study_file() -> str:
    tables = dict.fromkeys(setting.table for setting in SETTINGS)
    return "\n".join(
        _columns(
            f"`{NAMED_IN_FILE.get(table, f'[{table}]')}`",
            map(described, in_table(table).values()),
            *("type", "unit", "default", "changes", "meaning"),
            of="key",
        )
        for table in tables
    )


NAMED_IN_FILE = {
    "pools": "[[pools]]",
    "batches": "[[batches]]",
    "outcomes": "[outcomes.completed]",
}


def _columns(title: str, columns: Iterable[Any], *told: str, of: str = "column") -> str:
    """A section with a table of columns, and what is told of each."""
    rows = [[f"`{one.key}`", *(str(getattr(one, name)) for name in told)] for one in columns]
    lines = [[of, *told], ["---"] * (1 + len(told)), *rows]
    cells = ([text.replace("|", "\\|").replace("\n", " ") for text in line] for line in lines)
    return f"## {title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in cells)


def api_fields() -> str:
    sections = {
        "Fields of `progress/`": PROGRESS,
        "Of each of its `batches`": BATCHES,
        "Fields of `people/`": PERSON_COLUMNS,
    }
    return "\n".join(
        _columns(title, columns, "unit", "meaning", of="field")
        for title, columns in sections.items()
    )


GENERATED = {
    "reference/api": api_fields,
    "reference/commands": commands,
    "reference/dictionary": dictionary,
    "reference/study-file": study_file,
}
FOLDER = settings.BASE_DIR / "docs"
FIRST = "index"
register = template.Library()
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
# Headings are named as GitHub and MyST name them.
_MARKDOWN.use(anchors_plugin, max_level=6)


def page_names() -> list[str]:
    pages = FOLDER.rglob("*.md")
    return sorted(page.relative_to(FOLDER).with_suffix("").as_posix() for page in pages)


@cache
def source(name: str) -> str:
    """The page as Sphinx reads it, with what follows from the code."""
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    return f"{text}\n{GENERATED[name]()}" if name in GENERATED else text


@cache
def page_html(name: str, root: str) -> SafeString:
    """Its links lead to pages and pictures under the root."""
    tokens = tokens_of(name)
    for token in chain.from_iterable(token.children or () for token in tokens):
        for attribute in ("href", "src"):
            target = str(token.attrs.get(attribute, ""))
            if target and "://" not in target and not target.startswith(("#", "mailto:")):
                token.attrSet(attribute, root + address(normpath(join(dirname(name), target))))
    html: str = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return mark_safe(html)  # docs/ is the project's own, and raw HTML in it is shown as typed


def title(name: str) -> str:
    return source(name).partition("\n")[0].removeprefix("# ")


def tokens_of(name: str) -> list[Token]:
    """The page's tokens without lists of pages for the site's margin, which Sphinx alone reads."""
    return [token for token in _MARKDOWN.parse(source(name)) if token.info != "{toctree}"]


def address(target: str) -> str:
    """explained/figures.md#s1 is at explained/figures/#s1; pictures are where they are."""
    return re.sub(r"(^index|/index)?\.md(?=#|$)", "/", target).removeprefix("/")


@register.simple_tag
def docs(page: str) -> str:
    """The address of a page, as in {% docs "explained/figures#verdicts" %}: the installation's own,
    or where DOCS_URL says that the site is."""
    name, hash_sign, anchor = page.partition("#")
    if settings.DOCS_URL:
        return f"{settings.DOCS_URL}/{name}.html{hash_sign}{anchor}"
    return reverse("documentation") + address(f"{name}.md{hash_sign}{anchor}")

from html import escape

import pytest
from markdown_it import MarkdownIt

from scoring.tables.documents import as_markdown, beginning, escaped_markdown
from scoring.tables.table import Table
from tests.scoring.tables.harbours import LOGBOOK, TIDES


def test_escapes_what_would_break_a_cell() -> None:
    assert escaped_markdown("a|b\nc [d] `e` <f> *g* \\h") == r"a\|b c \[d] \`e\` \<f> \*g\* \\h"


def test_writes_title_note_table_and_the_notes_of_its_marks() -> None:
    assert as_markdown([TIDES]).splitlines() == [
        "## Tides",
        "",
        "Heights over the chart's zero.",
        "",
        "| Harbour |  | North Spring, m | North Neap, m | South Gauges |",
        "| --- | --- | --- | --- | --- |",
        r"| Aber\_deen & Co \[pilot book] | quay | 4.3 ± 0.3 \[4.0, 4.5]† | 3.0 | 2 |",
        r"| \[B\|r\*st] |  | 7.0 | – | 0 |",
        "",
        "† By ear & eye.",
    ]


def test_writes_several_tables_one_after_the_other() -> None:
    text = as_markdown([TIDES, LOGBOOK])
    assert text.index("## Tides") < text.index("## Logbook")
    assert "| =SUM(A1) | 1.00 | \\< 0.001 | yes |" in text


def test_escapes_notes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Table, "notes", {"*": "<img src=x onerror=alert(1)>"})
    assert "\n\\* \\<img src=x" in as_markdown([TIDES])


@pytest.mark.parametrize(
    "text",
    [
        *("# a", "> a", "- a", "+ a", "* a", "1. a", "1) a", "=== a", "--- a", "~~~ a", "a #"),
        *("<b>a</b>", "&lt;b&gt;", "[a](javascript:b)", "![a](b)", "`a`", "*a*", "<!-- a", "a\\"),
    ],
)
def test_sets_every_text_literally_where_a_line_begins(text: str) -> None:
    shown = MarkdownIt("commonmark", {"html": True}).render(beginning(text))
    assert shown == f"<p>{escape(text, quote=False)}</p>\n"
    heading = MarkdownIt("commonmark", {"html": True}).render(f"## {escaped_markdown(text)}")
    assert heading == f"<h2>{escape(text, quote=False)}</h2>\n"

import pytest

from scoring.tables.markdown import as_markdown, escaped
from scoring.tables.table import Table
from tests.scoring.tables.harbours import LOGBOOK, TIDES


def test_escapes_what_would_break_a_cell() -> None:
    assert escaped("a|b\nc [d] `e` <f> *g* \\h") == r"a\|b c \[d] \`e\` \<f> \*g\* \\h"


def test_writes_title_note_table_and_the_notes_of_its_marks() -> None:
    assert as_markdown([TIDES]).splitlines() == [
        "## Tides",
        "",
        "Heights over the chart's zero.",
        "",
        "| Harbour |  | North Spring, m | North Neap, m | South Gauges |",
        "| --- | --- | --- | --- | --- |",
        r"| Aber\_deen & Co \[pilot book] | quay | 4.3 (0.3) \[4.0, 4.5]† | 3.0 | 2 |",
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

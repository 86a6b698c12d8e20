import re
from dataclasses import replace

from django.template.loader import render_to_string

from scoring.tables.table import SECTION, Cell, Line, Table
from tests.scoring.tables.harbours import LOGBOOK, TIDES


def html(table: Table, **context: object) -> str:
    text = render_to_string("scoring/tables/_table.html", {"table": table, **context})
    return re.sub(r">\s*\n\s*<", "><", text)


def test_writes_figures_with_what_stands_beside_them() -> None:
    text = html(TIDES)
    assert (
        '4.3 <span class="soft">(0.3)</span><sup>†</sup><br>'
        '<span class="interval">[4.0, 4.5]</span>' in text
    )
    assert '2<br><span class="soft size">one of them new</span>' in text
    assert '<span class="soft">–</span>' in text
    assert "<li><sup>†</sup> By ear &amp; eye.</li>" in text


def test_names_its_lines() -> None:
    text = html(TIDES)
    assert (
        '<th scope="row" class="name">Aber_deen &amp; Co <span class="method">quay</span><br>'
        '<span class="soft source">pilot book</span></th>' in text
    )
    assert '<tr class="measured">' in text


def test_spans_columns_by_their_heads() -> None:
    text = html(TIDES)
    assert '<th scope="colgroup" colspan="2" class="task starts-task">North</th>' in text
    assert '<a href="/south/">South</a>' in text
    assert '<th scope="col" rowspan="2" class="name">Harbour</th>' in text
    assert '<th scope="col" class="number starts-task">Spring, m</th>' in text
    assert '<th scope="col" class="number">Neap, m</th>' in text


def test_has_one_row_of_heads_without_groups() -> None:
    text = html(LOGBOOK)
    assert '<thead><tr><th scope="col">Ship</th><th scope="col" class="number">Depth</th>' in text
    assert 'class="figures logbook records"' in text
    assert "<caption>" not in text


def test_captions_a_table_where_asked() -> None:
    assert "<caption>Logbook</caption>" in html(LOGBOOK, caption=True)


def test_links_and_ranks_names_and_heads_sections() -> None:
    lines = (
        Line({"harbour": Cell("Brest", rank=1, href="https://example.org/")}),
        Line({"harbour": "Elsewhere"}, kind=SECTION),
    )
    text = html(replace(TIDES, lines=lines))
    link = '<a href="https://example.org/" rel="nofollow noopener">Brest</a>'
    assert f'<span class="rank">1</span> {link}' in text
    assert '<th scope="rowgroup" class="name">Elsewhere</th><td class="number starts-task">' in text


def test_escapes_what_it_writes() -> None:
    text = html(replace(LOGBOOK, lines=(Line({"ship": "<script>"}),)))
    assert "&lt;script&gt;" in text

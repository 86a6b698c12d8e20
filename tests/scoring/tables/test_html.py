import re
from dataclasses import replace

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.test import RequestFactory

from scoring.tables.arranging import MOST_LINES, arranged, in_parts
from scoring.tables.table import SECTION, Cell, Column, Line, Table
from tests.scoring.tables.harbours import LOGBOOK, TIDES


def html(table: Table, *, request: HttpRequest | None = None, **context: object) -> str:
    text = render_to_string("scoring/tables/_table.html", {"table": table, **context}, request)
    # Roles keep a table a table where a narrow screen lays it out as cards.
    plain = re.sub(r' (role|data-label)="[^"]*"(?=[ >])', "", text)
    return re.sub(r"\s*\n\s*<", "<", plain)


def test_writes_figures_with_what_stands_beside_them() -> None:
    text = html(TIDES)
    assert (
        '4.3 <span class="soft">±&nbsp;0.3</span><sup>†</sup><br>'
        '<span class="interval">[4.0, 4.5]</span>' in text
    )
    assert '2<br><span class="soft size">one of them new</span>' in text
    assert '<span class="soft">–</span>' in text
    assert '<li><span class="mark">†</span> By ear &amp; eye.</li>' in text


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
    assert 'class="figures cards logbook records"' in text
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


def test_says_beneath_what_the_columns_mean() -> None:
    text = html(TIDES)
    assert "<dt>Spring, m</dt><dd>At full moon.</dd>" in text
    assert "<dt>Gauges</dt>" not in text
    assert "<details" not in html(LOGBOOK)


def test_escapes_what_it_writes() -> None:
    text = html(replace(LOGBOOK, lines=(Line({"ship": "<script>"}),)))
    assert "&lt;script&gt;" in text


def test_keeps_the_roles_of_a_table_and_labels_its_figures_for_cards() -> None:
    text = render_to_string("scoring/tables/_table.html", {"table": TIDES})
    assert '<td role="cell" data-label="North Spring, m" class="number starts-task">' in text
    assert text.count('role="row"') == len(TIDES.lines) + 2


def test_opens_a_figure_into_what_it_rests_on() -> None:
    cells = {
        "spring": Cell(
            4.0, sign="▼", in_words="low", opens=(("95 % interval", "[3.0, 5.0]"), ("", "n = 3"))
        )
    }
    text = html(replace(TIDES, lines=(Line(cells),), marks={"▼": "behind people"}))
    assert '<span aria-hidden="true">▼</span><span class="visually-hidden">low</span>' in text
    assert "<dt>95 % interval</dt> <dd>[3.0, 5.0]</dd>" in text
    assert '<span class="mark">▼</span> behind people' in text


def test_links_its_headings_to_their_orders() -> None:
    request = RequestFactory().get("/", {"references": "any"})
    text = html(arranged(LOGBOOK, sort="logbook:-depth"), request=request)
    assert 'href="?references=any&amp;sort=logbook%3Adepth"' in text
    assert 'aria-sort="descending"' in text


def test_puts_further_columns_behind_a_click_and_lets_wide_tables_choose() -> None:
    request = RequestFactory().get("/", {"references": "any", "columns-logbook": "depth"})
    text = html(arranged(LOGBOOK, columns=["depth"]), request=request)
    assert "<summary>1.00</summary><dl><div><dt>Ship</dt> <dd>" in text
    assert "chooser" not in text
    wide = replace(LOGBOOK, columns=tuple(Column(f"c{n}", f"C{n}") for n in range(9)))
    chooser = html(arranged(wide, columns=["c1"]), request=request)
    assert '<input type="hidden" name="references" value="any">' in chooser
    assert 'name="columns-logbook" value="c1" checked>' in chooser
    assert 'name="columns-logbook" value="c2">' in chooser


def test_opens_a_named_line_by_its_name_and_a_linked_one_beside_it() -> None:
    brest = Cell("Brest", aside="quay")
    cells: dict[str, Cell | float] = {"harbour": brest, "spring": 4.0, "neap": 3.0}
    shown = arranged(replace(TIDES, lines=(Line(cells),)), columns=["spring"])
    name = '<summary>Brest <span class="method">quay</span></summary>'
    request = RequestFactory().get("/")
    assert name in html(shown, request=request)
    linked = {**cells, "harbour": Cell("Brest", href="https://example.org/")}
    text = html(replace(shown, lines=(Line(linked),)), request=request)
    assert ">Brest</a>" in text
    assert "<summary>more</summary>" in text


def test_puts_the_sign_of_a_word_before_it_where_no_line_ends() -> None:
    text = html(replace(LOGBOOK, lines=(Line({"ship": Cell("behind people", sign="▼")}),)))
    assert '<span class="sign">▼</span>&nbsp;behind people' in text


def test_writes_a_long_table_in_parts_with_one_row_of_orders() -> None:
    ships = [Line({"ship": name, "depth": 1}) for name in "ab" * MOST_LINES]
    table = in_parts(arranged(replace(LOGBOOK, lines=tuple(ships))), "ship")
    text = html(table, request=RequestFactory().get("/"))
    assert text.count('<details class="lines">') == 2
    assert f'<summary>a <span class="soft">{MOST_LINES}</span></summary>' in text
    assert text.count('class="sort"') == len(LOGBOOK.columns)

from dataclasses import replace

from scoring.tables.table import laid_out
from tests.scoring.tables.harbours import LOGBOOK, TIDES


def test_gives_what_stands_aside_a_column_of_its_own() -> None:
    layout = laid_out(TIDES)
    assert [column.heading for column in layout.columns][:3] == ["Harbour", "", "Spring, m"]
    texts = [[cell.figure for cell in cells] for _, cells in layout.lines]
    assert [line[1] for line in texts] == ["quay", ""]
    assert {len(line) for line in texts} == {len(layout.columns)}
    assert len(laid_out(LOGBOOK).columns) == len(LOGBOOK.columns)


def test_spans_a_head_over_the_columns_that_were_split_too() -> None:
    assert laid_out(TIDES).heads == [("", 1), ("", 1), ("North", 2), ("South", 1)]
    aside = replace(TIDES.columns[1], key="harbour", heading="Port")
    grouped = replace(TIDES, columns=(aside, *TIDES.columns[2:]))
    assert laid_out(grouped).heads == [("North", 3), ("South", 1)]


def test_joins_a_figure_with_its_interval_and_marks() -> None:
    _, [_, _, spring, *_] = laid_out(TIDES).lines[0]
    assert (spring.figure, spring.interval, spring.marks) == ("4.3", "[4.0, 4.5]", "†")
    assert spring.in_one_line == "4.3 ± 0.3 [4.0, 4.5]†"

from dataclasses import replace

from scoring.tables.table import Table
from tests.scoring.tables.harbours import LOGBOOK, TIDES


def _heads(table: Table) -> list[tuple[str, int]]:
    return [(group.heading if group else "", len(columns)) for group, columns in table.heads]


def test_gives_what_stands_aside_a_column_of_its_own() -> None:
    table = TIDES.with_asides()
    assert [column.full_heading for column in table.columns][:3] == ["Harbour", "", "Spring, m"]
    texts = [[cell.figure for cell in line.cells] for line in table.read]
    assert [line[1] for line in texts] == ["quay", ""]
    assert {len(line) for line in texts} == {len(table.columns)}
    assert len(LOGBOOK.with_asides().columns) == len(LOGBOOK.columns)


def test_spans_a_head_over_the_columns_that_were_split_too() -> None:
    assert _heads(TIDES.with_asides()) == [("", 1), ("", 1), ("North", 2), ("South", 1)]
    aside = replace(TIDES.columns[1], key="harbour", heading="Port")
    grouped = replace(TIDES, columns=(aside, *TIDES.columns[2:]))
    assert _heads(grouped.with_asides()) == [("North", 3), ("South", 1)]


def test_joins_a_figure_with_its_interval_and_marks() -> None:
    _, _, spring, *_ = TIDES.with_asides().read[0].cells
    assert (spring.figure, spring.interval, spring.cell.marks) == ("4.3", "[4.0, 4.5]", "†")
    assert spring.in_one_line == "4.3 ± 0.3 [4.0, 4.5]†"

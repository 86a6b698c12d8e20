from dataclasses import replace

import pytest
from django.utils import translation

from scoring.tables.table import SECTION, Cell, Column, Group, Line, ReadCell, Table, Value
from tests.scoring.tables.harbours import LOGBOOK, NORTH, SOUTH, TIDES


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        (Column("a", "A", digits=1), 79.85, "79.8"),
        (Column("a", "A", digits=1), 80, "80"),
        (Column("a", "A"), 0.125, "0.125"),
        (Column("a", "A", digits=1), None, "–"),
        (Column("a", "A", is_number=False), None, ""),
        (Column("a", "A", digits=1), "all", "all"),
        (Column("a", "A", digits=3, least=0.001), 0.0009, "< 0.001"),
        (Column("a", "A", digits=3, least=0.001), 0.001, "0.001"),
        (Column("a", "A"), True, "yes"),
        (Column("a", "A"), False, "no"),
    ],
)
def test_reads_a_value_as_its_column_says(column: Column, value: Value, text: str) -> None:
    with translation.override("en"):
        assert column.read(value) == text


def test_reads_what_stands_beside_a_value_with_the_same_digits() -> None:
    part = TIDES.read[0].cells[1]
    assert (part.text, part.sd, part.interval) == ("4.3", "0.3", "[4.0, 4.5]")


def test_has_no_interval_of_one_limit() -> None:
    assert ReadCell(Column("a", "A", digits=1), Cell(1.0, low=0.5)).interval == ""


def test_keeps_numbers_as_they_are_in_its_records() -> None:
    assert TIDES.records == [
        {"harbour": "Aber_deen & Co", "spring": 4.26, "neap": 3.04, "gauges": 2},
        {"harbour": "[B|r*st]", "spring": 7.0, "neap": None, "gauges": 0},
    ]


def test_tells_the_marks_that_are_used_alone() -> None:
    assert TIDES.notes == {"†": "By ear & eye."}
    assert LOGBOOK.notes == {}


def test_puts_columns_beneath_the_heads_that_span_them() -> None:
    heads = [(group, [column.key for column in columns]) for group, columns in TIDES.heads]
    assert heads == [(None, ["harbour"]), (NORTH, ["spring", "neap"]), (SOUTH, ["gauges"])]
    assert TIDES.group_starts == {"spring", "gauges"}
    assert TIDES.has_two_heads
    assert not LOGBOOK.has_groups


def test_tells_heads_of_the_same_name_apart() -> None:
    north, other = Group("North", aside="old"), Group("North", aside="new")
    columns = (Column("a", "", group=north), Column("b", "", group=other))
    table = Table("t", "T", "", columns, ())
    assert list(map(table.group_of, columns)) == ["North (old)", "North (new)"]
    alone = replace(table, columns=columns[:1])
    assert alone.group_of(columns[0]) == "North"


def test_joins_title_and_note_to_a_caption() -> None:
    assert TIDES.caption == "Tides. Heights over the chart's zero."
    assert LOGBOOK.caption == "Logbook."


def test_leaves_out_columns_by_their_keys_and_texts_that_no_line_has() -> None:
    assert TIDES.without({"neap", "nothing"}).keys == ["harbour", "spring", "gauges"]
    bare = replace(LOGBOOK, lines=(Line({"docked": "yes"}),))
    assert bare.without_empty_texts().keys == ["depth", "p", "docked"]


def test_leaves_the_figures_of_a_section_empty() -> None:
    section = replace(TIDES, lines=(Line({"harbour": "Elsewhere"}, kind=SECTION),))
    [line] = section.read
    assert line.is_section
    assert [part.text for part in line.cells] == ["Elsewhere", "", "", ""]

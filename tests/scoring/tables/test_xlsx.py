from io import BytesIO
from typing import Any
from zipfile import ZipFile

from openpyxl import Workbook, load_workbook

from scoring.tables.table import Cell, Column, Line, Table
from scoring.tables.xlsx import LONGEST, as_xlsx, meanings
from tests.scoring.tables.harbours import LOGBOOK, TIDES


def book() -> Workbook:
    return load_workbook(BytesIO(as_xlsx([TIDES, LOGBOOK, meanings([TIDES, LOGBOOK])])))


def test_writes_each_table_on_a_sheet_of_its_own() -> None:
    assert book().sheetnames == ["tides", "logbook", "meanings"]
    head, first, second = book()["tides"].iter_rows(values_only=True)
    assert head == ("harbour", "spring", "neap", "gauges")
    assert first == ("Aber_deen & Co", 4.26, 3.04, 2)
    assert second == ("[B|r*st]", 7, None, 0)


def test_keeps_a_text_that_begins_like_a_formula_a_text() -> None:
    cell = book()["logbook"]["A2"]
    assert (cell.value, cell.data_type) == ("=SUM(A1)", "s")


def test_replaces_signs_that_a_workbook_cannot_hold() -> None:
    assert book()["logbook"]["A3"].value == 'a,"b"\nc�'


def test_cuts_a_text_that_is_longer_than_a_cell_and_shows_it() -> None:
    table = Table("tides", "", "", (Column("log", ""),), (Line({"log": Cell("x" * 40_000)}),))
    written = load_workbook(BytesIO(as_xlsx([table])))["tides"]["A2"].value
    assert written == "x" * (LONGEST - 1) + "…"


def test_a_sheet_to_read_keeps_a_figure_of_zero_beside_another() -> None:
    column = Column("height", "Height", digits=1)
    cells = [Cell(4.0, sd=0.0, low=0.0, high=9.5), Cell(5.0, sd=1.5, low=2.0, high=8.0)]
    lines = tuple(Line({"height": cell}) for cell in cells)
    document = as_xlsx([], to_read=[Table("tides", "Tides", "", (column,), lines)])
    sheet = load_workbook(BytesIO(document))["Tides"]
    rows = [[value for value in row if value is not None] for row in sheet.values]
    assert [4.0, 0.0, 0.0, 9.5] in rows
    assert [5.0, 1.5, 2.0, 8.0] in rows


def test_says_what_tables_and_columns_mean() -> None:
    rows: Any = book()["meanings"].iter_rows(min_row=2, values_only=True)
    told = dict(rows)
    assert told["tides"] == "Tides. Heights over the chart's zero."
    assert told["tides: spring"] == "At full moon."
    # Without a meaning of its own, a column is told by its heading.
    assert told["tides: gauges"] == "Gauges"


def test_keeps_the_time_of_saving_out_of_the_workbook() -> None:
    document = as_xlsx([TIDES])
    with ZipFile(BytesIO(document)) as archive:
        assert {part.date_time for part in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    about = load_workbook(BytesIO(document)).properties
    assert (about.created.year, about.modified.year) == (2000, 2000)
    assert as_xlsx([TIDES]) == document

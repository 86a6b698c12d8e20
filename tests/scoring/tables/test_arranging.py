from dataclasses import replace
from typing import Any

from scoring.tables.arranging import MOST_LINES, arranged, in_parts
from scoring.tables.table import SECTION, Cell, Column, Line, Table

COLUMNS = (
    Column("who", "Who", is_number=False, is_name=True),
    Column("depth", "Depth", digits=1),
    Column("berths", "Berths"),
)


def table(*lines: Line, **fields: Any) -> Table:
    return Table("harbours", "Harbours", "", COLUMNS, lines, **fields)


def line(who: str, depth: float | None, berths: int | str = 1, kind: str = "") -> Line:
    return Line({"who": Cell(who), "depth": depth, "berths": berths}, kind=kind)


def names(table: Table) -> list[object]:
    return [line.cell(table.columns[0]).value for line in table.lines]


THREE = table(line("b", 2.0), line("a", None), line("c", 10.0))


def test_sorts_by_a_column_with_what_lacks_a_value_last() -> None:
    assert names(arranged(THREE, sort="harbours:depth")) == ["b", "c", "a"]
    assert names(arranged(THREE, sort="harbours:-depth")) == ["c", "b", "a"]
    assert names(arranged(THREE, sort="harbours:who")) == ["a", "b", "c"]


def test_ignores_the_order_of_another_table_and_of_no_column() -> None:
    for sort in ("", "ships:depth", "harbours:width", "harbours", ":", "-depth"):
        assert names(arranged(THREE, sort=sort)) == ["b", "a", "c"]


def test_tells_the_order_and_what_a_click_gives() -> None:
    who, depth, berths = arranged(THREE, sort="harbours:-depth").columns
    assert (who.sort, who.order) == ("", "harbours:who")
    assert (depth.sort, depth.order) == ("descending", "harbours:depth")
    assert (berths.sort, berths.order) == ("", "harbours:-berths")


def test_sorts_numbers_before_words() -> None:
    mixed = table(line("a", 1.0, "all"), line("b", 1.0, 30), line("c", 1.0, 9))
    assert names(arranged(mixed, sort="harbours:berths")) == ["c", "b", "a"]


def test_leaves_the_parts_of_a_table_where_they_are() -> None:
    parts = table(line("b", 1.0), line("a", 2.0), Line({"who": "Not ranked"}, SECTION),
                  line("d", 3.0), line("c", 4.0))  # fmt: skip
    assert names(arranged(parts, sort="harbours:who")) == ["a", "b", "Not ranked", "c", "d"]


def test_keeps_lines_of_one_kind_together_if_asked_to() -> None:
    lines = (line("z", 1.0, kind="people"), line("b", 2.0), line("a", 3.0))
    assert names(arranged(table(*lines), sort="harbours:who")) == ["a", "b", "z"]
    together = table(*lines, keeps_kinds=True)
    assert names(arranged(together, sort="harbours:who")) == ["z", "a", "b"]


def test_puts_the_columns_of_choice_in_sight_and_the_others_behind_a_click() -> None:
    usual = arranged(THREE, usual=["depth"])
    assert [column.key for column in usual.columns] == ["who", "depth"]
    assert [[part.text for part in line.further] for line in usual.read] == [["1"]] * 3
    chosen = arranged(THREE, columns=["berths"], usual=["depth"])
    assert [column.key for column in chosen.columns] == ["who", "berths"]
    assert [column.key for column in arranged(THREE, columns=["width"]).columns] == [
        column.key for column in COLUMNS
    ]


def test_sorts_by_a_column_out_of_sight() -> None:
    assert names(arranged(THREE, sort="harbours:-depth", usual=["berths"])) == ["c", "b", "a"]


def many(**fields: Any) -> Table:
    """Lines in two ports, more than stay in one piece."""
    ports = ["north", "south"] * (1 + MOST_LINES // 2)
    lines = [Line({"who": f"h{n}", "depth": n, "port": p}) for n, p in enumerate(ports)]
    port = Column("port", "Port", is_number=False)
    return replace(table(*lines), columns=(*COLUMNS, port), **fields)


def test_shows_many_lines_in_parts_and_counts_what_they_come_to() -> None:
    north, south = in_parts(arranged(many()), "port", told="port").parts
    assert (north.heading, north.summary) == ("north", f"north {len(north.table.lines)}")
    assert [line.cells["depth"] for line in south.table.lines] == list(range(1, MOST_LINES + 2, 2))
    assert [column.key for column in north.table.columns] == ["who", "depth", "berths"]
    assert not any(column.order for column in north.table.columns)


def test_says_how_many_lines_a_part_has_where_nothing_else_is_told() -> None:
    parts = in_parts(many(), "port").parts
    assert [part.summary for part in parts] == [str(1 + MOST_LINES // 2)] * 2


def test_leaves_a_short_a_sorted_and_an_even_table_in_one_piece() -> None:
    short = replace(many(), lines=many().lines[:MOST_LINES])
    even = replace(many(), lines=many().lines[::2] * 3)
    for whole in (short, arranged(many(), sort="harbours:depth"), even):
        assert in_parts(whole, "port").parts == ()
    assert in_parts(many(), "quay").parts == ()


def test_sorts_and_parts_by_the_names_of_values() -> None:
    named = THREE.with_names("who", {"a": "Zadar", "b": "Brest"})
    assert names(arranged(named, sort="harbours:who")) == ["b", "c", "a"]
    many = table(*(line(who, 1.0) for who in "ab" * MOST_LINES)).with_names("who", {"a": "Zadar"})
    assert [part.heading for part in in_parts(many, "who").parts] == ["Zadar", "b"]

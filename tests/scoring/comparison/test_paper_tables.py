from collections.abc import Sequence
from dataclasses import replace

from scoring.cells.rows import SIMULATED, SIMULATED_CONSENSUS, Bound, Row, RowKind
from scoring.comparison.comparison import Comparison
from scoring.comparison.paper_tables import (
    PARTIAL,
    UNKNOWN,
    annotators_by_shots,
    people_table,
    system_tables,
)
from scoring.tables.table import Cell, Table

HUMAN = Row(RowKind.HUMAN, study="pilot", system="Human", task="sst2", shots=10, mean=80.0, sd=1.0,
            n=5,
            references="any", coverage=1.0)  # fmt: skip
RUN = Row(RowKind.RUN, system="BERT", method="FT", task="sst2", shots=10, mean=50.04, sd=2.0, n=5,
          references="any", coverage=1.0)  # fmt: skip
PUBLISHED = Row(RowKind.REPORTED, system="BERT", method="PT", task="sst2", shots="all", mean=91.9,
                references="unknown", source="CLUES Table 6")  # fmt: skip
PEOPLE = replace(PUBLISHED, system="Human", method=None, shots=10, source="CLUES Table 5")


def table_of(rows: Sequence[Row], bounds: Sequence[Bound] = ()) -> Comparison:
    return Comparison(rows=tuple(rows), bounds=tuple(bounds))


def names(table: Table) -> list[tuple[object, str]]:
    """Who stands in each line, with the method or shots."""
    cells = [line.cells["who"] for line in table.lines]
    return [(cell.value, cell.aside) for cell in cells if isinstance(cell, Cell)]


def places(table: Table) -> list[tuple[str, str]]:
    """Task, with its policy where there are several, and shots of the columns."""
    return [(c.group.heading, str(c.heading)) for c in table.columns if c.group]


def cells(table: Table, line: int) -> list[Cell]:
    return [table.lines[line].cell(column) for column in table.columns[1:]]


def test_puts_people_first_then_systems_by_method() -> None:
    [table] = system_tables(table_of([PUBLISHED, RUN, PEOPLE, HUMAN]))
    assert names(table) == [
        ("People", ""),
        ("Human, CLUES Table 5", ""),
        ("BERT", "FT"),
        ("BERT", "PT"),
    ]
    assert [line.kind for line in table.lines] == ["people", "people", "system", "system"]


def test_has_a_column_for_each_task_and_number_of_shots_supervised_last() -> None:
    rows = [PUBLISHED, RUN, replace(RUN, shots=0), replace(RUN, task="mnli", shots=30)]
    [table] = system_tables(table_of(rows))
    assert places(table) == [
        ("sst2", "0 shots"),
        ("sst2", "10 shots"),
        ("sst2", "all"),
        ("mnli", "30 shots"),
    ]


def test_puts_two_tasks_in_a_table() -> None:
    rows = [replace(RUN, task=task) for task in "abcde"]
    assert [table.title for table in system_tables(table_of(rows))] == ["a, b", "c, d", "e"]


def test_gives_a_task_with_many_columns_a_table_of_its_own() -> None:
    many = [replace(RUN, task="a", shots=shots) for shots in (0, 10, 20, 30, "all")]
    few = [replace(RUN, task="b", shots=shots) for shots in (10, 20, 30)]
    wide = [replace(row, task="c") for row in many]
    assert [table.title for table in system_tables(table_of([*many, *few, *wide]))] == ["a, b", "c"]
    assert [table.title for table in system_tables(table_of([*many, *wide]))] == ["a", "c"]


def test_puts_shots_down_and_tasks_across_for_people() -> None:
    rows = [HUMAN, replace(HUMAN, shots=0, mean=70.0), replace(HUMAN, task="mnli"), PEOPLE, RUN]
    table = people_table(table_of(rows))
    assert places(table) == [("sst2", ""), ("mnli", "")]
    assert names(table) == [
        ("People", "0 shots"),
        ("People", "10 shots"),
        ("Human, CLUES Table 5", "10 shots"),
    ]
    assert [cell.value for cell in cells(table, 0)] == [70.0, None]


def test_leaves_single_annotators_out_of_the_grids() -> None:
    person = replace(HUMAN, kind=RowKind.ANNOTATOR, system="BCDF", single=True)
    assert len(people_table(table_of([HUMAN, person])).lines) == 1
    assert len(system_tables(table_of([HUMAN, person]))[0].lines) == 1


def test_makes_a_table_for_each_number_of_shots_where_one_is_too_long() -> None:
    person = replace(HUMAN, kind=RowKind.ANNOTATOR, single=True, split=1)
    few = [HUMAN, *(replace(person, system=f"P{number:02}") for number in range(40))]
    none = [replace(row, shots=0) for row in few]
    tables = annotators_by_shots(table_of([*few, *none, PEOPLE]))
    found = [[aside for _, aside in names(table)] for table in tables]
    assert [len(lines) for lines in found] == [41, 42]
    assert [lines[0] for lines in found] == ["0 shots", "10 shots"]


def test_writes_mean_sd_and_interval_with_one_decimal() -> None:
    row = replace(HUMAN, mean=79.85, ci_low=70.04, ci_high=100.0)
    [line] = people_table(table_of([row])).read
    cell = line.cells[1]
    assert (cell.text, cell.sd, cell.interval) == ("79.8", "1.0", "[70.0, 100.0]")


def test_puts_figures_under_different_policies_into_columns_of_their_own() -> None:
    other = replace(PUBLISHED, shots=10, references="set", source="another paper")
    bounds = [Bound("sst2", "best_label", 56.2, "any", gold_version=1)]
    [table] = system_tables(table_of([HUMAN, other, replace(PUBLISHED, shots=10)], bounds))
    assert places(table) == [("sst2 (any)", "10 shots"), ("sst2 (set)", "10 shots")]
    assert [cell.value for cell in cells(table, 0)] == [80.0, None]
    # The figure of unknown policy goes beside the scored one.
    assert table.read[1].cells[0].figure == "BERT [another paper; CLUES Table 6]"
    assert [cell.marks for cell in cells(table, 1)] == [UNKNOWN, ""]
    assert [cell.value for cell in cells(table, 2)] == [56.2, None]


def test_puts_published_people_under_another_policy_into_a_column_of_their_own() -> None:
    table = people_table(table_of([HUMAN, replace(PEOPLE, references="set")]))
    assert places(table) == [("sst2 (any)", ""), ("sst2 (set)", "")]
    assert [[cell.value for cell in cells(table, line)] for line in (0, 1)] == [
        [80.0, None],
        [None, 91.9],
    ]


def test_marks_an_unknown_policy_and_partial_coverage() -> None:
    def marks(row: Row) -> str:
        return cells(system_tables(table_of([row]))[0], 0)[0].marks

    assert marks(PUBLISHED) == UNKNOWN
    assert marks(replace(RUN, coverage=0.99)) == PARTIAL
    assert marks(HUMAN) == ""


def test_puts_the_figures_of_one_system_from_two_tables_into_one_line() -> None:
    ner = replace(PUBLISHED, task="conll03", source="CLUES Table 7")
    [table] = system_tables(table_of([PUBLISHED, ner]))
    [line] = table.read
    assert line.cells[0].cell.note == "CLUES Table 6; CLUES Table 7"
    assert [cell.value for cell in cells(table, 0)] == [91.9, 91.9]


def test_keeps_two_figures_for_the_same_place_apart() -> None:
    [table] = system_tables(
        table_of([PUBLISHED, replace(PUBLISHED, mean=1.0, source="another paper")])
    )
    assert [line.cells[0].cell.note for line in table.read] == ["CLUES Table 6", "another paper"]


def test_puts_each_consensus_behind_its_people() -> None:
    simulated = replace(HUMAN, kind=RowKind.SIMULATED, system=SIMULATED)
    rows = [
        replace(HUMAN, kind=RowKind.CONSENSUS, system=SIMULATED_CONSENSUS),
        simulated,
        replace(HUMAN, kind=RowKind.CONSENSUS, system="Consensus"),
        PEOPLE,
        HUMAN,
    ]
    people = [str(name).split(", ")[0] for name, _ in names(people_table(table_of(rows)))]
    assert people == ["People", "Consensus", "Human", SIMULATED, SIMULATED_CONSENSUS]

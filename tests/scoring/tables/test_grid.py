from dataclasses import replace

from scoring.comparison.floors import Bound
from scoring.comparison.grid import (
    FEW,
    ONE,
    PARTIAL,
    UNKNOWN,
    people_grid,
    system_grids,
)
from scoring.comparison.rows import Row

HUMAN = Row("human", study="pilot", system="Human", task="sst2", shots=10, mean=80.0, sd=1.0, n=5,
            references="any", coverage=1.0)  # fmt: skip
RUN = Row("run", system="BERT", method="FT", task="sst2", shots=10, mean=50.04, sd=2.0, n=5,
          references="any", coverage=1.0)  # fmt: skip
PUBLISHED = Row("reported", system="BERT", method="PT", task="sst2", shots="all", mean=91.9,
                references="unknown", source="CLUES Table 6")  # fmt: skip
PEOPLE = replace(PUBLISHED, system="Human", method=None, shots=10, source="CLUES Table 5")


def test_puts_people_first_then_systems_by_method() -> None:
    [grid] = system_grids([PUBLISHED, RUN, PEOPLE, HUMAN])
    assert [(line.name, line.method) for line in grid.lines] == [
        ("Human, pilot", ""),
        ("Human, CLUES Table 5", ""),
        ("BERT", "FT"),
        ("BERT", "PT"),
    ]
    assert [line.kind for line in grid.lines] == ["people", "people", "system", "system"]


def test_has_a_column_for_each_task_and_number_of_shots_supervised_last() -> None:
    rows = [PUBLISHED, RUN, replace(RUN, shots=0), replace(RUN, task="mnli", shots=30)]
    [grid] = system_grids(rows)
    places = [(column.task, column.shots) for column in grid.columns]
    assert places == [("sst2", "0"), ("sst2", "10"), ("sst2", "all"), ("mnli", "30")]


def test_puts_two_tasks_in_a_table() -> None:
    rows = [replace(RUN, task=task) for task in "abcde"]
    assert [grid.title for grid in system_grids(rows)] == ["a, b", "c, d", "e"]


def test_gives_a_task_with_many_columns_a_table_of_its_own() -> None:
    many = [replace(RUN, task="a", shots=shots) for shots in (0, 10, 20, 30, "all")]
    few = [replace(RUN, task="b", shots=shots) for shots in (10, 20, 30)]
    wide = [replace(row, task="c") for row in many]
    assert [grid.title for grid in system_grids([*many, *few, *wide])] == ["a, b", "c"]
    assert [grid.title for grid in system_grids([*many, *wide])] == ["a", "c"]


def test_puts_shots_down_and_tasks_across_for_people() -> None:
    rows = [HUMAN, replace(HUMAN, shots=0, mean=70.0), replace(HUMAN, task="mnli"), PEOPLE, RUN]
    grid = people_grid(rows)
    assert [column.task for column in grid.columns] == ["sst2", "mnli"]
    assert [(line.name, line.method) for line in grid.lines] == [
        ("Human, pilot", "0 shots"),
        ("Human, pilot", "10 shots"),
        ("Human, CLUES Table 5", "10 shots"),
    ]
    assert grid.lines[0].cells[1] is None
    assert grid.lines[0].cells[0].mean == "70.0"


def test_leaves_single_annotators_out_of_the_grids() -> None:
    person = replace(HUMAN, kind="annotator", system="BCDF", single=True)
    assert len(people_grid([HUMAN, person]).lines) == 1
    assert len(system_grids([HUMAN, person])[0].lines) == 1


def test_writes_mean_sd_and_interval_with_one_decimal() -> None:
    row = replace(HUMAN, mean=79.85, ci_low=70.04, ci_high=100.0)
    assert people_grid([row]).lines[0].cells[0].text == "79.8 (1.0) [70.0, 100.0]"


def test_puts_figures_under_different_policies_into_columns_of_their_own() -> None:
    other = replace(PUBLISHED, shots=10, references="set", source="another paper")
    bounds = [Bound("sst2", "best_label", 56.2, "any", gold_version=1)]
    [grid] = system_grids([HUMAN, other, replace(PUBLISHED, shots=10)], bounds)
    assert [(c.shots, c.references) for c in grid.columns] == [("10", "any"), ("10", "set")]
    assert grid.tasks == [("sst2", "any", 1), ("sst2", "set", 1)]
    cells = {(line.name, line.note): line.cells for line in grid.lines}
    assert cells["Human, pilot", ""][1] is None
    # The figure whose policy nobody knows stands beside the scored one.
    under_any, under_set = cells["BERT", "another paper; CLUES Table 6"]
    assert (under_any.row.references, under_set.row.references) == ("unknown", "set")
    assert cells["No skill: the best single label everywhere", ""][1] is None


def test_puts_published_people_under_another_policy_into_a_column_of_their_own() -> None:
    grid = people_grid([HUMAN, replace(PEOPLE, references="set")])
    assert [column.references for column in grid.columns] == ["any", "set"]
    assert [[cell is None for cell in line.cells] for line in grid.lines] == [
        [False, True],
        [True, False],
    ]
    assert [grid.policy_of(column) for column in grid.columns] == ["any", "set"]


def test_marks_an_unknown_policy_partial_coverage_and_small_groups() -> None:
    def marks(row: Row) -> str:
        return system_grids([row])[0].lines[0].cells[0].marks

    assert marks(PUBLISHED) == UNKNOWN
    assert marks(replace(RUN, coverage=0.99)) == PARTIAL
    assert marks(replace(HUMAN, n=4)) == FEW
    assert marks(replace(HUMAN, n=1)) == ONE
    assert marks(replace(RUN, n=1)) == ONE
    assert marks(HUMAN) == ""


def test_puts_the_figures_of_one_system_from_two_tables_into_one_line() -> None:
    ner = replace(PUBLISHED, task="conll03", source="CLUES Table 7")
    [grid] = system_grids([PUBLISHED, ner])
    [line] = grid.lines
    assert line.note == "CLUES Table 6; CLUES Table 7"
    assert all(line.cells)


def test_keeps_two_figures_for_the_same_place_apart() -> None:
    [grid] = system_grids([PUBLISHED, replace(PUBLISHED, mean=1.0, source="another paper")])
    assert [line.note for line in grid.lines] == ["CLUES Table 6", "another paper"]


def test_puts_each_consensus_behind_its_people() -> None:
    simulated = replace(HUMAN, kind="simulated", system="Simulated annotators")
    rows = [
        replace(HUMAN, kind="consensus", system="Consensus, simulated"),
        simulated,
        replace(HUMAN, kind="consensus", system="Consensus"),
        PEOPLE,
        HUMAN,
    ]
    names = [line.name.split(", ")[0] for line in people_grid(rows).lines]
    assert names == ["Human", "Consensus", "Human", "Simulated annotators", "Consensus"]

import json
from copy import deepcopy
from itertools import product
from typing import Any

import numpy as np
import pytest

from annotation.models import Batch, Exclusion, Pool
from annotation.studies.lifecycle import start_study
from annotation.work.places import open_places
from scoring.analysis.analysing import analyse, analysis_tables, filled
from scoring.analysis.tables import ALL, AVERAGE_TESTS
from scoring.cells.scope import Choices, Scope
from scoring.comparison.keeping import plain
from tests import make
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


three_once = once_a_module(lambda: measured.cell([3, 4, 6]))
five_once = once_a_module(lambda: measured.cell([3, 4, 6, 5, 3]))


@pytest.fixture
def three(three_once: Batch) -> Batch:
    """Three people's."""
    return deepcopy(three_once)


@pytest.fixture
def five(five_once: Batch) -> Batch:
    """Five people's."""
    return deepcopy(five_once)


def quiet(done: int, total: int, message: str) -> None:
    pass


def scope_of(batch: Batch) -> Scope:
    return Scope(batch.study.benchmark, make.closed(batch.study))


def computed(batch: Batch, **choices: Any) -> dict:
    """As JSON keeps it."""
    analysis: dict = plain(analyse(scope_of(batch), Choices(**choices), quiet))
    return analysis


@pytest.mark.both_databases
def test_keeps_every_part_of_an_analysis_as_json(three: Batch) -> None:
    measured.run(three.task, wrong=3)
    analysis = computed(three)
    assert list(analysis) == [
        "tests",
        "systems",
        "changes",
        "uncertainty",
        "agreement",
        "curves",
        "aggregates",
        "average_tests",
        "excluded",
    ]
    assert json.loads(json.dumps(analysis, allow_nan=False)) == analysis
    assert [cell["n"] for cell in analysis["uncertainty"]] == [3]
    assert [cell["items"] for cell in analysis["agreement"]] == [6]


def test_tests_people_against_the_systems_with_the_same_shots(three: Batch) -> None:
    measured.run(three.task, wrong=3)
    measured.run(three.task, wrong=1, shots=10)
    [test] = computed(three)["tests"]
    assert (test["system"], test["shots"], test["n"], test["runs"]) == ("BERT-Base", 3, 3, 1)
    assert test["difference"] == pytest.approx(test["mean"] - test["other_mean"])
    # Three annotators allow no claim: the test is of no family.
    assert (test["outcome"], test["certainty"], test["p_holm"]) == ("too_few", None, None)


def test_adjusts_over_all_tests_of_the_comparison(five: Batch) -> None:
    for number in range(3):
        measured.run(five.task, wrong=1 + number, system=f"System {number}")
    tests = computed(five)["tests"]
    smallest = min(tests, key=lambda test: test["p"])
    assert smallest["p_holm"] == pytest.approx(min(1, 3 * smallest["p"]))


def test_lets_simulated_annotators_change_no_p_of_people(three: Batch) -> None:
    measured.run(three.task, wrong=3)
    open_places(three, simulated=True)
    for wrong in (4, 5, 7):
        make.worked_through(three, who=make.annotator("simulated"), wrong=wrong)
    [alone] = computed(three)["tests"]
    people, simulated = computed(three, simulated=True)["tests"]
    assert (people["simulated"], simulated["simulated"]) == (False, True)
    assert people == alone


def test_compares_more_shots_with_fewer(three: Batch) -> None:
    study = make.study(three.study.benchmark)
    few, many = make.batch(study, three.task, zero_shot=True), make.batch(study, three.task)
    make.start_study(study, at=make.NOON)
    for wrong in (1, 2, 4):
        make.worked_through(few, wrong=wrong)
    for wrong in (3, 4):
        make.worked_through(many, wrong=wrong)
    [change] = computed(many)["changes"]
    assert (change["shots"], change["other_shots"]) == (3, 0)
    # 0.5 of 6 items wrong with training, 7/3 of 6 without.
    assert change["difference"] == pytest.approx(100 * (7 / 3 - 0.5) / 6)


def test_makes_no_test_against_a_single_person_with_fewer_shots() -> None:
    few, many = _two_numbers_of_shots()
    make.worked_through(few, wrong=3)
    for wrong in (3, 4, 5, 3, 4, 6):
        make.worked_through(many, wrong=wrong)
    [change] = computed(many)["changes"]
    assert (change["n"], change["other_n"], change["outcome"]) == (6, 1, "too_few")
    assert change["p"] is change["low"] is change["se"] is None
    assert change["notes"] == "A single annotator: there is no test over people."


def test_says_nothing_of_a_change_when_either_side_is_small() -> None:
    few, many = _two_numbers_of_shots()
    for wrong in (1, 2, 4):
        make.worked_through(few, wrong=wrong)
    for wrong in (3, 4, 5, 3, 4, 6):
        make.worked_through(many, wrong=wrong)
    [change] = computed(many)["changes"]
    assert (change["n"], change["other_n"]) == (6, 3)
    assert (change["outcome"], change["p_holm"]) == ("too_few", None)
    assert change["low"] is not None


def _two_numbers_of_shots() -> tuple[Batch, Batch]:
    task = measured.cell([3]).task
    study = make.study(task.benchmark)
    few, many = make.batch(study, task, zero_shot=True), make.batch(study, task, wanted=6)
    make.start_study(study, at=make.NOON)
    return few, many


def test_shows_the_excluded_side_by_side() -> None:
    batch = measured.cell([3, 4, 9])
    assert computed(batch)["excluded"] == []
    Exclusion.objects.create(assignment=batch.assignments.last(), reason="random answers")
    [both] = computed(batch)["excluded"]
    assert (both["without_n"], both["with_n"]) == (2, 3)
    assert both["without_mean"] > both["with_mean"]


def test_names_method_policy_and_gold_version_in_every_table_of_figures() -> None:
    batch = measured.cell([3, 4, 9])
    measured.run(batch.task, wrong=1)
    Exclusion.objects.create(assignment=batch.assignments.last(), reason="random answers")
    tables = {table.name: table for table in analysis_tables(analyse(scope_of(batch), Choices()))}
    for name in ("tests", "uncertainty", "agreement", "excluded"):
        records = tables[name].records
        assert {(row["references"], row["gold_version"]) for row in records} == {("any", 1)}
    [cell] = tables["uncertainty"].records
    assert (cell["new_items_method"], cell["these_items_method"]) == ("none", "t")
    assert cell["new_items_low"] is None, "two people have the guard band alone"
    assert cell["guard_low"] is not None
    [both] = tables["excluded"].records
    assert (both["estimand"], both["with_m"]) == ("new_items", 6)
    assert both["with_ci_method"] == "wilson"
    [agreement] = tables["agreement"].records
    assert (agreement["n"], agreement["items"]) == (2, 6)


def test_draws_the_learning_curve_of_everybody_who_finished_training() -> None:
    batch = make.running_batch(wanted=4, training=3, tests=4, min_training_score=50)
    for wrong in (0, 1, 3):  # the last one is screened out
        make.worked_through(batch, wrong=wrong)
    assert batch.assignments.filter(outcome="screened_out").count() == 1
    [curve] = computed(batch)["curves"]
    assert curve["annotators"] == 3
    # Position 1: one of three right; position 3: two of three.
    assert [point["mean"] for point in curve["points"]] == pytest.approx(
        [100 / 3, 200 / 3, 200 / 3]
    )
    assert len(curve["by_annotator"]) == 3


def test_takes_consensus_where_more_than_half_agree() -> None:
    batch = measured.cell([3, 3, 9])
    analysis = computed(batch)
    assert [cell["consensus"] for cell in analysis["agreement"]] == [100]
    assert analysis["uncertainty"][0]["mean"] == pytest.approx(np.mean([100, 100, 0]))


def test_gives_the_guard_band_to_two_people_alone() -> None:
    [two] = computed(measured.cell([3, 5]))["uncertainty"]
    [three] = computed(measured.cell([3, 4, 6]))["uncertainty"]
    assert (two["guard_method"], two["guard_df"], two["new_items_method"]) == ("guard", 1, "none")
    assert (three["guard_method"], three["new_items_method"]) == ("none", "wilson")


def test_tells_its_progress() -> None:
    batch = measured.cell([3, 4])
    told: list[tuple[int, int]] = []
    analyse(scope_of(batch), Choices(), lambda done, total, _: told.append((done, total)))
    assert told == [(0, 4), (1, 4), (2, 4), (3, 4)]


def test_tests_systems_against_systems_as_a_family_of_their_own(five: Batch) -> None:
    for number, split in product(range(3), (1, 2)):
        measured.run(five.task, wrong=number, split=split, system=f"System {number}")
    analysis = computed(five)
    pairs = [(test["system"], test["other_system"]) for test in analysis["systems"]]
    assert pairs == [
        ("System 0", "System 1"),
        ("System 0", "System 2"),
        ("System 1", "System 2"),
    ]
    assert {test["family"] for test in analysis["systems"]} == {3}
    assert {test["family"] for test in analysis["tests"]} == {3}
    for test in analysis["systems"]:
        assert test["difference"] == pytest.approx(test["mean"] - test["other_mean"])
        assert (test["runs"], test["exploratory"]) == (2, False)
    names = [table.name for table in analysis_tables(analyse(scope_of(five), Choices()))]
    assert names[:2] == ["tests", "systems"]


def test_compares_systems_on_the_splits_that_both_have() -> None:
    batch = measured.cell([3])
    for split in (1, 2, 3):
        measured.run(batch.task, wrong=1, split=split, system="A")
    for split in (2, 3, 4):
        measured.run(batch.task, wrong=2, split=split, system="B")
    [test] = computed(batch)["systems"]
    assert (test["runs"], test["runs_left_out"], test["exploratory"]) == (2, 2, False)


def test_calls_systems_on_no_common_split_exploratory() -> None:
    batch = measured.cell([3])
    for system, split in (("A", 1), ("B", 2)):
        measured.run(batch.task, wrong=1, split=split, system=system)
    [test] = computed(batch)["systems"]
    assert (test["exploratory"], test["family"], test["p_holm"]) == (True, None, None)


def test_says_of_each_test_what_it_allows(five: Batch) -> None:
    measured.run(five.task, wrong=1)
    [test] = computed(five)["tests"]
    assert (test["outcome"], test["family"], test["margin"]) == ("open", 1, 0)
    assert (test["above"], test["certainty"], test["fragile"]) == (2, None, None)


def test_adjusts_each_study_by_itself() -> None:
    first = measured.cell([3, 4, 6, 5, 3])
    second = make.batch(make.study(first.study.benchmark), first.task, wanted=9)
    make.start_study(second.study, at=make.NOON)
    for wrong in (3, 4, 6, 5, 3):
        make.worked_through(second, wrong=wrong)
    measured.run(first.task, wrong=1)
    make.closed(first.study)
    assert len(analyse(Scope(first.study.benchmark), Choices()).tests) == 1
    make.closed(second.study)
    tests = analyse(Scope(first.study.benchmark), Choices()).tests
    assert [test["family"] for test in tests] == [1, 1]


def test_takes_single_runs_of_two_systems() -> None:
    batch = measured.cell([3])
    for number in range(2):
        measured.run(batch.task, wrong=number, system=f"System {number}")
    [test] = computed(batch)["systems"]
    assert test["p"] is not None
    assert test["runs"] == 1


def test_has_no_average_of_one_task() -> None:
    batch = measured.cell([3, 4, 5])
    tables = analysis_tables(analyse(scope_of(batch), Choices()))
    assert "aggregates" not in [table.name for table in tables]


def test_says_of_every_limit_what_it_is_of() -> None:
    headings = [column.heading for table in ALL for column in table.columns]
    assert not {"95 % low", "95 % high"} & set(headings)


def test_averages_name_their_pool() -> None:
    benchmark = make.benchmark()
    study = make.study(benchmark)
    pools = [Pool.objects.create(study=study, name=n, slug=n.lower()) for n in ("Crowd", "Experts")]
    tasks = [make.task(benchmark) for _ in range(2)]
    for task in tasks:
        for pool in pools:
            batch = make.batch(study, task, wanted=2)
            Batch.objects.filter(pk=batch.pk).update(pool=pool)
        measured.run(task, wrong=2)
    start_study(study, at=make.NOON)
    for batch in study.batches.all():
        for wrong in (1, 2):
            make.worked_through(batch, wrong=wrong)
    table = filled(AVERAGE_TESTS, analyse(Scope(benchmark, make.closed(study)), Choices()))
    assert [record["pool"] for record in table.records] == ["Crowd", "Experts"]

import json
from typing import Any

import numpy as np
import pytest

from annotation.models import Batch, Exclusion
from annotation.work.places import open_places
from scoring.comparison.analysing import analyse
from scoring.comparison.analysis_tables import analysis_tables
from scoring.comparison.cells import Choices
from scoring.comparison.scope import Scope
from tests import make
from tests.scoring.comparison import measured

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def quiet(done: int, total: int, message: str) -> None:
    pass


def scope_of(batch: Batch) -> Scope:
    return Scope(batch.study.benchmark, batch.study)


def computed(batch: Batch, **choices: Any) -> dict:
    return analyse(scope_of(batch), Choices(**choices), quiet)


def test_keeps_every_part_of_an_analysis_as_json() -> None:
    batch = measured.cell([3, 4, 6])
    measured.run(batch.task, wrong=3)
    found = computed(batch)
    assert list(found) == ["cells", "tests", "changes", "curves", "aggregates", "excluded"]
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    [cell] = found["cells"]
    assert cell["uncertainty"]["n"] == 3
    assert cell["accord"]["consensus"]["items"] == 6


def test_tests_people_against_the_systems_with_the_same_shots() -> None:
    batch = measured.cell([3, 4, 6])
    measured.run(batch.task, wrong=3)
    measured.run(batch.task, wrong=1, shots=10)
    [test] = computed(batch)["tests"]
    assert (test["system"], test["shots"], test["n"], test["r"]) == ("BERT-Base", 3, 3, 1)
    assert test["difference"] == pytest.approx(test["mean"] - test["other_mean"])
    assert test["p_holm"] == test["p_bh"] == test["p"]


def test_adjusts_over_all_tests_of_the_comparison() -> None:
    batch = measured.cell([3, 4, 6])
    for number in range(3):
        measured.run(batch.task, wrong=1 + number, system=f"System {number}")
    tests = computed(batch)["tests"]
    smallest = min(tests, key=lambda test: test["p"])
    assert smallest["p_holm"] == pytest.approx(min(1, 3 * smallest["p"]))


def test_lets_simulated_annotators_change_no_p_of_people() -> None:
    batch = measured.cell([3, 4, 6])
    measured.run(batch.task, wrong=3)
    open_places(batch, simulated=True)
    for wrong in (4, 5, 7):
        make.worked_through(batch, who=make.annotator("simulated"), wrong=wrong)
    [alone] = computed(batch)["tests"]
    people, simulated = computed(batch, simulated=True)["tests"]
    assert (people["simulated"], simulated["simulated"]) == (False, True)
    assert people == alone


def test_compares_more_shots_with_fewer() -> None:
    batch = measured.cell([3, 4, 6])
    study = make.study(batch.study.benchmark)
    few, many = make.batch(study, batch.task, zero_shot=True), make.batch(study, batch.task)
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
    assert (change["n"], change["r"]) == (6, 1)
    assert change["p"] is change["low"] is change["se"] is None
    assert change["exploratory"]
    assert change["notes"] == ["A single annotator: there is no test over people."]


def test_calls_a_change_exploratory_when_either_side_is_small() -> None:
    few, many = _two_numbers_of_shots()
    for wrong in (1, 2, 4):
        make.worked_through(few, wrong=wrong)
    for wrong in (3, 4, 5, 3, 4, 6):
        make.worked_through(many, wrong=wrong)
    [change] = computed(many)["changes"]
    assert (change["n"], change["r"], change["exploratory"]) == (6, 3, True)
    assert change["notes"] == ["Fewer than 5 annotators: exploratory."]


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
    assert (both["without"]["n"], both["with"]["n"]) == (2, 3)
    assert both["without"]["mean"] > both["with"]["mean"]


def test_names_method_policy_and_gold_version_in_every_table_of_figures() -> None:
    batch = measured.cell([3, 4, 9])
    measured.run(batch.task, wrong=1)
    Exclusion.objects.create(assignment=batch.assignments.last(), reason="random answers")
    tables = {table.name: table for table in analysis_tables(computed(batch))}
    for name in ("tests", "uncertainty", "agreement", "curves", "annotator-curves", "excluded"):
        records = tables[name].records
        assert {(row["references"], row["gold_version"]) for row in records} == {("any", 1)}
    assert tables["aggregates"].records[0]["references"] == "any"
    [cell] = tables["uncertainty"].records
    assert (cell["new_items_method"], cell["these_items_method"]) == ("satterthwaite-logit", "t")
    [both] = tables["excluded"].records
    assert (both["estimand"], both["with_m"]) == ("new_items", 6)
    assert both["with_ci_method"] == "satterthwaite-logit"
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
    [cell] = computed(batch)["cells"]
    assert cell["accord"]["consensus"]["mean"] == 100
    assert cell["uncertainty"]["mean"] == pytest.approx(np.mean([100, 100, 0]))


def test_puts_the_guard_band_beside_small_groups_alone() -> None:
    small = computed(measured.cell([3, 4, 6]))["cells"][0]["uncertainty"]
    large = computed(measured.cell([3, 4, 6, 5, 7]))["cells"][0]["uncertainty"]
    assert (small["guard"]["method"], small["guard"]["df"]) == ("guard", 2)
    assert small["guard"]["se"] == small["new_items"]["se"]
    assert large["guard"] is None


def test_tells_its_progress() -> None:
    batch = measured.cell([3, 4])
    told: list[tuple[int, int]] = []
    analyse(scope_of(batch), Choices(), lambda done, total, _: told.append((done, total)))
    assert told == [(0, 4), (1, 4), (2, 4), (3, 4)]

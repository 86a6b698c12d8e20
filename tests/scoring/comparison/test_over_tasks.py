import json
from dataclasses import replace
from pathlib import Path

import pytest

from scoring.cells.rows import Bound, Row, RowKind, no_skill
from scoring.contrasts.averages import averages

ROW = Row(
    RowKind.RUN, system="T5", method="FT", task="a", shots=30, mean=50.0, sd=3.0, coverage=1.0
)


def test_takes_the_mean_of_the_task_means_and_both_sds() -> None:
    [average] = averages([ROW, replace(ROW, task="b", mean=70.0, sd=4.0)], ["a", "b"])
    assert (average.mean, average.sd, average.clues_sd) == (60, 2.5, 5)


def test_calls_few_people_exploratory_and_no_system() -> None:
    people = replace(ROW, kind=RowKind.HUMAN, system="Human", method=None, n=3)
    published = replace(ROW, kind=RowKind.REPORTED, n=3, source="CLUES Table 5")
    found = {one.kind: one.has_too_few for one in averages([people, published, ROW], ["a"])}
    assert found == {RowKind.HUMAN: True, RowKind.REPORTED: False, RowKind.RUN: False}


def test_leaves_one_task_the_interval_that_its_cell_shows() -> None:
    two = replace(ROW, kind=RowKind.HUMAN, n=2, m=12, se=5.0, df=1.0, ci_low=9.2, ci_high=99.9)
    of_new = replace(two, ci_method="guard", estimand="new_items")
    [average] = averages([of_new], ["a"])
    assert (average.low, average.high, average.has_too_few) == (9.2, 99.9, True)
    [of_these] = averages([replace(of_new, estimand="these_items")], ["a"])
    assert of_these.low is None


def test_names_the_policies_that_its_tasks_were_scored_under() -> None:
    rows = [replace(ROW, references="any"), replace(ROW, task="b", references="set")]
    assert averages(rows, ["a", "b"])[0].references == ("any", "set")


def test_leaves_out_whoever_lacks_a_task() -> None:
    assert averages([ROW], ["a", "b"]) == []


def test_leaves_out_figures_that_do_not_cover_all_items() -> None:
    rows = [ROW, replace(ROW, task="b", coverage=0.5)]
    assert averages(rows, ["a", "b"]) == []


def test_keeps_shots_methods_and_studies_apart() -> None:
    rows = [ROW, replace(ROW, shots=10), replace(ROW, method="PT"), replace(ROW, study="pilot")]
    assert len(averages(rows, ["a"])) == 4


def test_gives_no_sd_where_one_is_missing() -> None:
    [average] = averages([replace(ROW, sd=None)], ["a"])
    assert (average.sd, average.clues_sd) == (None, None)


def test_meets_the_published_leaderboard(oracles: Path) -> None:
    published = json.loads((oracles / "clues_results.json").read_text())["scores"]
    reference = json.loads((oracles / "intervals_and_tests.json").read_text())
    rows = [
        Row(RowKind.REPORTED, system=score["system"], method=score["method"], task=score["task"],
            shots=score["shots"], mean=score["mean"], sd=score["sd"])
        for score in published
    ]  # fmt: skip
    expected = reference["aggregate_T5"]
    tasks = list(dict.fromkeys(row.task for row in rows))
    found = {(average.system, average.shots): average for average in averages(rows, tasks)}
    t5 = found["T5-Large", 30]
    assert t5.mean == pytest.approx(expected["mean"])
    assert t5.sd == pytest.approx(expected["sd_of_mean"])
    assert t5.clues_sd == pytest.approx(expected["clues_readme_sd_sqrt_sum_var"])


def test_names_no_skill_by_the_best_rule_that_the_form_allows() -> None:
    rules = {"empty": 10.0, "best_label": 56.0, "every_label": 66.0, "ceiling": 100.0}
    allowed = ("empty", "best_label")
    bounds = [
        Bound("sst2", rule, score, "any", 1, is_floor=rule in allowed)
        for rule, score in rules.items()
    ]
    assert no_skill(bounds) == {"sst2": 56.0}


def test_leaves_out_figures_under_another_policy_than_the_scored_ones() -> None:
    scored = [replace(ROW, task=task, references="any") for task in "ab"]
    published = [replace(row, kind=RowKind.REPORTED, system="GPT-3") for row in scored]
    known = [published[0], replace(published[1], references="set")]
    assert [average.system for average in averages([*scored, *known], ["a", "b"])] == ["T5"]
    unknown = [published[0], replace(published[1], references="unknown")]
    both = averages([*scored, *unknown], ["a", "b"])
    assert [average.system for average in both] == ["T5", "GPT-3"]

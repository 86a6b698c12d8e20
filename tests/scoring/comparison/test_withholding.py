import csv
import json
import re
from dataclasses import fields
from io import StringIO

import pytest
from django.test import Client

from annotation.models import Batch
from annotation.studies.lifecycle import close_study
from scoring.comparison.cells import Choices
from scoring.comparison.comparing import ComparisonTable, compare
from scoring.comparison.rows import Row
from scoring.comparison.scope import Scope
from scoring.comparison.withholding import SCORES, withheld_table
from tests import make
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db

OF_ITEMS = ("m", "ci_low", "ci_high", "ci_method", "estimand")


@pytest.fixture
def batch() -> Batch:
    """Seven items, so that means have many decimals."""
    made = measured.cell([3, 4, 5], tests=7)
    for split in (1, 2, 3):
        measured.run(made.task, wrong=split, split=split)
    close_study(made.study, at=make.NOON)
    return made


@pytest.fixture
def viewer(client: Client, batch: Batch) -> Client:
    client.force_login(make.member(batch.study, "viewer"))
    return client


def export(client: Client, batch: Batch) -> list[dict[str, str]]:
    address = f"/studies/{batch.study.slug}/comparison/export/csv/"
    return list(csv.DictReader(StringIO(client.get(address).content.decode())))


def withheld(batch: Batch, choices: Choices | None = None) -> ComparisonTable:
    return withheld_table(compare(Scope(batch.study.benchmark, batch.study), choices))


def row_of(table: ComparisonTable, kind: str) -> Row:
    return next(row for row in table.rows if row.kind == kind)


def test_a_system_shows_a_mean_and_its_sd_over_splits_from_rounded_means(batch: Batch) -> None:
    row = row_of(withheld(batch), "run")
    # 85.7, 71.4 and 57.1, each rounded.
    assert (row.mean, row.sd, row.n) == (71.4, 14.3, 3)
    assert [getattr(row, name) for name in OF_ITEMS] == [None] * len(OF_ITEMS)


def test_people_show_rounded_figures_and_one_person_a_mean_alone(batch: Batch) -> None:
    table = withheld(batch)
    cell, person = row_of(table, "human"), row_of(table, "annotator")
    for figure in (cell.mean, cell.sd, cell.ci_low, cell.ci_high, person.mean):
        assert figure is not None
        assert figure == round(figure, 1)
    assert (person.sd, person.ci_low) == (None, None)
    assert all(bound.score == round(bound.score, 1) for bound in table.bounds)


def test_people_show_no_score_before_their_study_is_closed() -> None:
    """The reader might join, and see what each answer does to the mean."""
    table = withheld(measured.cell([3, 4, 5], tests=7))
    people = [row for row in (*table.rows, *table.consensus) if row.study]
    assert {row.kind for row in people} == {"human", "annotator", "consensus"}
    for row in people:
        assert [getattr(row, name) for name in ("mean", "sd", *OF_ITEMS)] == [None] * 7
    assert not table.averages


def test_a_cell_of_one_person_is_that_person() -> None:
    made = measured.cell([3], tests=7)
    close_study(made.study, at=make.NOON)
    row = row_of(withheld(made), "human")
    assert row.mean == round(row.mean or 0, 1)
    assert [getattr(row, name) for name in OF_ITEMS] == [None] * len(OF_ITEMS)


def test_a_system_with_a_partial_run_shows_no_mean(batch: Batch) -> None:
    measured.run(batch.task, split=4, missing=1)
    row = row_of(withheld(batch), "run")
    assert (row.mean, row.sd, row.ci_low, row.n) == (None, None, None, 4)


def test_a_system_with_a_run_of_several_labels_shows_no_mean(batch: Batch) -> None:
    both = {item.example_id: ["bad", "good"] for item in batch.test_set.items.all()}
    measured.run(batch.task, split=4, answers=both)
    assert row_of(withheld(batch), "run").mean is None


@pytest.mark.parametrize("choices", [Choices(references="set"), Choices(gold_version=1)])
def test_another_policy_or_version_is_no_second_figure(batch: Batch, choices: Choices) -> None:
    assert row_of(withheld(batch, choices), "run").mean is None


def test_what_is_kept_for_those_who_see_gold_is_withheld_from_others(
    batch: Batch, viewer: Client, admin_client: Client
) -> None:
    [whole] = [row for row in export(admin_client, batch) if row["kind"] == "run"]
    assert whole["ci_low"]
    assert "." in whole["mean"]
    rows = export(viewer, batch)
    [run] = [row for row in rows if row["kind"] == "run"]
    assert [run[name] for name in OF_ITEMS] == [""] * len(OF_ITEMS)
    assert run["mean"] == "71.4"
    for row in rows:
        for name in ("mean", "sd", "ci_low", "ci_high"):
            assert re.fullmatch(r"(\d+(\.\d)?)?", row[name]), (name, row[name])
    assert export(admin_client, batch) != rows, "nor is what is withheld kept for all"


def test_the_page_links_only_to_what_its_reader_may_open(
    batch: Batch, viewer: Client, admin_client: Client
) -> None:
    address = f"/studies/{batch.study.slug}/comparison/"
    text, whole = (who.get(address).content.decode() for who in (viewer, admin_client))
    for rest in ("comparison/items/", "comparison/analysis/", "report/"):
        assert f"/studies/{batch.study.slug}/{rest}" in whole
        assert f"/studies/{batch.study.slug}/{rest}" not in text
    assert "71.4" in text


def test_the_json_has_no_hidden_figures(batch: Batch, viewer: Client) -> None:
    address = f"/studies/{batch.study.slug}/comparison/export/json/"
    rows = json.loads(viewer.get(address).content)["rows"]
    assert not {"released_mean", "released_sd", "units"} & set(rows[0])


def test_nothing_of_tests_or_of_single_persons_is_left(batch: Batch) -> None:
    scope = Scope(batch.study.benchmark, batch.study)
    whole, table = compare(scope), withheld(batch)
    assert whole.verdicts.cells
    assert whole.averages[0].low is not None
    assert (table.verdicts.cells, table.verdicts.averages) == ((), ())
    assert all(average.low is average.high is average.df is None for average in table.averages)
    for row in (*table.rows, *table.consensus):
        assert row.se is row.df is row.without_low is row.without_high is row.flagged is None


def test_a_consensus_shows_a_mean_alone(batch: Batch) -> None:
    [whole] = compare(Scope(batch.study.benchmark, batch.study)).consensus
    assert whole.ci_low is not None
    [row] = withheld(batch).consensus
    assert (row.ci_low, row.ci_method, row.m) == (None, None, None)


# What a reader without the gold may see of any row: who, on what, and how complete.
OPEN = {
    *("kind", "study", "system", "method", "task", "shots", "split", "references", "gold_version"),
    *("normalisation", "coverage", "parameters", "source", "single", "n", "splits", "shot_sets"),
    *("median_item_s", "interim"),
}
# And what else of the row of a kind, rounded; of people only once their study is closed.
RELEASED = {
    "run": {"mean", "sd", "released_mean", "released_sd"},
    "human": {*SCORES, "m", "ci_method", "estimand", "units", "notes"},
    "annotator": {"mean"},
    "consensus": {"mean"},
}


@pytest.mark.parametrize("kind", RELEASED)
def test_says_of_every_figure_whether_it_is_withheld(batch: Batch, kind: str) -> None:
    """A new column is either of no item, or withheld."""
    table = withheld(batch)
    shown = [row for row in (*table.rows, *table.consensus) if row.kind == kind]
    assert shown
    for row in shown:
        left = {field.name for field in fields(row) if getattr(row, field.name) is not None}
        assert left <= OPEN | RELEASED[kind]

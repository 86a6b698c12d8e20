import csv
import json
import re
from copy import deepcopy
from dataclasses import fields
from io import StringIO
from typing import Any, get_type_hints

import pytest
from django.test import Client

from annotation.models import Batch, GoldVersion
from annotation.studies.lifecycle import close_study
from scoring.cells import rows
from scoring.cells.rows import Row, RowKind, withheld_row
from scoring.cells.scope import Choices, Scope
from scoring.comparison.comparing import compare
from scoring.comparison.comparison import Comparison
from scoring.tables.table import OPEN, ROUNDED, Column, columns_in
from tests import make
from tests.every import every
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db

OF_ITEMS = ("ci_low", "ci_high", "ci_method", "estimand")


def made_batch() -> Batch:
    """Seven items, so that means have many decimals; five runs, so that there is an interval."""
    made = measured.cell([3, 4, 5], tests=7)
    for wrong in range(5):
        measured.run(made.task, wrong=wrong, at=make.NOON)
    close_study(made.study, at=make.NOON)
    return made


batch_once = once_a_module(made_batch)


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    return deepcopy(batch_once)


@pytest.fixture
def viewer(client: Client, batch: Batch) -> Client:
    client.force_login(make.member(batch.study, "viewer"))
    return client


def export(client: Client, batch: Batch) -> list[dict[str, str]]:
    address = f"/studies/{batch.study.slug}/comparison/export/csv/"
    return list(csv.DictReader(StringIO(client.get(address).content.decode("utf-8-sig"))))


def withheld(batch: Batch, choices: Choices | None = None) -> Comparison:
    return compare(Scope(batch.study.benchmark, batch.study), choices).without_gold()


def row_of(table: Comparison, kind: str) -> Row:
    return next(row for row in table.rows if row.kind == kind)


def test_a_system_shows_a_mean_and_its_sd_over_runs_from_rounded_means(batch: Batch) -> None:
    row = row_of(withheld(batch), "run")
    # 100, 85.7, 71.4, 57.1 and 42.9, each rounded.
    assert (row.mean, row.sd, row.n, row.m) == (71.4, 22.6, 5, 7)
    assert (row.matched, row.block) == (True, "")
    assert [getattr(row, name) for name in OF_ITEMS] == [None] * len(OF_ITEMS)


def test_people_show_rounded_figures_and_one_person_a_mean_alone(batch: Batch) -> None:
    table = withheld(batch)
    cell, person = row_of(table, "human"), row_of(table, "annotator")
    for figure in (cell.mean, cell.sd, cell.ci_low, cell.ci_high, person.mean):
        assert figure is not None
        assert figure == round(figure, 1)
    assert (person.sd, person.ci_low) == (None, None)
    assert every(bound.score == round(bound.score, 1) for bound in table.bounds)


def test_people_show_no_score_before_their_study_is_closed() -> None:
    """The reader might join, and see what each answer does to the mean."""
    table = withheld(measured.cell([3, 4, 5], tests=7))
    people = [row for row in (*table.rows, *table.consensus) if row.study]
    assert {row.kind for row in people} == {"human", "annotator", "consensus"}
    for row in people:
        assert [getattr(row, name) for name in ("mean", "sd", *OF_ITEMS)] == [None] * 6
    assert not table.averages


def test_a_cell_of_one_person_is_that_person() -> None:
    made = measured.cell([3], tests=7)
    close_study(made.study, at=make.NOON)
    row = row_of(withheld(made), "human")
    assert row.mean == round(row.mean or 0, 1)
    assert [getattr(row, name) for name in OF_ITEMS] == [None] * len(OF_ITEMS)


def test_a_partial_run_shows_no_mean_and_takes_none_from_the_whole_ones(batch: Batch) -> None:
    measured.run(batch.task, missing=1, at=make.NOON)
    rows = [row for row in withheld(batch).rows if row.kind == "run"]
    assert [(row.mean, row.block) for row in rows] == [(71.4, ""), (None, "incomplete")]


def test_a_system_with_a_run_of_several_labels_shows_no_mean(batch: Batch) -> None:
    both = {item.example_id: ["bad", "good"] for item in batch.test_set.items.all()}
    measured.run(batch.task, answers=both, at=make.NOON)
    assert row_of(withheld(batch), "run").mean is None


def test_a_system_beside_people_on_a_part_shows_the_mean_of_the_whole_set_below() -> None:
    """A second mean, over fewer items, would tell their golds."""
    batch = measured.on_a_part()
    for wrong in range(5):
        measured.run(batch.task, wrong=wrong, at=make.NOON)
    close_study(batch.study, at=make.NOON)
    whole = row_of(compare(Scope(batch.study.benchmark, batch.study)), "run")
    assert (whole.m, whole.matched, whole.block) == (3, True, "")
    row = row_of(withheld(batch), "run")
    assert (row.mean, row.m, row.matched, row.block) == (71.4, 7, False, "other")
    everything = row_of(withheld(batch, Choices(runs="all")), "run")
    assert (everything.mean, everything.m, everything.block) == (row.mean, 7, "")
    of_benchmark = compare(Scope(batch.study.benchmark)).without_gold()
    assert row_of(of_benchmark, "run").block == ""


@pytest.mark.parametrize("choices", [Choices(references="set"), Choices(gold_version=1)])
def test_another_policy_or_version_is_no_second_figure(batch: Batch, choices: Choices) -> None:
    assert row_of(withheld(batch, choices), "run").mean is None


def test_another_policy_tells_nothing_of_what_takes_no_skill(batch: Batch) -> None:
    assert withheld(batch).bounds
    assert not withheld(batch, Choices(references="set")).bounds


def test_no_version_of_the_gold_is_chosen_by_who_may_not_see_it(
    batch: Batch, viewer: Client, admin_client: Client
) -> None:
    """What a correction of one gold moves would tell it."""
    GoldVersion.objects.create(task=batch.task, number=2, reason="a typo")
    address = f"/studies/{batch.study.slug}/comparison/"
    for rest in ("", "export/csv/", "shots/svg/"):
        assert viewer.get(address + rest, {"gold_version": "1"}).status_code == 403
        assert admin_client.get(address + rest, {"gold_version": "1"}).status_code == 200
    for who, is_offered in ((viewer, False), (admin_client, True)):
        assert ('name="gold_version"' in who.get(address).content.decode()) is is_offered


def test_says_to_whom_verdicts_are_shown(
    batch: Batch, viewer: Client, admin_client: Client
) -> None:
    address = f"/studies/{batch.study.slug}/comparison/"
    for who, is_told in ((viewer, True), (admin_client, False)):
        assert ("You see means alone" in who.get(address).content.decode()) is is_told


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
    for rest in ("comparison/items/", "comparison/analysis/"):
        assert f"/studies/{batch.study.slug}/{rest}" in whole
        assert f"/studies/{batch.study.slug}/{rest}" not in text
    # Of a closed study it is open to viewers too.
    assert f"/studies/{batch.study.slug}/report/" in text
    assert "71.4" in text


def test_the_json_has_no_hidden_figures(batch: Batch, viewer: Client) -> None:
    address = f"/studies/{batch.study.slug}/comparison/export/json/"
    rows = json.loads(viewer.get(address).content)["rows"]
    assert not {"released", "se", "df", "block"} & set(rows[0])


def test_nothing_of_tests_or_of_single_persons_is_left(batch: Batch) -> None:
    scope = Scope(batch.study.benchmark, batch.study)
    whole, table = compare(scope), withheld(batch)
    assert whole.tests
    assert whole.averages[0].low is not None
    kept = (table.tests, table.average_tests, table.changes, table.systems, table.including)
    assert kept == ((),) * 5
    assert every(average.low is average.high is average.df is None for average in table.averages)
    for row in (*table.rows, *table.consensus):
        assert row.se is row.df is row.without_low is row.without_high is row.flagged is None


def test_a_consensus_shows_a_mean_alone(batch: Batch) -> None:
    [whole] = compare(Scope(batch.study.benchmark, batch.study)).consensus
    assert whole.ci_low is not None
    [row] = withheld(batch).consensus
    assert (row.ci_low, row.ci_method) == (None, None)


# What a reader without the gold may see of any row: who, on what, and how complete.
OPENED = {
    *("kind", "study", "system", "method", "task", "shots", "split", "references", "gold_version"),
    *("normalisation", "coverage", "parameters", "source", "single", "n", "m", "splits"),
    *("shot_sets", "median_item_s", "released", "is_of_episodes", "pool", "group", "matched"),
    *("block", "after_checks", "shows_no_skill", "was_to_reason"),
}
# And what else of a row, rounded; of people only once their study is closed.
OF_CELLS = {
    *("mean", "sd", "ci_low", "ci_high", "ci_method", "estimand", "notes"),
}
RELEASED: dict[RowKind, set[str]] = {
    RowKind.RUN: set(),
    RowKind.HUMAN: OF_CELLS,
    RowKind.ANNOTATOR: {"mean"},
    RowKind.CONSENSUS: {"mean"},
}


def filled(kind: RowKind) -> Row:
    """With a figure of many decimals, or a text, in every field."""
    hints = get_type_hints(Row)
    figures: dict[str, Any] = {
        one.name: 12.345678 if hints[one.name] == float | None else 3 for one in fields(Row)
    }
    told = {"mean": 50.0, "sd": 1.0, "n": 3, "m": 3, "matched": True}
    return Row(**{**figures, "kind": kind, "single": kind == RowKind.ANNOTATOR, "released": told})


@pytest.mark.parametrize("kind", RELEASED)
@pytest.mark.parametrize("is_interim", [False, True])
def test_shows_of_every_field_what_its_column_says(kind: RowKind, is_interim: bool) -> None:
    whole = filled(kind)
    row = withheld_row(whole, is_interim=is_interim)
    released = set() if is_interim else RELEASED[kind]
    for one in fields(Row):
        shown, before = getattr(row, one.name), getattr(whole, one.name)
        if kind == RowKind.RUN and one.name in whole.released:
            assert shown == whole.released[one.name]
        elif one.name in OPENED:
            assert shown == before
        elif one.name not in released:
            assert shown == one.default, one.name
        else:
            assert shown == (12.3 if isinstance(before, float) else before)


def test_every_column_says_whether_it_is_withheld() -> None:
    """One that says nothing would be hidden, and nobody would know why."""
    described = columns_in(rows.__file__, "row")
    assert list(described) == [one.name for one in fields(Row)]
    assert [column.key for column in described.values() if not column.without_gold] == []


def test_a_column_that_says_nothing_is_hidden() -> None:
    assert Column("new", "New").without_gold not in (OPEN, ROUNDED)

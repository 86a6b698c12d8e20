"""Items by group: a filter of every figure, and rows of their own."""

import json
from copy import deepcopy

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Batch, Example
from scoring.cells.rows import GROUPED
from scoring.cells.scope import Choices, Scope
from scoring.comparison.comparing import compare
from scoring.comparison.documents import FORMATS, overview
from tests import make
from tests.made_once import once_a_module
from tests.scoring.comparison import measured


def made_batch() -> Batch:
    """Five people over six items, the first four of which are fine; a run that has the first two
    wrong."""
    made = measured.cell([3, 4, 5, 6, 7], tests=6)
    examples = [item.example for item in made.test_set.items.select_related("example")]
    for number, example in enumerate(examples):
        example.groups = {"error_type": ("OK", "ok", "Ok", "OK", "Expert", "No answer")[number]}
    with make.unlocked():
        Example.objects.bulk_update(examples, ["groups"])
    measured.run(made.task, wrong=2)
    return made


batch_once = once_a_module(made_batch)


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    return deepcopy(batch_once)


def means(
    batch: Batch, items: str = "", by: str = ""
) -> dict[tuple[str | None, str, str | None], float]:
    table = compare(Scope(batch.study.benchmark, batch.study), Choices(items=items, by=by))
    return {
        (row.system, row.block, row.group): round(row.mean or 0, 2)
        for row in table.rows
        if not row.single
    }


def answered_right(batch: Batch, places: range) -> float:
    """The plain share, item by item."""
    items = [item.example_id for item in batch.test_set.items.all()[places.start : places.stop]]
    right = [
        json.loads(json.dumps(judgement.answer)) == measured.gold(judgement.example)
        for assignment in batch.assignments.all()
        for judgement in assignment.judgements.filter(example__in=items).select_related("example")
    ]
    return round(100 * sum(right) / len(right), 2)


@pytest.mark.django_db
def test_takes_only_the_items_of_a_group_whatever_their_case(batch: Batch) -> None:
    make.closed(batch.study)
    figures = means(batch, items="error_type=ok")
    assert figures == {
        ("Human", "", "error_type=ok"): answered_right(batch, range(4)),
        ("BERT-Base", "", "error_type=ok"): 50,
    }
    table = compare(Scope(batch.study.benchmark, batch.study), Choices(items="error_type=ok"))
    assert {row.m for row in table.rows} == {4}
    assert {row.coverage for row in table.rows} == {1.0}
    assert {test.m for test in table.tests} == {4}
    assert "Only items whose error_type is ok." in table.provenance


@pytest.mark.django_db
def test_has_a_row_for_every_group_below_the_figures_of_all(batch: Batch) -> None:
    figures = means(batch, by="error_type")
    assert figures[("BERT-Base", "", None)] == round(100 * 4 / 6, 2)
    assert figures[("BERT-Base", GROUPED, "error_type=OK")] == 50
    assert figures[("BERT-Base", GROUPED, "error_type=Expert")] == 100
    assert figures[("Human", GROUPED, "error_type=No answer")] == answered_right(batch, range(5, 6))
    scope = Scope(batch.study.benchmark, make.closed(batch.study))
    whole, split = compare(scope), compare(scope, Choices(by="error_type"))
    assert split.rows[: len(whole.rows)] == whole.rows
    assert [str(test) for test in split.tests] == [str(test) for test in whole.tests]
    text = FORMATS["markdown"].write(split).decode()
    assert "By group of items: exploratory" in text
    assert "People, error\\_type: Expert" in text
    rows = json.loads(FORMATS["json"].write(split))["rows"]
    assert {row["group"] for row in rows} == {
        *(None, "error_type=OK", "error_type=Expert", "error_type=No answer")
    }


@pytest.mark.django_db
def test_shows_people_and_systems_of_one_group_together(batch: Batch) -> None:
    choices = Choices(by="error_type")
    shown = overview(compare(Scope(batch.study.benchmark, make.closed(batch.study)), choices), "3")
    who = shown.columns[0]
    names = [str(line.cell(who).value) for line in shown.lines if line.kind == GROUPED]
    assert names == [
        f"{name}, error_type: {group}"
        for group in ("Expert", "No answer", "OK")
        for name in ("People", "BERT-Base")
    ]


@pytest.mark.django_db
def test_leaves_out_tasks_without_such_items(batch: Batch) -> None:
    assert means(batch, items="subject=art") == {}
    with pytest.raises(ValueError, match="NAME=VALUE"):
        Choices(items="art")


@pytest.mark.django_db
def test_is_chosen_on_the_page_by_those_who_may_see_the_gold(client: Client, batch: Batch) -> None:
    address = reverse("scoring:comparison", args=["study", batch.study.slug])
    client.force_login(make.member(batch.study))
    page = client.get(address, {"items": "error_type=OK"}).content.decode()
    assert '<option value="error_type=OK" selected>' in page
    assert "Only items whose error_type is OK." in page
    page = client.get(address, {"by": "error_type"}).content.decode()
    assert "People, error_type: Expert" in page
    client.force_login(make.member(batch.study, role="viewer"))
    assert client.get(address, {"items": "error_type=OK"}).status_code == 403

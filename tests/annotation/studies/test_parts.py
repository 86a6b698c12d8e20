"""A test set handed out in parts, a part to a person."""

from collections import Counter

import pytest
from django.test import Client
from django.urls import reverse

from annotation.benchmarks.correcting import correct_gold
from annotation.models import Item, Study
from annotation.models.errors import BadInput
from annotation.studies.cutting import cut_into_parts
from annotation.studies.drafting import possible_batches
from annotation.studies.lifecycle import start_study
from scoring.cells.scope import Scope
from scoring.comparison.comparing import compare
from scoring.planning.designs import Assumptions, design_of
from scoring.report.documents import Report, as_text
from scoring.report.preregistration import Registered, as_markdown
from scoring.studies.building import BatchOptions, add_chosen, build
from tests import make
from tests.batching import select_shots

pytestmark = pytest.mark.django_db


def draft(tests: int = 20) -> Study:
    benchmark = make.benchmark()
    make.task(benchmark, training=3, tests=tests, slug="towns")
    return make.study(benchmark)


def test_cuts_whole_contexts_into_parts_the_same_ones_again() -> None:
    study = draft(30)
    task = study.benchmark.tasks.get()
    whole = task.item_sets.get(name="test")
    parts = cut_into_parts(whole, 8, 3, seed=4)
    assert [part.name for part in parts] == [f"test-part-8x3-4-{n}" for n in range(1, 13)]
    held = Counter(Item.objects.filter(item_set__in=parts).values_list("example", flat=True))
    assert set(held.values()) == {3}
    assert len(held) == 30
    assert {part.items.count() for part in parts} == {7, 8}
    assert cut_into_parts(whole, 8, 3, seed=4) == parts
    with pytest.raises(BadInput, match="No layout of 30 items in parts of 1"):
        cut_into_parts(whole, 1, 3)


def test_is_built_on_the_page_and_told_before(client: Client) -> None:
    study = draft()
    client.force_login(make.member(study))
    address = reverse("scoring:builder", args=[study.slug])
    ticked = {"cells": ["towns:0"], "wanted": 5, "seconds": 10, "items": 10, "viewers": 3}
    page = client.post(address, {**ticked, "look": 1}).content.decode()
    assert "<dt>Places</dt><dd>6</dd>" in page
    assert "6 batches are new" in page
    assert "there already" not in page
    client.post(address, {**ticked, "add": 1})
    assert [batch.wanted for batch in study.batches.all()] == [1] * 6
    page = client.post(address, {**ticked, "items": "", "look": 1}).content.decode()
    assert "Say how many items a person gets" in page


def test_promises_the_same_before_and_after_it_is_laid_out() -> None:
    study = draft(100)
    task = study.benchmark.tasks.get()
    chosen = select_shots(possible_batches(task), [0])
    options = BatchOptions(1, 10.0, items=20, viewers=2)
    (before,) = build(study, chosen, options)["cells"]
    add_chosen(study, chosen, options)
    (after,) = build(study, [], BatchOptions(5, 10.0))["cells"]
    told = {"people": 10, "items": 20, "splits": 1}
    assert {name: before[name] for name in told} == {name: after[name] for name in told} == told
    assert after["width"] == pytest.approx(before["width"])
    assert before["width"] == pytest.approx(
        100 * design_of(Assumptions(shots=0, max_items=100), 10, 20, 2).width
    )
    (registered,) = Registered(study).cells
    assert {name: registered[name] for name in told} == told
    assert registered["width"] == pytest.approx(before["width"])
    # Nothing is worked out for parts as if everybody met the same items.
    assert "probable_5" not in registered


def test_is_compared_over_all_items_that_people_met_together() -> None:
    study = draft()
    task = study.benchmark.tasks.get()
    training = task.item_sets.get(name="train-3-1")
    for part in cut_into_parts(task.item_sets.get(name="test"), 10, 3, seed=1):
        batch = make.batch(study, task, wanted=1)
        batch.test_set, batch.training_set = part, training
        batch.save()
    start_study(study, at=make.NOON)
    for number, batch in enumerate(study.batches.order_by("pk")):
        make.worked_through(batch, wrong=3 + number % 4)
    (cell,) = (row for row in compare(Scope(study.benchmark, study)).rows if not row.single)
    assert (cell.n, cell.m, cell.items, cell.answers_an_item) == (6, 20, 20, (3, 3))
    assert cell.ci_method == "wilson-gaps"


def test_is_reported_as_it_was_done() -> None:
    study = draft(30)
    task = study.benchmark.tasks.get()
    first = task.item_sets.get(name="test").examples.first()
    correct_gold(task, {first.pk: [["bad"]]}, author=None, reason="Looked through by experts.")
    options = BatchOptions(1, 10.0, items=8, viewers=3)
    add_chosen(study, select_shots(possible_batches(task), [0]), options)
    start_study(study, at=make.NOON)
    make.worked_through(study.batches.earliest("pk"))
    told = " ".join(as_text(Report(study)).split())
    handed_out = "30 items of towns in 12 parts of 7 to 8, each in 3 of them (seed 0)."
    laid_out = "Laid out in parts that share items, of which a person"
    assert f"{laid_out} met one, were {handed_out}" in told
    assert (
        "Before the study, the reference answers of 1 test item of towns were corrected "
        "(version 2), for this reason: “Looked through by experts”."
    ) in told
    answered = study.batches.earliest("pk").test_set.items.count()
    assert f"1, of those that anybody answered; {30 - answered} test items have no answer." in told
    assert "Drawn at random" not in told
    planned = " ".join(as_markdown(study).split())
    assert f"{laid_out} meets one, are {handed_out}" in planned


def test_names_the_part_of_each_batch() -> None:
    study = draft(30)
    (whole,) = select_shots(possible_batches(study.benchmark.tasks.get()), [0])
    add_chosen(study, [whole], BatchOptions(1, 10.0, items=8, viewers=3, seed=4))
    assert [batch.label for batch in study.batches.order_by("pk")][:2] == [
        "0 shots, part 1",
        "0 shots, part 2",
    ]

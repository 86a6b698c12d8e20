"""The pre-registration says what a study is going to do, as it was when it started."""

import json
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.benchmarks.correcting import Given, correct_gold
from annotation.models import Batch, Kind, Study
from annotation.studies.cutting import cut_test_set
from annotation.studies.lifecycle import start_study, want_more
from scoring.report.preregistration import (
    BEYOND,
    Registered,
    as_latex,
    as_markdown,
    planned_cell_of,
)
from tests import make
from tests.every import every

pytestmark = pytest.mark.django_db

CHANCES = [f"{name}_{points}" for points in BEYOND for name in ("probable", "sure")]


def batch(*, zero_shot: bool = False, training: int = 10, wanted: int = 6, **fields: Any) -> Batch:
    """Of a draft with two tasks, each with its people."""
    benchmark = make.benchmark()
    study = make.study(benchmark, **fields)
    made = [
        make.batch(
            study, make.task(benchmark, training=training), zero_shot=zero_shot, wanted=wanted
        )
        for _ in range(2)
    ]
    return made[0]


def text_of(study: Study) -> str:
    return as_markdown(Study.objects.get(pk=study.pk))


def test_marks_a_draft_which_has_no_checksum() -> None:
    study = batch().study
    text = text_of(study)
    assert text.startswith(f"# Pre-registration: {study.title}\n")
    assert "A draft" in text
    assert "SHA-256" not in text


def test_carries_the_checksum_of_what_was_frozen() -> None:
    study = batch().study
    start_study(study, at=make.NOON)
    study.refresh_from_db()
    told = json.dumps(study.frozen, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    text = text_of(study)
    assert "as JSON with sorted keys and without spaces: " in text
    assert "Frozen on 1 November 2026, before anybody could take part" in text
    assert sha256(told.encode()).hexdigest() in text
    assert "A draft" not in text


def test_stays_as_it_was_at_the_start() -> None:
    study = batch().study
    start_study(study, at=make.NOON)
    before = text_of(study)
    first = study.batches.select_related("task", "study").earliest("pk")
    make.worked_through(first)
    want_more(first, 20)
    corrections: dict[int | str, Given] = {
        first.test_set.examples.earliest("pk").pk: [["good"], ["bad"]]
    }
    correct_gold(first.task, corrections, author=None, reason="Both are right.")
    assert text_of(study) == before


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"question": "Are people ahead?"}, "Are people ahead?"),
        ({}, "No question was written down."),
        ({"named_systems": ["BERT FT", "T5"]}, "People are compared with BERT FT and T5."),
        ({}, "all that have a whole run on every task of the study when it closes"),
        (
            {"margin": 2.5, "margin_reason": "Runs differ."},
            "margin is 2.5 points of S1. The reason: Runs",
        ),
        ({}, "The margin is 0: people can be found ahead of a system or behind it, never as good."),
        (
            {"min_training_score": 70},
            "An annotator is screened out, and still paid, if they score below 70 %.",
        ),
        ({"min_training_score": 70}, "of 100 people who only guess, how many get in"),
        ({"max_drop": 2, "drop_unit": "sds"}, "more than 2 standard deviations below their mean."),
        (
            {"min_training_score": 80, "max_drop": 15, "drop_group_size": 5},
            "if they score below 80 % or, once five others have finished the training of the same "
            "cell, more than 15 points below their mean.",
        ),
        ({}, "While the study is open, an excluded person's place is opened again."),
        ({}, "their number stands beside it"),
        ({}, "There is no screening rule"),
        ({}, "with 10 shots: no floor was set."),
        ({"known_people": "Six linguists."}, "know everybody who can come in: “Six linguists”."),
        ({}, "The study wants 12 people, and its places are filled exactly"),
        ({}, "reference policy any, gold version 1"),
        ({}, "The average is primary."),
    ],
)
def test_says_what_was_set(fields: dict[str, Any], told: str) -> None:
    assert told in text_of(batch(**fields).study)


def test_tells_of_a_sample_and_of_its_batches() -> None:
    first = batch()
    make.batch(first.study, first.task, zero_shot=True)
    Batch.objects.filter(pk=first.pk).update(test_set=cut_test_set(first.test_set, 3))
    text = text_of(first.study)
    assert f"3 of 4 items of {first.task.slug} (seed 0, in 1 of 2 batches)." in text
    assert "whole test set" not in text


def test_plans_a_sample_that_all_are_asked_as_the_whole_set_of_as_many_items() -> None:
    study = make.study(make.benchmark())
    task = make.task(study.benchmark, training=10, tests=40)
    make.batch(study, task, wanted=6)
    part = cut_test_set(task.item_sets.get(name="test"), 30)
    study.batches.update(test_set=part)
    [cell] = Registered(study).cells
    assert (cell["people"], cell["items"], cell["splits"]) == (6, 30, 1)
    assert {**cell, **planned_cell_of(6, 30, 0, 1)} == cell
    assert cell.keys() >= {"width", "widths", *CHANCES}


def test_finds_no_floor_where_people_are_known() -> None:
    text = text_of(batch(known_people="Six linguists.").study)
    assert "with 10 shots: no floor was set." in text
    assert "No verdict is sure" not in text_of(batch(min_training_score=80).study)


def test_tells_of_checks_which_give_a_floor_to_zero_shot() -> None:
    text = text_of(make.checked_batch(zero_shot=True, min_check_score=80).study)
    assert "Before the test annotators answer 10 checks without feedback" in text
    assert "(the screening below has assumptions of its own)" in text
    assert "| 0 shots after 10 checks |" in text
    assert "| 10 | 50 | 5 | " in text
    assert "no screening rule" not in text
    assert "No verdict is sure" not in text


@pytest.mark.parametrize(("other", "count"), [("", 1), (Kind.CHOICE, 2)])
def test_names_the_task_of_the_checks(other: str, count: int) -> None:
    study = make.checked_batch(other=other).study
    tasks = list(study.benchmark.tasks.order_by("pk"))
    assert len(tasks) == count
    assert f"items of {tasks[-1]}: whoever" in text_of(study)


def test_speaks_of_no_shots_averages_or_margin_where_there_are_none() -> None:
    study = make.checked_batch(zero_shot=True).study
    text = text_of(study)
    assert "Everybody in a batch sees the same test items." in text
    assert "by all their zero-shot runs." in text
    assert "Adjusted by Holm's method at 5 %. " in text
    assert "the smaller of the p values of ahead and behind counts" in text
    assert "A cell is" not in text
    for absent in ("shot set", "average over", "families", "and as good"):
        assert absent not in text


def test_counts_the_averages_beside_the_single_tasks() -> None:
    text = text_of(batch(named_systems=["A", "B"]).study)
    assert "at most .05 after adjustment for 4 comparisons of single tasks, and" in text
    assert "The averages over tasks are a family of their own, with 2 comparisons; they" in text
    assert "of single tasks with one system, and" in text_of(batch().study)


def test_plans_no_average_where_no_number_of_shots_is_in_every_task() -> None:
    first = batch()
    study = first.study
    study.batches.exclude(pk=first.pk).update(training_set=None)
    text = text_of(study)
    assert "Adjusted by Holm's method at 5 %. " in text
    assert "averages over tasks" not in text
    assert "is primary" not in text


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "like these, whoever comes in the same way"),
        ({"min_training_score": 70}, "like these, people whom the screening lets in"),
        ({"known_people": "Six linguists."}, "like these, such people as these"),
    ],
)
def test_says_of_whom_the_claims_are(fields: dict[str, Any], told: str) -> None:
    assert f"{told}, and the shot sets that they see." in text_of(batch(**fields).study)


def test_says_where_nobody_is_screened() -> None:
    first = batch(min_training_score=70)
    make.batch(first.study, first.task, zero_shot=True)
    assert "whom the screening lets in (where there is none: whoever comes)" in text_of(first.study)


def test_says_what_a_floor_is() -> None:
    text = text_of(batch().study)
    assert "the cell has a floor, and" in text
    assert "on at least 10 items that are no test items, by which at most 10 of 100" in text


def test_plans_each_cell_over_its_splits() -> None:
    lines = text_of(batch(zero_shot=True, named_systems=["A", "B"]).study).splitlines()
    planned = planned_cell_of(6, 4, 0, 4)
    chances = [f"{planned[name]:.0f}" for name in CHANCES]
    said = ["0", "1", "6", "4", f"{planned['width']:.1f}", str(planned["widths"]), *chances]
    rows = [line.strip("| ").split(" | ")[1:] for line in lines if line.startswith("| task")]
    assert rows == [said, said]


def test_plans_nothing_where_nothing_can_be_planned() -> None:
    assert planned_cell_of(1, 200, 0, 1) == planned_cell_of(6, 1, 0, 1) == {}


@pytest.mark.parametrize(("people", "margin"), [(4, 0), (6, 90)])
def test_plans_no_chance_of_what_cannot_be_found(people: int, margin: float) -> None:
    assert set(planned_cell_of(people, 50, margin, 1)) == {"width", "widths"}


def test_plans_large_cells_by_formulas() -> None:
    planned = planned_cell_of(300, 200, 0, 1)
    assert set(planned) == {"width", "probable_5", "probable_10"}


def test_plans_more_for_more_people_and_larger_differences_and_less_among_many() -> None:
    few, many, among = (
        planned_cell_of(people, 60, 2, comparisons)
        for people, comparisons in ((8, 1), (12, 1), (8, 9))
    )
    assert few["probable_5"] < few["probable_10"] < many["probable_10"]
    assert among["probable_10"] == few["probable_10"]
    assert among["sure_10"] < few["sure_10"]
    assert planned_cell_of(7, 60, 2, 1)["sure_10"] == 0


def test_marks_a_demonstration_and_says_that_it_is_no_public_registration() -> None:
    study = make.running_batch(slug="demonstration-of-this").study
    with make.unlocked():
        Study.objects.update(is_demonstration=True)
    study.refresh_from_db()
    text = text_of(study)
    assert "(demonstration with simulated annotators)" in text.splitlines()[0]
    assert "it is no public registration" in text


def test_marks_a_rehearsal() -> None:
    study = batch(is_rehearsal=True).study
    assert "(rehearsal with simulated annotators)" in text_of(study).splitlines()[0]


def test_is_a_whole_latex_document_that_sets_every_sign() -> None:
    text = as_latex(batch(question="Is 50 % & more_of #it ahead?").study)
    assert text.startswith(r"\documentclass{article}")
    assert text.endswith("\\end{document}\n")
    assert r"Is 50 \% \& more\_of \#it ahead?" in text
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1


def test_sets_every_sign_in_markdown() -> None:
    assert r"Is \*it\* ahead?" in text_of(batch(question="Is *it* ahead?").study)


@pytest.mark.parametrize(("form", "end"), [("markdown", "md"), ("latex", "tex")])
def test_is_offered_on_the_report_and_the_start_page(
    admin_client: Client, form: str, end: str
) -> None:
    study = batch().study
    address = f"/studies/{study.slug}/preregistration/{form}/"
    assert (
        f'href="{address}"' in admin_client.get(f"/studies/{study.slug}/report/").content.decode()
    )
    start = admin_client.get(reverse("annotation:start", args=[study.slug])).content.decode()
    assert f"/studies/{study.slug}/report/#preregistration" in start
    response = admin_client.get(address)
    name = f'attachment; filename="preregistration-{study.slug}.{end}"'
    assert response["Content-Disposition"] == name
    assert "Pre-registration: " in response.content.decode()
    assert admin_client.get(address.replace(form, "pdf")).status_code == 404


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_is_written_by_a_command(tmp_path: Path, form: str) -> None:
    study, out = batch().study, StringIO()
    options = {"study": study.slug, "format": form}
    call_command("export_preregistration", **options, stdout=out)
    file = tmp_path / "file"
    call_command("export_preregistration", **options, output=file, stderr=StringIO())
    assert file.read_text() == out.getvalue()


def test_says_once_what_the_screening_of_several_tasks_comes_to() -> None:
    study = batch(min_training_score=70).study
    names = {one.task.slug for one in study.batches.all()}
    told = Registered(study).screenings
    assert {one["task"] for one in told} == names
    assert len(told) == len(names)
    text = text_of(study)
    assert every(f"| {name} | " in text for name in names)
    assert text.count("of 100 people who only guess, how many get in") == 1


def test_says_once_how_rules_that_come_to_different_things_were_simulated() -> None:
    study = batch(min_training_score=70).study
    longer = make.task(study.benchmark, training=12)
    make.batch(study, longer)
    text = text_of(study)
    items = [one["items"] for one in Registered(study).screenings]
    assert items.count(12) == 1
    assert len(items) > 1
    assert text.count("Simulated 2,000 times with a fixed seed.") == 1

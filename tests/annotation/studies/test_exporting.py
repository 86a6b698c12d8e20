import csv
import io
import json
from copy import deepcopy
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from annotation.benchmarks.correcting import correct_gold
from annotation.models import Assignment, Batch, Judgement, Study
from annotation.studies.exported_judgements import (
    COLUMNS,
    PEOPLE,
    Chosen,
    csv_lines,
    export_judgements,
)
from annotation.studies.lifecycle import start_study
from annotation.studies.people import exclude
from annotation.work.joining import renew_resume_link
from annotation.work.judging import begin, leave_reveal, submit_answer
from scoring.core.normalisation import as_compared
from scoring.core.s1 import SCORER_VERSION, score_one
from tests import make
from tests.made_once import once_a_module

KEYS = [column.key for column in COLUMNS]
pytestmark = pytest.mark.django_db


batch_once = once_a_module(
    lambda: make.running_batch(via="prolific", kind="spans", training=2, tests=3)
)


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    return deepcopy(batch_once)


@pytest.fixture
def completed(batch: Batch) -> Assignment:
    return make.worked_through(batch, who=make.annotator("prolific", "PERSON-7"))


def rows_of(batch: Batch, chosen: Chosen = PEOPLE) -> list[dict[str, Any]]:
    return [json.loads(line) for line in export_judgements(batch.study, "jsonl", chosen)]


@pytest.mark.both_databases
def test_writes_every_judgement_once_in_its_order(batch: Batch, completed: Assignment) -> None:
    rows = rows_of(batch)
    judgements = Judgement.objects.order_by("step")
    assert [(row["role"], row["step"]) for row in rows] == [
        ("training", 0),
        ("training", 1),
        ("test", 2),
        ("test", 3),
        ("test", 4),
    ]
    assert [row["answer"] for row in rows] == [judgement.answer for judgement in judgements]
    assert [row["spans"] for row in rows] == [judgement.spans for judgement in judgements]
    assert [row["identity"] for row in rows] == [j.example.identity for j in judgements]


def test_says_under_what_each_was_given(batch: Batch, completed: Assignment) -> None:
    row = rows_of(batch)[-1]
    assert row | {"excluded": False, "simulated": False} == row
    assert row["annotator"] == completed.annotator.pseudonym
    assert row["task"] == batch.task.slug
    assert (row["shots"], row["split"]) == (2, 1)
    assert row["order_seed"] == completed.order_seed
    assert row["outcome"] == "completed"
    assert row["gold_version"] == 1
    assert row["scorer_version"] == SCORER_VERSION
    assert row["set_checksum"] == batch.test_set.checksum
    assert row["shown_at"].endswith("+00:00")


def test_names_the_scorer_that_the_scores_are_from(batch: Batch, completed: Assignment) -> None:
    Study.objects.filter(pk=batch.study_id).update(
        frozen={**batch.study.frozen, "scorer_version": SCORER_VERSION - 1}
    )
    batch.study.refresh_from_db()
    assert {row["scorer_version"] for row in rows_of(batch)} == {SCORER_VERSION}


@pytest.mark.both_databases
def test_tells_what_the_pages_saw_answer_by_answer(batch: Batch) -> None:
    assignment = make.at_work(batch)
    seen = [(None, True), (True, False), (False, None)]
    for decoy, translated in seen:
        form, step = make.right_answer(assignment), assignment.step
        times = {"decoy": decoy, "translated": translated}
        submit_answer(assignment, step=step, form=form, times=times, at=make.NOON)
        leave_reveal(assignment, step=step, at=make.NOON)
        begin(assignment, step=assignment.step, at=make.NOON)
    assert [(row["decoy"], row["translated"]) for row in rows_of(batch)] == seen
    table = csv.DictReader(io.StringIO("".join(export_judgements(batch.study, "csv"))))
    assert [row["translated"] for row in table] == ["true", "false", ""]


def test_names_items_as_their_file_does(batch: Batch, completed: Assignment) -> None:
    names = {row["item"] for row in rows_of(batch) if row["role"] == "test"}
    assert names == {"test 0", "test 1", "test 2"}


def test_takes_the_checksum_of_the_set_that_was_answered(
    batch: Batch, completed: Assignment
) -> None:
    assert rows_of(batch)[0]["set_checksum"] == batch.training_set.checksum


def test_leaves_out_the_excluded_unless_asked(batch: Batch, completed: Assignment) -> None:
    exclude(completed, reason="the reason stays inside")
    assert rows_of(batch) == []
    rows = rows_of(batch, Chosen(with_excluded=True))
    assert [row["excluded"] for row in rows] == [True] * 5
    assert "stays inside" not in json.dumps(rows)


def test_marks_whose_personal_link_was_replaced(batch: Batch, completed: Assignment) -> None:
    assert {row["resume_renewed_at"] for row in rows_of(batch)} == {None}
    renew_resume_link(completed, at=make.NOON)
    marks = {row["resume_renewed_at"] for row in rows_of(batch)}
    assert marks == {make.NOON.isoformat()}


def test_leaves_out_the_simulated_unless_asked(completed: Assignment, batch: Batch) -> None:
    person = completed.annotator
    person.channel.is_simulated = True
    person.channel.save()
    assert rows_of(batch) == []
    assert {row["simulated"] for row in rows_of(batch, Chosen(simulated=True))} == {True}


def test_scores_every_answer_under_both_policies(batch: Batch, completed: Assignment) -> None:
    assert {(row["s1_set"], row["s1_any"]) for row in rows_of(batch)} == {(1.0, 1.0)}
    gold: Any = {f"id:test {n}": [["Anna"], ["Anna", "Boris"]] for n in range(3)}
    correct_gold(batch.task, gold, author=None, reason="Either is right.")
    rows = [row for row in rows_of(batch) if row["role"] == "test"]
    assert {row["scored_gold_version"] for row in rows} == {2}
    # What was shown stays as it was.
    assert {row["gold_version"] for row in rows} == {1}
    for row in rows:
        found = len(row["answer"])
        assert row["s1_any"] == (1.0 if found else 0.0)
        assert row["s1_set"] == (1.0 if found else 0.0)


def test_scores_as_the_task_normalises() -> None:
    batch = make.batch(
        make.study(make.benchmark()), make.task(kind="text", normalisation="squad", training=0)
    )
    batch.training_set = None
    batch.save()
    start_study(batch.study, at=make.NOON)
    batch.refresh_from_db()
    assignment = make.at_work(batch)
    while not assignment.is_finished:
        right = make.gold_of(assignment)
        make.answer(assignment, {"text": f"The {right[0].upper()}!"} if right else None)
    assert {row["s1_any"] for row in rows_of(batch)} == {1.0}


# Alike but for their case, their blanks, or what a file must mark.
GIVEN = ("Zoë", "zoë", " Zoë", '"100 %", \\n', "=1+1", "%s, {0}", "")


@pytest.mark.both_databases
def test_writes_what_each_gave_as_if_nobody_had_given_the_same() -> None:
    batch = make.running_batch(kind="text", zero_shot=True, training=0, tests=len(GIVEN), wanted=3)
    for turned in (0, 0, 1):
        assignment = make.at_work(batch)
        for step in range(len(GIVEN)):
            text = GIVEN[(step + turned) % len(GIVEN)]
            make.answer(assignment, {"text": text} if text else None)
    judgements = Judgement.objects.order_by("assignment", "step")
    task, rows = batch.task, rows_of(batch)
    for row, judgement in zip(rows, judgements, strict=True):
        gold = judgement.example.golds.get().alternative_texts()
        texts, golds = as_compared(judgement.answer, gold, task.normalisation)
        assert (row["answer"], row["spans"]) == (judgement.answer, judgement.spans)
        assert row["s1_set"] == score_one(texts, golds, references="set")
        assert row["s1_any"] == score_one(texts, golds, references="any")
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    assert list(export_judgements(batch.study, "jsonl")) == lines
    columns = [replace(column, source="") for column in COLUMNS]
    assert list(export_judgements(batch.study, "csv")) == list(csv_lines(columns, rows))


@pytest.mark.parametrize("file_format", ["jsonl", "csv"])
def test_names_nobody_and_shows_no_gold(
    batch: Batch, completed: Assignment, file_format: str
) -> None:
    make.entered_by(completed, "SESSION-7")
    text = "".join(export_judgements(batch.study, file_format))
    assert "PERSON-7" not in text
    assert "SESSION-7" not in text
    assert completed.annotator.identity_hash not in text
    assert completed.resume_token not in text
    assert not {"gold", "alternatives", "external_id"} & set(KEYS)


def test_includes_unfinished_work(batch: Batch) -> None:
    working = make.at_work(batch)
    make.answer(working)
    assert [(row["outcome"], row["step"]) for row in rows_of(batch)] == [("", 0)]


def test_leaves_other_studies_out(batch: Batch, completed: Assignment) -> None:
    make.worked_through(make.running_batch())
    assert {row["study"] for row in rows_of(batch)} == {batch.study.slug}


def test_writes_the_same_rows_as_csv(batch: Batch, completed: Assignment) -> None:
    text = "".join(export_judgements(batch.study, "csv"))
    table = list(csv.DictReader(io.StringIO(text)))
    for cells, row in zip(table, rows_of(batch), strict=True):
        assert list(cells) == KEYS
        assert json.loads(cells["answer"]) == row["answer"]
        assert json.loads(cells["spans"]) == row["spans"]
        assert cells["checksum"] == row["checksum"]
        assert cells["excluded"] == "false"
        assert cells["chain"] == ""


def test_vouches_for_all_rows_before(batch: Batch, completed: Assignment) -> None:
    before = ""
    for row in rows_of(batch):
        stated = row.pop("checksum")
        plain = json.dumps(row, sort_keys=True, separators=(",", ":"))
        before = sha256((before + plain).encode()).hexdigest()
        assert stated == before


def test_gives_the_same_checksums_when_exported_again(batch: Batch, completed: Assignment) -> None:
    first = rows_of(batch)
    make.worked_through(batch, who=make.annotator("prolific", "later"))
    assert rows_of(batch)[:5] == first


def test_writes_a_heading_alone_for_a_study_without_judgements(batch: Batch) -> None:
    assert list(export_judgements(batch.study, "csv")) == [",".join(KEYS) + "\n"]
    assert list(export_judgements(batch.study, "jsonl")) == []


def test_needs_no_more_queries_for_more_judgements(
    batch: Batch, completed: Assignment, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make.worked_through(batch, who=make.annotator("prolific", "second"))
    # Which assignments, what is known of them, judgements, items of two sets, the latest version of
    # the gold, the gold.
    with django_assert_num_queries(7):
        assert len(rows_of(batch)) == 10

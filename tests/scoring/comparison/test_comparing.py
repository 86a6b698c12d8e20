from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from annotation.jobs.queue import run_job
from annotation.models import (
    Assignment,
    Batch,
    Example,
    Exclusion,
    Gold,
    GoldVersion,
    Kind,
    Study,
)
from annotation.work.places import open_places
from scoring.cells.rows import Row
from scoring.cells.scope import Choices, Scope
from scoring.comparison.comparing import STORE, compare, compute_table, enqueue_table, glance
from scoring.comparison.comparison import Comparison
from scoring.comparison.documents import FORMATS
from scoring.comparison.keeping import Kept, stop
from scoring.core.intervals import cell_interval
from tests import make
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def scope_of(batch: Batch) -> Scope:
    return Scope(batch.study.benchmark, batch.study)


def compared(study: Study, **choices: Any) -> Comparison:
    return compare(Scope(study.benchmark, study), Choices(**choices))


def of_kind(table: Comparison, kind: str) -> list[Row]:
    return [row for row in table.rows if row.kind == kind]


def test_takes_the_median_time_of_test_answers_alone_and_uncapped() -> None:
    batch = make.running_batch(wanted=2, training=1, tests=3)
    for seconds in ([1000, 5, 7, 4000], [1000, 1, 2, 3]):
        assignment, at = make.at_work(batch), make.NOON
        for answer_s in seconds:
            at += timedelta(seconds=answer_s)
            make.answer(assignment, at=at)
    measured.run(batch.task)
    table = compared(batch.study)
    assert [row.median_item_s for row in of_kind(table, "annotator")] == [7, 2]
    # Of 1, 2, 3, 5, 7 and 4000.
    assert [row.median_item_s for row in of_kind(table, "human")] == [4]
    assert [row.median_item_s for row in of_kind(table, "run")] == [None]
    assert [row.median_item_s for row in table.consensus] == [None]


def test_gives_a_cell_and_every_annotator_in_it() -> None:
    batch = measured.cell([3, 4, 6], tests=6)
    table = compared(batch.study)
    [cell] = of_kind(table, "human")
    people = of_kind(table, "annotator")
    # Three of the wrong answers of each were training.
    scores = [1 - wrong / 6 for wrong in (0, 1, 3)]
    assert [person.mean for person in people] == pytest.approx([100 * s for s in scores])
    assert [person.n for person in people] == [6, 6, 6]
    assert {person.system for person in people} == {
        assignment.annotator.pseudonym for assignment in batch.assignments.all()
    }
    assert cell.mean == pytest.approx(100 * np.mean(scores))
    assert cell.sd == pytest.approx(100 * np.std(scores, ddof=1))
    assert (cell.n, cell.m, cell.coverage) == (3, 6, 1.0)
    assert (cell.shots, cell.split, cell.study) == (3, None, batch.study.slug)
    assert (cell.references, cell.gold_version) == ("any", 1)


def test_takes_the_interval_of_a_cell_from_its_scores() -> None:
    batch = measured.cell([3, 4, 6], tests=6)
    [cell] = of_kind(compared(batch.study), "human")
    rows = [
        [1 - float(answer != measured.gold(example)) for example, answer in _answers(assignment)]
        for assignment in batch.assignments.order_by("pk")
    ]
    expected = cell_interval(rows)
    assert cell.ci_low == pytest.approx(100 * expected.low)
    assert cell.ci_high == pytest.approx(100 * expected.high)
    assert (cell.ci_method, cell.estimand) == ("wilson", "new_items")


def test_estimates_these_items_on_request() -> None:
    batch = measured.cell([3, 4, 6], tests=6)
    [cell] = of_kind(compared(batch.study, estimand="these_items"), "human")
    assert (cell.ci_method, cell.estimand) == ("t", "these_items")


def test_counts_items_of_one_context_as_one_cluster() -> None:
    batch = measured.cell([3, 5, 6], tests=6)
    examples = [item.example for item in batch.test_set.items.all()]
    for example in examples[:3]:
        example.context_hash = "the same"
    with make.unlocked():
        Example.objects.bulk_update(examples, ["context_hash"])
    assert of_kind(compared(batch.study), "human")[0].m == 4


def test_gives_one_annotator_no_sd_and_no_interval() -> None:
    batch = measured.cell([4])
    [cell] = of_kind(compared(batch.study), "human")
    assert cell.mean is not None
    assert (cell.n, cell.sd, cell.ci_low, cell.ci_method, cell.estimand) == (1, *[None] * 4)


def test_counts_everybody_where_several_people_share_a_split() -> None:
    batches = measured.study_with_splits(splits=3, people=2)
    [cell] = of_kind(compared(batches[0].study), "human")
    assert (cell.n, cell.splits, cell.ci_method) == (6, 3, "wilson")
    people = of_kind(compared(batches[0].study), "annotator")
    assert cell.mean == pytest.approx(np.mean([person.mean for person in people]))
    assert sorted(person.split for person in people) == [1, 1, 2, 2, 3, 3]


def test_leaves_out_the_excluded_unless_asked_for() -> None:
    batch = measured.cell([3, 4, 9], tests=6)
    Exclusion.objects.create(assignment=batch.assignments.last(), reason="random answers")
    assert of_kind(compared(batch.study), "human")[0].n == 2
    assert of_kind(compared(batch.study, with_excluded=True), "human")[0].n == 3


def test_leaves_out_whoever_did_not_complete() -> None:
    batch = measured.cell([3, 4])
    make.at_work(batch)
    assert of_kind(compared(batch.study), "human")[0].n == 2


def test_gives_the_consensus_a_row_of_its_own() -> None:
    batch = measured.cell([3, 4, 9], tests=6)
    table = compared(batch.study)
    [row] = table.consensus
    # Two of the three are right on every item but the first, where one is.
    assert (row.kind, row.system, row.n) == ("consensus", "Consensus", 3)
    assert row.mean == pytest.approx(100 * 5 / 6)
    assert (row.sd, row.coverage, row.ci_method, row.m) == (None, 1, "bootstrap", 6)
    assert row.ci_low is not None
    assert row.ci_low < row.mean < (row.ci_high or 0)
    assert of_kind(table, "consensus") == []
    assert row in table.figures


def test_has_no_consensus_of_a_single_annotator() -> None:
    assert compared(measured.cell([3]).study).consensus == ()


def test_shows_simulated_annotators_on_request_alone() -> None:
    batch = measured.cell([3, 4])
    open_places(batch, simulated=True)
    make.worked_through(batch, who=make.annotator("simulated"), wrong=5)
    assert not of_kind(compared(batch.study), "simulated")
    table = compared(batch.study, simulated=True)
    cell, person = of_kind(table, "simulated")
    assert (cell.system, cell.n, cell.single) == ("SIMULATED PEOPLE", 1, False)
    assert person.single
    assert of_kind(table, "human")[0].n == 2


def test_calls_a_cell_of_few_people_exploratory_however_many_splits_they_have() -> None:
    few = measured.study_with_splits(splits=2, people=2)[0].study
    [cell] = of_kind(compared(few), "human")
    assert (cell.n, cell.is_exploratory) == (4, True)
    many = measured.cell([3, 4, 6, 5, 7]).study
    [cell] = of_kind(compared(many), "human")
    assert (cell.n, cell.is_exploratory) == (5, False)


def test_scores_runs_on_the_same_items_over_their_splits() -> None:
    batch = measured.cell([3, 4, 5], tests=6)
    for split, wrong in enumerate([1, 2, 3], start=1):
        measured.run(batch.task, wrong=wrong, split=split)
    [row] = of_kind(compared(batch.study, runs="all"), "run")
    assert row.mean == pytest.approx(100 * (1 - 2 / 6))
    assert row.sd == pytest.approx(100 / 6)
    assert (row.n, row.m, row.system, row.method, row.shots) == (3, 6, "BERT-Base", "FT", 3)
    assert row.ci_method is None, "three runs are these outputs alone"
    [own] = of_kind(compared(batch.study), "run")
    assert (own.n, own.mean, own.matched) == (1, pytest.approx(100 * 5 / 6), True)


def test_takes_only_complete_runs() -> None:
    batch = measured.cell([3])
    measured.run(batch.task, complete=False)
    assert not of_kind(compared(batch.study), "run")


def test_says_how_much_a_run_covers() -> None:
    batch = measured.cell([3], tests=5)
    measured.run(batch.task, wrong=1, missing=2)
    [row] = of_kind(compared(batch.study), "run")
    assert (row.coverage, row.mean) == (0.6, pytest.approx(200 / 3))


def test_lists_a_partial_run_and_compares_it_with_nobody() -> None:
    batch = measured.cell([0, 1, 2, 3, 3], tests=5)
    measured.run(batch.task, wrong=1, system="Whole", at=make.NOON)
    measured.run(batch.task, missing=2, system="Trial", at=make.NOON)
    measured.run(batch.task, missing=2, system="Whole", repeat=1, at=make.NOON)
    make.closed(batch.study)
    for scope in (Scope(batch.study.benchmark, batch.study), Scope(batch.study.benchmark)):
        table = compare(scope)
        rows = of_kind(table, "run")
        assert sorted((row.system, row.n, row.block, row.coverage) for row in rows) == [
            ("Trial", 1, "incomplete", 0.6), ("Whole", 1, "", 1), ("Whole", 1, "incomplete", 0.6)
        ]  # fmt: skip
        assert {test.system for test in table.tests} == {"Whole"}
        assert not table.systems
        assert {one.system for one in table.averages if one.kind == "run"} == {"Whole"}
        everywhere = b"".join(writer.write(table) for writer in FORMATS.values())
        assert b"Partial: not every item has an answer" in everywhere


def test_names_a_system_that_answered_nothing() -> None:
    batch = measured.cell([3], tests=5)
    # Complete, but with nothing about the test.
    training = batch.training_set.items.first().example
    measured.run(batch.task, answers={training.pk: ["good"]})
    [row] = of_kind(compared(batch.study), "run")
    assert (row.coverage, row.mean, row.sd, row.n) == (0, None, None, 1)


def test_shows_published_figures_as_they_were_published() -> None:
    batch = measured.cell([3])
    benchmark = batch.study.benchmark
    measured.reported(benchmark, batch.task.slug)
    measured.reported(benchmark, "mnli", kind="human", method="", shots=None, sd=None, n=None)
    [row] = of_kind(compared(batch.study), "reported")
    assert (row.system, row.mean, row.sd, row.n) == ("GPT-3", 85.9, 3.7, 5)
    assert (row.references, row.ci_low, row.coverage, row.m) == ("unknown", None, None, None)
    both = of_kind(compare(Scope(benchmark)), "reported")
    assert [(row.task, row.shots, row.method) for row in both][1] == ("mnli", "all", None)


def test_names_the_policy_of_each_task_and_the_common_one() -> None:
    batch = measured.cell([3], kind=Kind.SPANS)
    other = make.task(batch.study.benchmark, reference_policy="set")
    measured.run(other)
    table = compare(Scope(batch.study.benchmark))
    assert {row.references for row in table.rows} == {"any", "set"}
    assert table.references is None
    assert compared(batch.study).references == "any"
    assert compared(batch.study, references="set").references == "set"


def test_scores_people_and_runs_at_the_latest_gold() -> None:
    batch = measured.cell([0], tests=4)
    measured.run(batch.task)
    correction = GoldVersion.objects.create(task=batch.task, number=2, reason="a typo")
    Gold.objects.create(
        example=batch.test_set.items.first().example,
        version=correction,
        alternatives=[[{"text": "neither"}]],
    )
    rows = compared(batch.study).rows
    assert [(row.kind, row.mean, row.gold_version) for row in rows] == [
        ("human", 75, 2),
        ("annotator", 75, 2),
        ("run", 75, 2),
    ]


def test_scores_at_another_gold_version_on_request() -> None:
    batch = measured.cell([0], tests=4)
    correction = GoldVersion.objects.create(task=batch.task, number=2, reason="a typo")
    Gold.objects.create(
        example=batch.test_set.items.first().example,
        version=correction,
        alternatives=[[{"text": "neither"}]],
    )
    rows = compared(batch.study, gold_version=1).rows
    assert [(row.mean, row.gold_version) for row in rows] == [(100, 1), (100, 1)]
    assert compared(batch.study, gold_version=7).rows[0].gold_version == 2


def test_shows_chosen_shots_alone() -> None:
    batch = measured.cell([3])
    measured.run(batch.task, shots=10)
    measured.reported(batch.study.benchmark, batch.task.slug, shots=None)
    rows = compared(batch.study, shots=("3", "all")).rows
    assert {row.shots for row in rows} == {3, "all"}


def test_gives_one_row_a_study() -> None:
    batch = measured.cell([3])
    other = make.study(batch.study.benchmark)
    second = make.batch(other, batch.task)
    make.start_study(other, at=make.NOON)
    make.worked_through(second)
    rows = of_kind(compare(Scope(batch.study.benchmark)), "human")
    assert [row.study for row in rows] == [batch.study.slug, other.slug]


def test_reads_as_much_for_many_people_as_for_few(
    django_assert_num_queries: Callable[[int], AbstractContextManager],
) -> None:
    batch = measured.cell([3, 4])
    tabulate(batch)
    with django_assert_num_queries(19) as few:
        tabulate(batch)
    for wrong in range(3, 8):
        make.worked_through(batch, wrong=wrong)
    tabulate(batch)
    with django_assert_num_queries(len(few)):
        tabulate(batch)


def tabulate(batch: Batch) -> None:
    compute_table(scope_of(batch), Choices(), quiet)


def quiet(done: int, total: int, message: str) -> None:
    pass


def test_reads_a_kept_table_and_no_answers(
    django_assert_num_queries: Callable[[int], AbstractContextManager],
) -> None:
    batch = measured.cell([3, 4])
    measured.run(batch.task)
    first = compared(batch.study)
    with django_assert_num_queries(9) as read:
        assert compared(batch.study) == first
    tables = {"annotation_judgement", "scoring_prediction", "scoring_scorevector"}
    assert not [q for q in read.captured_queries for table in tables if table in q["sql"]]


def test_computes_anew_once_an_input_has_changed() -> None:
    batch = measured.cell([3, 4])
    assert of_kind(compared(batch.study), "human")[0].n == 2
    make.worked_through(batch)
    assert of_kind(compared(batch.study), "human")[0].n == 3


def test_keeps_one_table_for_all_choices_of_shots() -> None:
    batch = measured.cell([3, 4])
    measured.run(batch.task, shots=10)
    assert {row.shots for row in compared(batch.study).rows} == {3, 10}
    table = compared(batch.study, shots=("10",))
    assert {row.shots for row in table.rows} == {10}
    assert table.shots_offered == ("3", "10")
    assert Kept.objects.count() == 1


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for the scoring of more than five answers."""
    monkeypatch.setattr("scoring.comparison.comparing.MOST_WHILE_WAITING", 5)


@pytest.mark.usefixtures("impatient")
def test_leaves_the_first_table_to_a_worker() -> None:
    scope = scope_of(measured.cell([3, 4]))
    seen = glance(scope, Choices())
    assert (seen.table, seen.is_waiting) == (None, True)
    assert glance(scope, Choices()).kept.job == seen.kept.job
    run_job(seen.kept.job.pk)
    seen = glance(scope, Choices())
    assert (seen.is_stale, seen.is_waiting) == (False, False)
    assert of_kind(seen.table, "human")[0].n == 2


def test_leaves_the_table_of_many_people_to_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = measured.cell([3, 4])
    glance(scope_of(batch), Choices())
    monkeypatch.setattr("scoring.comparison.comparing.MOST_PEOPLE", 2)
    make.worked_through(batch)
    seen = glance(scope_of(batch), Choices())
    assert seen.is_waiting
    assert of_kind(seen.table, "human")[0].n == 2
    run_job(seen.kept.job.pk)
    assert of_kind(glance(scope_of(batch), Choices()).table, "human")[0].n == 3


@pytest.mark.usefixtures("impatient")
def test_shows_the_old_table_as_stale_meanwhile() -> None:
    batch = measured.cell([3, 4])
    compare(scope_of(batch))
    make.worked_through(batch)
    seen = glance(scope_of(batch), Choices())
    assert (seen.is_stale, seen.is_waiting) == (True, True)
    assert of_kind(seen.table, "human")[0].n == 2


@pytest.mark.usefixtures("impatient")
def test_computes_at_once_what_is_scored_already() -> None:
    batch = measured.cell([3, 4])
    compare(scope_of(batch))
    Exclusion.objects.create(assignment=batch.assignments.last(), reason="in a hurry")
    seen = glance(scope_of(batch), Choices())
    assert not seen.is_stale
    assert of_kind(seen.table, "human")[0].n == 1


@pytest.mark.usefixtures("impatient")
def test_counts_the_answers_of_runs_too() -> None:
    batch = measured.cell([])
    measured.run(batch.task)
    assert glance(scope_of(batch), Choices()).is_waiting


@pytest.mark.usefixtures("impatient")
def test_does_not_order_again_what_was_stopped() -> None:
    scope = scope_of(measured.cell([3, 4]))
    kept = glance(scope, Choices()).kept
    stop(STORE.find(scope, Choices()))
    run_job(kept.job.pk)
    seen = glance(scope, Choices())
    assert (seen.is_stale, seen.is_waiting) == (True, False)
    assert enqueue_table(scope, Choices()).job != kept.job


def test_refuses_an_unknown_policy() -> None:
    with pytest.raises(ValueError, match="set or any"):
        Choices(references="both")


def _answers(assignment: Assignment) -> list[tuple]:
    judgements = assignment.judgements.of_test().select_related("example").order_by("example_id")
    return [(judgement.example, judgement.answer) for judgement in judgements]

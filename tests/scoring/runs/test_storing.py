from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from annotation.models import Example, ItemSet
from annotation.models.errors import BadInput, Frozen, NotReady
from scoring.models import Prediction, Run, RunState
from scoring.runs.formats.records import RunFields
from scoring.runs.scores import scores_of_run
from scoring.runs.storing import (
    DifferentAnswer,
    StoredAlready,
    add_predictions,
    finish_run,
    open_run,
)
from tests import make
from tests.scoring.runs.runs_from import WHO

pytestmark = pytest.mark.django_db


def names_test_set() -> ItemSet:
    return make.task(kind="spans", slug="names").item_sets.get(name="test")


def opened(of: ItemSet, **fields: Any) -> Run:
    return open_run(test_set=of, fields=RunFields(**{**WHO, **fields}), source_format="test")


def examples(of: ItemSet) -> list[Example]:
    return [item.example for item in of.items.select_related("example")]


def filled(of: ItemSet, answer: tuple[str, ...] = ("Anna",), **fields: Any) -> Run:
    run = opened(of, **fields)
    add_predictions(run, {example.pk: answer for example in examples(of)})
    return run


def completed(of: ItemSet, answer: tuple[str, ...] = ("Anna",), **fields: Any) -> Run:
    run = filled(of, answer, **fields)
    finish_run(run, report={})
    return run


@pytest.mark.both_databases
def test_makes_a_run_complete() -> None:
    run = completed(names_test_set())
    assert run.is_complete
    assert len(run.checksum) == 64
    assert (run.report["matched"], run.report["missing"]) == (4, 0)
    assert (run.report["malformed"], run.report["outside"], run.report["empty"]) == (0, 0, 0)
    assert run.report["most_frequent"] == {"answer": ["Anna"], "count": 4}


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "change",
    [
        lambda run: Run.objects.filter(pk=run.pk).update(system="GPT-3"),
        lambda run: Run.objects.filter(pk=run.pk).update(state="uploading", checksum=""),
        lambda run: run.predictions.update(answer=[]),
        lambda run: run.predictions.first().save(),
    ],
    ids=["system", "state", "answers", "answer"],
)
def test_does_not_let_a_complete_run_change(change: Callable[[Run], object]) -> None:
    run = completed(names_test_set())
    with pytest.raises(IntegrityError), transaction.atomic():
        change(run)
    run.refresh_from_db()
    assert (run.system, run.state) == ("BERT-Base", RunState.COMPLETE)
    assert {tuple(prediction.answer) for prediction in run.predictions.all()} == {("Anna",)}


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_has_a_database_that_replaces_no_complete_run() -> None:
    run = completed(names_test_set())
    names = [field.column for field in Run._meta.concrete_fields]
    values = ", ".join("'Another'" if name == "system" else name for name in names)
    columns = ", ".join(names)
    insert = f"INTO scoring_run ({columns}) SELECT {values} FROM scoring_run"
    statement = {
        "sqlite": f"INSERT OR REPLACE {insert}",
        "postgresql": f"INSERT {insert} ON CONFLICT (id) DO UPDATE SET system = 'Another'",
    }[connection.vendor]
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            # As any other program has it.
            cursor.execute("PRAGMA recursive_triggers = OFF")
        with pytest.raises(IntegrityError, match="final"):
            cursor.execute(statement)
    connection.close()
    run.refresh_from_db()
    assert run.system == "BERT-Base"


@pytest.mark.both_databases
def test_takes_no_predictions_after_completion() -> None:
    tests = names_test_set()
    run = opened(tests)
    first, second, *_ = examples(tests)
    add_predictions(run, {first.pk: ("Anna",)})
    finish_run(run, report={})
    with pytest.raises(Frozen, match="make a new run"):
        add_predictions(run, {second.pk: ("Anna",)})
    assert run.predictions.count() == 1


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "add",
    [
        lambda new: new.save(),
        lambda new: Prediction.objects.bulk_create([new]),
        lambda new: Prediction.objects.bulk_create([new], ignore_conflicts=True),
    ],
    ids=["one", "several", "unless there"],
)
def test_has_a_database_that_adds_nothing_to_a_complete_run(
    add: Callable[[Prediction], object],
) -> None:
    tests = names_test_set()
    run = opened(tests)
    first, second, *_ = examples(tests)
    add_predictions(run, {first.pk: ("Anna",)})
    finish_run(run, report={})
    with pytest.raises(IntegrityError, match="final"), transaction.atomic():
        add(Prediction(run=run, example=second, answer=["Anna"]))
    assert run.predictions.get().example == first


def test_can_be_deleted_as_a_whole() -> None:
    completed(names_test_set()).delete()
    assert not Prediction.objects.exists()


@pytest.mark.both_databases
def test_stores_the_same_content_once() -> None:
    tests = names_test_set()
    first = completed(tests)
    second = filled(tests)
    with pytest.raises(StoredAlready) as refused:
        finish_run(second, report={})
    assert refused.value.run == first
    assert not second.is_complete


@pytest.mark.parametrize(
    "fields",
    [{"split": 2}, {"split": None}, {"shots": "all"}, {"method": "PT"}, {"parameters": "110M"}],
)
def test_keeps_runs_of_another_identity_apart(fields: dict[str, Any]) -> None:
    tests = names_test_set()
    assert completed(tests).checksum != completed(tests, **fields).checksum


def test_has_a_checksum_that_follows_the_answers_alone() -> None:
    tests = names_test_set()
    run = filled(tests, ("Anna", "Boris"))
    other = opened(tests)
    for example in reversed(examples(tests)):
        add_predictions(other, {example.pk: ("Boris", "Anna")})
    finish_run(run, report={"notes": ["another report"]})
    with pytest.raises(StoredAlready):
        finish_run(other, report={})
    assert completed(tests, ("Anna",)).checksum != run.checksum


def test_finishes_once() -> None:
    run = completed(names_test_set())
    before = (run.checksum, run.report)
    finish_run(run, report={"notes": ["later"]})
    assert (run.checksum, run.report) == before


def test_refuses_to_finish_a_run_without_predictions() -> None:
    run = opened(names_test_set())
    with pytest.raises(BadInput, match="has no predictions"):
        finish_run(run, report={})
    assert run.state == RunState.UPLOADING


@pytest.mark.both_databases
def test_keeps_the_first_of_two_different_answers() -> None:
    tests = names_test_set()
    run = opened(tests)
    first, second, third, _ = [example.pk for example in examples(tests)]
    add_predictions(run, {first: ("Anna",), second: ("Boris", "Anna")})
    added = add_predictions(run, {first: ("Boris",), second: ("Anna", "Boris"), third: ()})
    assert added == (1, [first])
    assert run.predictions.get(example_id=first).answer == ["Anna"]


def test_stores_all_of_a_piece_or_nothing_where_asked() -> None:
    tests = names_test_set()
    run = opened(tests)
    first, second, *_ = [example.pk for example in examples(tests)]
    add_predictions(run, {first: ("Anna",)})
    with pytest.raises(DifferentAnswer) as refused:
        add_predictions(run, {first: (), second: ("Anna",)}, all_or_none=True)
    assert refused.value.example_ids == [first]
    assert run.predictions.count() == 1


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_stores_a_piece_once_that_comes_twice_at_the_same_time() -> None:
    tests = names_test_set()
    run = opened(tests)
    answers = {example.pk: ("Anna",) for example in examples(tests)}
    start = Barrier(4)

    def send(_: int) -> tuple[int, int]:
        try:
            start.wait()
            stored, different = add_predictions(run, answers)
            return stored, len(different)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(send, range(4))) == [(0, 0), (0, 0), (0, 0), (4, 0)]
    assert run.predictions.count() == 4


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"method": "LoRA"}, "run_method_known"),
        ({"system": ""}, "run_names_its_system"),
        ({"state": "done"}, "run_complete_by_checksum"),
        ({"state": "complete", "completed_at": make.NOON}, "run_complete_by_checksum"),
        ({"state": "complete", "checksum": "a" * 64}, "run_complete_at_a_time"),
        ({"completed_at": make.NOON}, "run_complete_at_a_time"),
        ({"checksum": "a" * 64}, "run_complete_by_checksum"),
    ],
)
def test_holds_its_rules_in_the_database(fields: dict[str, Any], constraint: str) -> None:
    run = opened(names_test_set())
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Run.objects.filter(pk=run.pk).update(**fields)


def test_marks_partial_coverage_and_scores_the_answered_items_alone() -> None:
    tests = names_test_set()
    run = opened(tests)
    first, *_ = examples(tests)
    gold = first.golds.get().alternative_texts()[0]
    add_predictions(run, {first.pk: tuple(gold)})
    with pytest.raises(NotReady, match="still being uploaded"):
        scores_of_run(run)
    finish_run(run, report={})
    assert run.coverage == 0.25
    for score in scores_of_run(run):
        assert (score.mean, score.answered, score.items) == (100, 1, 4)
        assert score.is_partial

"""What a started study holds is locked in the database itself, whoever opens it and how."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from copy import copy
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import IntegrityError, connection, models, transaction

from annotation.benchmarks.correcting import correct_gold
from annotation.models import (
    Assignment,
    Batch,
    Change,
    ChangeAction,
    Example,
    GivenScore,
    Gold,
    GoldVersion,
    Item,
    ItemSet,
    Judgement,
    PaymentLine,
    Pool,
    Role,
    Study,
    Task,
)
from annotation.models.access import record
from annotation.models.locks import (
    KEYS,
    LOCKED_TABLES,
    PARTIAL_KEYS,
    drop_locks,
    held_triggers,
    judgements_are_final,
    lift_locks,
    missing_locks,
    restore_locks,
)
from annotation.studies.from_elsewhere import Given, Work, store_study
from annotation.studies.lifecycle import start_study
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

MODELS = (
    *(Judgement, Study, Batch, Task, Example, ItemSet, Item, GoldVersion, Gold, Assignment),
    *(PaymentLine, Pool, Change, GivenScore),
)
# A column of each that a started study holds.
CHANGES = {
    Judgement: "answer = '[\"good\"]'",
    Study: "is_rehearsal = TRUE",
    Batch: "description = 'Something else.'",
    Task: "reference_policy = 'set'",
    Example: "question = 'Another one?'",
    ItemSet: "choices = '[\"yes\"]'",
    Item: "source_id = 'other'",
    GoldVersion: "reason = 'another'",
    Gold: "alternatives = '[]'",
    Assignment: "order_seed = 'other'",
    GivenScore: "score = 0.5",
    PaymentLine: "amount = 99",
    Pool: "about = 'Others'",
    Change: "after = '{}'",
}


def _columns(model: type[models.Model]) -> list[str]:
    return [field.column for field in model._meta.concrete_fields]


def _copy(model: type[models.Model], **other: str) -> str:
    """SELECT the rows of a table, with other values in some columns."""
    table = model._meta.db_table
    return f"SELECT {', '.join(other.get(c, c) for c in _columns(model))} FROM {table}"


def _attacks(model: type[models.Model]) -> Iterator[str]:
    table, columns = model._meta.db_table, ", ".join(_columns(model))
    change = CHANGES[model]
    yield f"UPDATE {table} SET {change}"
    yield f"UPDATE {table} SET id = id + 1000"
    yield f"DELETE FROM {table}"
    yield (
        f"INSERT INTO {table} ({columns}) {_copy(model)} WHERE true "
        f"ON CONFLICT (id) DO UPDATE SET {change}"
    )
    if connection.vendor == "postgresql":
        yield f"TRUNCATE {table} CASCADE"
        return
    yield f"UPDATE OR REPLACE {table} SET {change}"
    yield f"UPDATE {table} SET rowid = rowid + 1000"
    yield f"INSERT OR REPLACE INTO {table} ({columns}) {_copy(model)}"
    if KEYS[table]:
        # The id is another, so that each unique key alone pushes the row out.
        yield f"REPLACE INTO {table} ({columns}) {_copy(model, id='id + 1000')}"


@contextmanager
def _plain_connection() -> Iterator[Any]:
    """As any program opens the database: on SQLite without the application's pragmas."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            yield cursor
        return
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as plain:
        plain.execute("PRAGMA foreign_keys = OFF")
        yield plain


def _went_through(statements: list[str]) -> list[str]:
    """Those that were not refused."""
    passed = []
    with _plain_connection() as plain:
        for statement in statements:
            plain.execute("BEGIN")
            try:
                plain.execute(statement)
                passed.append(statement)
            except (IntegrityError, sqlite3.IntegrityError):
                pass
            plain.execute("ROLLBACK")
    return passed


@pytest.mark.django_db(transaction=True)
def test_refuses_every_way_to_change_what_a_started_study_holds() -> None:
    task = make.task(make.benchmark(), training=3)
    batch = make.batch(make.study(task.benchmark), task)
    batch.pool = Pool.objects.create(study=batch.study, name="Nurses", slug="nurses")
    batch.save()
    start_study(batch.study, at=make.NOON)
    assignment = make.at_work(batch)
    make.answer(assignment)
    PaymentLine.objects.create(assignment=assignment, purpose="due", amount=1, made_at=make.NOON)
    work: Work = {
        ("A", (None, batch.test_set)): [Given(batch.test_set.items.all()[0].example_id, score=1)]
    }
    about: dict[str, Any] = {"clusters": {}, "at": make.NOON, "owner": None}
    store_study(task.benchmark, "Other", "Doe 2020", work, **about)
    assert _went_through([attack for model in MODELS for attack in _attacks(model)]) == []


@pytest.mark.django_db(transaction=True)
def test_keeps_paid_time_and_the_log_of_changes() -> None:
    batch = make.running_batch(wanted=2)
    record(None, batch.study, ChangeAction.SETTINGS, {}, {"contact": "me@example.org"})
    record(None, batch.study.benchmark, ChangeAction.SETTINGS, {}, {"title": "Another"})
    ended, at_work = make.worked_through(batch), make.at_work(batch)
    change = "UPDATE annotation_assignment SET paid_ms = paid_ms"
    attacks = [
        f"{change} + 1 WHERE id = {ended.pk}",
        f"{change} - 1 WHERE id = {ended.pk}",
        f"{change} - 1 WHERE id = {at_work.pk}",
        "DELETE FROM annotation_change WHERE study_id IS NOT NULL",
        "DELETE FROM annotation_change WHERE benchmark_id IS NOT NULL",
        "UPDATE annotation_change SET at = '2020-01-01'",
    ]
    assert _went_through(attacks) == []
    grows = f"{change} + 1 WHERE id = {at_work.pk}"
    assert _went_through([grows]) == [grows]


@pytest.mark.parametrize(
    "named",
    [
        {"question": "Who?"},
        {"named_systems": ["T5"]},
        {"margin": 5},
        {"margin_reason": "Money."},
        {"known_people": "Friends."},
        {"min_check_score": 50},
    ],
    ids="".join,
)
def test_refuses_to_change_what_was_named_before_the_start(named: dict[str, Any]) -> None:
    draft = make.study(make.benchmark())
    assert Study.objects.filter(pk=draft.pk).update(**named) == 1
    started = make.running_batch().study
    with pytest.raises(IntegrityError, match="a started study holds"), transaction.atomic():
        Study.objects.filter(pk=started.pk).update(**named)
    Study.objects.filter(pk=started.pk).update(state="paused", contact="me@example.org")


@pytest.mark.django_db(transaction=True)
def test_refuses_to_push_a_held_row_out_by_moving_another_onto_its_key() -> None:
    held = make.running_batch()
    make.answer(make.at_work(held))
    free = make.batch(make.study(held.study.benchmark), make.task(held.study.benchmark))
    move = "UPDATE OR REPLACE" if connection.vendor == "sqlite" else "UPDATE"
    # The free rows, moved to where the held ones are.
    item = Item.objects.filter(item_set=held.test_set).first()
    other = Item.objects.filter(item_set=free.test_set).first()
    assert item
    assert other
    moves = [
        f"{move} annotation_task SET slug = '{held.task.slug}' WHERE id = {free.task_id}",
        f"{move} annotation_batch SET join_token = '{held.join_token}' WHERE id = {free.pk}",
        f"{move} annotation_item SET id = {item.pk} WHERE id = {other.pk}",
        f"{move} annotation_example SET task_id = {held.task_id}, "
        f"identity = '{item.example.identity}' WHERE id = {other.example_id}",
        f"{move} annotation_itemset SET task_id = {held.task_id} WHERE id = {free.test_set_id}",
    ]
    assert _went_through(moves) == []


@pytest.mark.django_db(transaction=True)
def test_refuses_additions_to_what_was_shown() -> None:
    batch = make.running_batch()
    example = batch.test_set.examples.first()
    newcomer = make.example(make.task(), "newcomer")
    assert example
    additions = [
        "INSERT INTO annotation_item (item_set_id, example_id, position, source_id) "
        f"VALUES ({batch.test_set_id}, {newcomer.pk}, 99, 'new')",
        "INSERT INTO annotation_gold (example_id, version_id, alternatives, explanation) "
        f"VALUES ({newcomer.pk}, {batch.gold_version_id}, '[]', '')",
        "INSERT INTO annotation_goldversion (task_id, number, reason, created_at) "
        f"VALUES ({batch.task_id}, 0, 'earlier', '2026-01-01')",
        "INSERT INTO annotation_batch (study_id, task_id, test_set_id, wanted, join_token, "
        f"description) VALUES ({batch.study_id}, {batch.task_id}, {batch.test_set_id}, 1, 'x', '')",
    ]
    assert _went_through(additions) == []


@pytest.mark.parametrize("table", KEYS)
def test_knows_every_key_by_which_a_row_could_be_pushed_out(table: str) -> None:
    model = next(model for model in MODELS if model._meta.db_table == table)
    columns = {field.name: field.column for field in model._meta.concrete_fields}
    keys = [
        [columns[name] for name in constraint.fields]
        for constraint in model._meta.constraints
        if isinstance(constraint, models.UniqueConstraint)
    ]
    keys += [[f.column] for f in model._meta.concrete_fields if f.unique and not f.primary_key]
    known = [*KEYS[table], *(key for key, _ in PARTIAL_KEYS.get(table, ()))]
    assert sorted(map(sorted, known)) == sorted(map(sorted, keys))


def test_leaves_drafts_and_corrections_alone() -> None:
    batch = make.running_batch()
    example = batch.test_set.examples.first()
    assert example
    other = [label for label in make.LABELS if [label] != make.gold_texts("choice", "test 0")]
    correct_gold(batch.task, {example.pk: [other]}, author=None, reason="A slip.")
    with transaction.atomic():
        added = make.item_set(batch.task, [example], name="another", role=Role.TEST)
        Item.objects.filter(item_set=added).delete()
        added.delete()
    batch.wanted = 5
    batch.save()
    draft = make.batch(make.study(batch.study.benchmark), batch.task)
    draft.study.delete()
    assert not Study.objects.filter(pk=draft.study_id).exists()


def test_assignments_without_judgements_can_go() -> None:
    batch = make.running_batch()
    assignment = make.joined(batch)
    assignment.batch.places.update(holder=None, lease_until=None)
    assignment.delete()
    assert not Assignment.objects.exists()


def test_notices_and_restores_locks_that_a_migration_dropped() -> None:
    drop_locks(connection, held_triggers(connection.vendor))
    names = {error.id for error in judgements_are_final(databases=["default"])}
    assert names == {"annotation.W002"}
    call_command("migrate", verbosity=0)
    assert missing_locks(connection) == []


def test_warns_of_no_trigger_that_the_migration_is_about_to_make(
    capsys: pytest.CaptureFixture[str],
) -> None:
    drop_locks(connection)
    call_command("check", databases=["default"])
    assert "is missing" in capsys.readouterr().err
    call_command("migrate", skip_checks=False)
    assert "is missing" not in capsys.readouterr().err
    assert missing_locks(connection) == []


@pytest.mark.django_db(transaction=True)
def test_lets_migrations_remake_the_tables() -> None:
    """SQLite refuses to remake a table that a trigger elsewhere names."""
    config = apps.get_app_config("annotation")
    narrow = ItemSet._meta.get_field("source_file")
    wide = copy(narrow)
    wide.max_length += 1
    lift_locks(config, "default", plan=["a migration"])
    with connection.schema_editor() as editor:
        for change in ((narrow, wide), (wide, narrow)):
            editor.alter_field(ItemSet, *change)
    restore_locks(config, "default")
    assert missing_locks(connection) == []
    assert set(LOCKED_TABLES) <= {model._meta.db_table for model in MODELS}

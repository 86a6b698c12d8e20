"""The database itself refuses to change or delete a judgement."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from annotation.models import Judgement
from annotation.models.locks import (
    drop_locks,
    final_triggers,
    judgements_are_final,
    missing_locks,
    restore_locks,
)
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def _sql(statement: str, *parameters: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)


def _save(judgement: Judgement) -> None:
    judgement.answer = ["changed"]
    judgement.save()


CHANGES: dict[str, Callable[[Judgement], object]] = {
    "save": _save,
    "delete": lambda j: j.delete(),
    "queryset update": lambda j: Judgement.objects.filter(pk=j.pk).update(answer=["changed"]),
    "queryset delete": lambda j: Judgement.objects.filter(pk=j.pk).delete(),
    "bulk update": lambda j: Judgement.objects.bulk_update([j], ["answer"]),
    "raw update": lambda j: _sql("UPDATE annotation_judgement SET step = 99 WHERE id = %s", j.pk),
    "raw delete": lambda j: _sql("DELETE FROM annotation_judgement WHERE id = %s", j.pk),
    "upsert": lambda j: Judgement.objects.bulk_create(
        [j], update_conflicts=True, unique_fields=["id"], update_fields=["answer"]
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_refuses(change: str) -> None:
    assignment = make.at_work(make.running_batch())
    make.answer(assignment)
    before = Judgement.objects.values().get()
    with pytest.raises(IntegrityError, match="final"), transaction.atomic():
        CHANGES[change](Judgement.objects.get())
    assert Judgement.objects.values().get() == before


COLUMNS = ", ".join(field.column for field in Judgement._meta.fields)
OWN_STATEMENTS = {
    "sqlite": f"INSERT OR REPLACE INTO annotation_judgement ({COLUMNS}) "
    f"SELECT {COLUMNS} FROM annotation_judgement",
    "postgresql": "TRUNCATE annotation_judgement CASCADE",
}


@pytest.mark.django_db(transaction=True)
def test_refuses_the_statement_that_this_database_alone_has() -> None:
    make.answer(make.at_work(make.running_batch()))
    with pytest.raises(IntegrityError, match="final"), transaction.atomic():
        _sql(OWN_STATEMENTS[connection.vendor])
    assert Judgement.objects.count() == 1


def test_notices_and_restores_triggers_that_a_migration_dropped() -> None:
    drop_locks(connection, final_triggers(connection.vendor))
    assert {error.id for error in judgements_are_final(databases=["default"])} == {
        "annotation.W001"
    }
    restore_locks(sender=None, using="default")
    assert missing_locks(connection) == []


def test_has_its_triggers_after_a_plain_migrate() -> None:
    call_command("migrate", verbosity=0)
    assert missing_locks(connection) == []

"""What a connection promises, and that the tests' own flush leaves it so."""

import pytest
from django.db import IntegrityError, connection

from annotation.models import Judgement
from tests import make


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("journal_mode", "wal"),
        ("synchronous", 2),  # FULL
        ("busy_timeout", 20_000),
        ("recursive_triggers", 1),
        ("foreign_keys", 1),
    ],
)
def test_opens_sqlite_so_that_it_keeps_what_was_acknowledged(name: str, value: object) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("these are SQLite's settings")
    with connection.cursor() as cursor:
        assert cursor.execute(f"PRAGMA {name}").fetchone() == (value,)


@pytest.mark.django_db(transaction=True)
@pytest.mark.both_databases
@pytest.mark.parametrize("turn", ["before a flush", "after a flush"])
def test_refuses_to_lose_a_judgement(turn: str) -> None:
    assert Judgement.objects.count() == 0
    make.answer(make.at_work(make.running_batch()))
    with pytest.raises(IntegrityError):
        Judgement.objects.all().delete()
    assert Judgement.objects.count() == 1

"""What a connection guarantees, and that the tests' own flush keeps it."""

from pathlib import Path

import pytest
from django.db import IntegrityError
from django.db.utils import ConnectionHandler

from annotation.models import Judgement
from config import env
from tests import make


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("journal_mode", "wal"),
        ("synchronous", 2),  # FULL
        ("busy_timeout", 20_000),
        ("recursive_triggers", 1),
        ("secure_delete", 1),
        ("foreign_keys", 1),
    ],
)
def test_opens_sqlite_so_that_it_keeps_what_was_acknowledged(
    name: str, value: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "sqlite:///new.sqlite3")
    sqlite = env.database("DATABASE_URL", "", root=tmp_path)
    connection = ConnectionHandler({"default": sqlite})["default"]
    with connection.cursor() as cursor:
        assert cursor.execute(f"PRAGMA {name}").fetchone() == (value,)
    connection.close()


@pytest.mark.django_db(transaction=True)
@pytest.mark.both_databases
@pytest.mark.parametrize("turn", ["before a flush", "after a flush"])
def test_refuses_to_lose_a_judgement(turn: str) -> None:
    assert Judgement.objects.count() == 0
    make.answer(make.at_work(make.running_batch()))
    with pytest.raises(IntegrityError):
        Judgement.objects.all().delete()
    assert Judgement.objects.count() == 1

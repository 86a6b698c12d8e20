"""A command on a database that is not there, or not migrated, says so in one sentence."""

import sys

import pytest

from config import migrations
from manage import main
from tests.config.databases import NewDatabase, at_work_on


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("url", "sentence"),
    [("", migrations.EARLIER), ("postgresql://127.0.0.1:1/nobody", migrations.AWAY)],
    ids=["empty", "away"],
)
def test_says_what_is_wrong_with_the_database(
    new_database: NewDatabase, monkeypatch: pytest.MonkeyPatch, url: str, sentence: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["manage.py", "pause_study", "any"])
    with at_work_on(url or new_database()), pytest.raises(SystemExit) as refused:
        main()
    said = str(refused.value)
    assert said.startswith(sentence)
    assert "\n" not in said

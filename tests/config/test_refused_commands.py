"""A command on a database that is not there, or not migrated, says so in one sentence."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from config import migrations
from tests.config.environment import untouched


@pytest.mark.parametrize(
    ("url", "sentence"),
    [("", migrations.EARLIER), ("postgresql://127.0.0.1:1/nobody", migrations.AWAY)],
    ids=["empty", "away"],
)
def test_says_what_is_wrong_with_the_database(tmp_path: Path, url: str, sentence: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "pause_study", "any"],
        cwd=settings.BASE_DIR,
        env=untouched(DATA_DIR=str(tmp_path), DATABASE_URL=url),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith(sentence)

"""A database at the end of the former chain of migrations is gone on with as it is."""

import json
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from config.migrations import END_OF_FORMER_CHAIN, LAST_OF_FORMER_CHAIN, Key
from tests.config.databases import NewDatabase, execute
from tests.config.environment import untouched
from tests.config.schemas import schema_of

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

# The last migrations that stand for former ones.
FIRST = ["annotation", "0002_ready_made"], ["scoring", "0002_researchers"]
# SQLite drops no column that a constraint names, but a table is what its statement says.
WITHOUT_EXPECTED_SECONDS = {
    "postgresql": ["ALTER TABLE annotation_study DROP COLUMN expected_seconds"],
    "sqlite": [
        "PRAGMA writable_schema = ON",
        """UPDATE sqlite_master SET sql = replace(replace(sql,
        ' "expected_seconds" real NULL,', ''),
        ' CONSTRAINT "study_expected_seconds_positive" CHECK (("expected_seconds" IS NULL OR '
        || '"expected_seconds" > 0.0)),', '') WHERE name = 'annotation_study'""",
    ],
}
FORMER_SCHEMA = Path(__file__).with_name("former_schema.json")


def migrate(url: str, data: Path, *target: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "migrate", *target],
        cwd=settings.BASE_DIR,
        env=untouched(DATA_DIR=str(data), DATABASE_URL=url),
        capture_output=True,
        text=True,
        check=False,
    )


def former_names() -> list[Key]:
    chains = MigrationLoader(None).replacements.values()
    return sorted(key for chain in chains for key in chain.replaces)


def as_by_the_former_chain(names: Iterable[Key]) -> list[str]:
    """Statements after which a database tells that these migrations made it."""
    forget = "DELETE FROM django_migrations WHERE app IN ('annotation', 'scoring')"
    remember = "INSERT INTO django_migrations (app, name, applied) VALUES {}"
    return [forget, *(remember.format((*key, "2026-01-01")) for key in names)]


def made_by_two_at_once(url: str, data: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: migrate(url, data, *FIRST[1]), range(2)))
    assert [process.returncode for process in done] == [0, 0], done
    applied = [process.stdout.count("Applying annotation.0001") for process in done]
    assert sorted(applied) == [0, 1], "the second has waited, and found everything done"


def test_makes_the_tables_of_the_former_chain_once_and_goes_on_with_those_of_the_first_release(
    tmp_path: Path, new_database: NewDatabase
) -> None:
    url = new_database()
    made_by_two_at_once(url, tmp_path)
    assert schema_of(url) == json.loads(FORMER_SCHEMA.read_text())[connection.vendor]
    former = former_names()
    assert {app for app, _name in former} == {"annotation", "scoring"}
    # The first release lacks the end of that chain.
    execute(url, as_by_the_former_chain(key for key in former if key != END_OF_FORMER_CHAIN))
    execute(url, WITHOUT_EXPECTED_SECONDS[connection.vendor])
    assert "expected_seconds" not in "\n".join(schema_of(url))
    done = migrate(url, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "study_expected_seconds_positive" in "\n".join(schema_of(url))


def test_refuses_a_database_before_the_end_of_the_former_chain() -> None:
    with connection.cursor() as cursor:
        for statement in as_by_the_former_chain(former_names()[:-1]):
            cursor.execute(statement)
    with pytest.raises(CommandError, match=LAST_OF_FORMER_CHAIN) as refused:
        call_command("migrate")
    assert "\n" not in str(refused.value)


def test_rewording_a_field_needs_no_migration(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=1)
    assert "No changes" in capsys.readouterr().out

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from annotation.simulation.demonstration import FINISHED_SLUG, SLUG
from tests.config.databases import NewDatabase, new_databases
from tests.config.environment import untouched
from tests.migrated_once import begin_with_copy

# Small studies under the names of the demonstration, which takes half a minute to fill.
SMALL = f"""
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from annotation.studies.lifecycle import pause_study
from tests import make
for slug in ("{SLUG}", "{FINISHED_SLUG}"):
    pause_study(make.running_batch(slug=slug).study)
"""


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For all that start `make run`, which finds its demonstration there."""
    folder = tmp_path_factory.mktemp("data")
    begin_with_copy(folder / "baseliner.sqlite3")
    environment = untouched(DATA_DIR=str(folder), DJANGO_SETTINGS_MODULE="config.settings")
    made = [sys.executable, "-c", SMALL]
    subprocess.run(made, cwd=settings.BASE_DIR, env=environment, check=True)
    return folder


@pytest.fixture
def new_database(tmp_path: Path) -> Iterator[NewDatabase]:
    with new_databases(tmp_path) as make:
        yield make

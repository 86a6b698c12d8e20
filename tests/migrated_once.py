"""A pytest plugin for hundreds of short runs: the first migrates an SQLite database, the others
start with a copy of it."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db.backends.base.creation import BaseDatabaseCreation

MIGRATED = Path("var/migrated.sqlite3").absolute()

migrate = BaseDatabaseCreation.create_test_db


def create_test_db(creation: Any, *args: Any, **options: Any) -> str:
    if not MIGRATED.exists():
        name = migrate(creation, *args, **options)
        _keep(creation.connection.connection)
        return name
    connection = creation.connection
    name = creation._get_test_db_name()
    connection.close()
    with closing(sqlite3.connect(MIGRATED)) as migrated, closing(sqlite3.connect(name)) as copy:
        migrated.backup(copy)
    settings.DATABASES[connection.alias]["NAME"] = connection.settings_dict["NAME"] = name
    connection.ensure_connection()
    return name


def _keep(migrated: sqlite3.Connection) -> None:
    MIGRATED.parent.mkdir(exist_ok=True)
    part = MIGRATED.with_suffix(f".{os.getpid()}")
    with closing(sqlite3.connect(part)) as copy:
        migrated.backup(copy)
    part.replace(MIGRATED)


def pytest_configure(config: pytest.Config) -> None:
    creation: Any = BaseDatabaseCreation
    creation.create_test_db = create_test_db

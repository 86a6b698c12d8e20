"""A pytest plugin: the first run migrates an SQLite database, the others start with a copy of it,
until a migration or a model changes."""

import os
import sqlite3
from contextlib import closing
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import django
import pytest
from django.apps import apps
from django.conf import settings
from django.db.backends.base.creation import BaseDatabaseCreation

from annotation.access.identity import remember_key
from annotation.models import IdentityKey

FOLDER = Path("var").absolute()
NAME = "migrated-{}.sqlite3"
# Of an app: what decides what a new database holds.
DECIDING = ("apps.py", "migrations/*.py", "models.py", "models/*.py")

migrate = BaseDatabaseCreation.create_test_db


def create_test_db(creation: Any, *args: Any, **options: Any) -> str:
    connection = creation.connection
    if connection.vendor != "sqlite":
        return migrate(creation, *args, **options)
    if not _migrated().exists():
        name = migrate(creation, *args, **options)
        _keep(connection.connection)
        return name
    name = creation._get_test_db_name()
    connection.close()
    _copy_to(name)
    settings.DATABASES[connection.alias]["NAME"] = connection.settings_dict["NAME"] = name
    connection.ensure_connection()
    # The copy has that of the process that migrated it.
    IdentityKey.objects.all().delete()
    remember_key()
    return name


def begin_with_copy(file: Path) -> None:
    """For what runs in processes of its own: `migrate` has little left to do there. Where no copy
    is kept, it has to do all."""
    if _migrated().exists():
        _copy_to(file)
        with closing(sqlite3.connect(file)) as copy, copy:
            copy.execute("DELETE FROM annotation_identitykey")  # of this process


def _copy_to(file: str | Path) -> None:
    with closing(sqlite3.connect(_migrated())) as kept, closing(sqlite3.connect(file)) as copy:
        kept.backup(copy)


@cache
def _migrated() -> Path:
    digest = sha256(django.__version__.encode())
    for app in apps.get_app_configs():
        for pattern in DECIDING:
            for file in sorted(Path(app.path).glob(pattern)):
                digest.update(file.name.encode() + file.read_bytes())
    return FOLDER / NAME.format(digest.hexdigest()[:16])


def _keep(migrated: sqlite3.Connection) -> None:
    FOLDER.mkdir(exist_ok=True)
    outdated = set(FOLDER.glob(NAME.format("*"))) - {_migrated()}
    part = FOLDER / f"migrating-{os.getpid()}"
    with closing(sqlite3.connect(part)) as copy:
        migrated.backup(copy)
    part.replace(_migrated())
    for file in outdated:
        file.unlink(missing_ok=True)


def pytest_configure(config: pytest.Config) -> None:
    creation: Any = BaseDatabaseCreation
    creation.create_test_db = create_test_db
